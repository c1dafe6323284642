"""What a node answers to one example: tiles for maps, one plot for a sequence, bars for a vector."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QSizePolicy, QStackedLayout, QWidget

from app.charts.arrays.tiles import Tiles
from app.charts.colourmaps import VIRIDIS, Table
from app.charts.columns import Columns
from engine.feed.feed import Snapshot

WHAT = "activations"


class Activations(QWidget):
    """Chooses by the array's shape: tiles for `(C, H, W)`, one map for `(T, F)`, else bars."""

    def __init__(self, parent: QWidget | None = None, *, table: Table = VIRIDIS) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.tiles = Tiles(table=table)
        self.columns = Columns()
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self.tiles)
        self._stack.addWidget(self.columns)

    def say(self, message: str) -> None:
        """Show a sentence instead."""
        self._stack.setCurrentWidget(self.tiles)
        self.tiles.say(message)

    @property
    def message(self) -> str:
        """The sentence that is shown instead of a plot."""
        return self.tiles.message if self._stack.currentWidget() is self.tiles else ""

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Show a snapshot of an "activations" probe."""
        self.show_array(np.asarray(snapshot.array))

    def set_table(self, table: Table) -> None:
        """Colour maps by another table."""
        self.tiles.set_table(table)

    def show_array(self, array: NDArray[np.floating]) -> None:
        """Show the answer to one example, `(C, H, W)`, `(T, F)` or `(D,)`."""
        in_a_row = array.ndim == 2 and array.shape[1] == 1  # one number a step
        if array.ndim <= 1 or in_a_row or (array.ndim == 3 and array.shape[1:] == (1, 1)):
            self._stack.setCurrentWidget(self.columns)
            self.columns.show_values(array.reshape(-1))
        else:
            self._stack.setCurrentWidget(self.tiles)
            self.tiles.show_maps(array.T if array.ndim == 2 else array)


def activation_caption(snapshot: Snapshot) -> str:
    """What an "activations" snapshot shows: `32 maps of 26 × 26`, `10 units`, cut ones with the whole."""
    shape = tuple(snapshot.extra.get("shape", snapshot.array.shape))
    if len(shape) == 3:
        shown = len(snapshot.array)
        count = f"{shown} of {shape[0]}" if shown < shape[0] else str(shape[0])
        return f"{count} map{'s' if shape[0] != 1 else ''} of {shape[1]} × {shape[2]}"
    if len(shape) == 2:
        rows = snapshot.extra.get("rows", "steps")
        return f"{shape[0]} {rows} of {shape[1]} feature{'s' if shape[1] != 1 else ''}"
    if len(shape) <= 1:
        size = shape[0] if shape else 1
        shown = snapshot.array.size
        return f"{shown} of {size} units" if shown < size else f"{size} unit{'s' if size != 1 else ''}"
    return " × ".join(str(size) for size in shape)


def example_words(snapshot: Snapshot) -> str:
    """Which example was sent through: `validation example 1`."""
    index = snapshot.extra.get("example")
    return (
        f"{snapshot.extra.get('split', 'validation')} example {int(index) + 1}" if index is not None else ""
    )
