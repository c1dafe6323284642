"""What an augmentation does to the user's own images, beside the images as they are."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.charts.arrays.cells import HEAD, Sheet, Sheets
from app.charts.scale import WIDTH
from app.look.arrays import rows_of
from app.look.base import OneProbe, Subject, Table
from app.look.controls import button, stacked
from app.look.registry import view_kind
from engine.feed.feed import Probe, Snapshot
from engine.look.pixels import arriving_shape

LEAST_WIDE, LEAST_NAMED = 36, 96  # pixels of an image, alone and where its classes stand above it


def augments_images(subject: Subject) -> bool:
    """Whether the node changes images at random while training."""
    node_type, (_, book) = subject.type, subject.as_trained
    shape = arriving_shape(book, subject.node_id) if book is not None else None
    return node_type is not None and "augmented" in node_type.shows and shape is not None and len(shape) == 3


@view_kind(
    "augmented",
    "Augmentation",
    "Training images at the left, and random augmentations of each, with the current settings.",
    "Images",
    augments_images,
    rank=0,
)
class Augmented(OneProbe):
    """A row an image: the original first."""

    card_size = (520, 320)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._draw = 0
        self.again = button("augmentedAgain", "Draw again", "Draw other random numbers")
        self.again.clicked.connect(self._again)
        self.sheets = Sheets()
        self.sheets.setObjectName("augmentedSheets")
        stacked(self, self.sheets)

    @property
    def _probe(self) -> Probe:
        return Probe(self.subject.node_id, "augmented", (self._draw,))

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        self._show()

    def controls(self) -> QWidget | None:
        return self.in_row(self.again)

    def _show(self) -> None:
        if self._found is None:
            return
        found, facts = self._found.array, self._found.extra
        names = _targets(facts)
        wide, high = (LEAST_NAMED, 64 + HEAD) if names else (LEAST_WIDE, LEAST_WIDE)
        columns = int(min(found.shape[1], max(2, (self.width() - WIDTH) // wide)))
        rows = int(min(len(found), max(1, self.height() // high)))
        sheets = []
        for row in range(rows):
            titles = [f"example {facts['rows'][row] + 1}", *names[row]] if names else [""] * columns
            sheets += [Sheet(titles[at], found[row, at], signed=False) for at in range(columns)]
        self.sheets.show_sheets(sheets, columns=columns)
        sizes = facts.get("sizes")
        told = "left: training images as they arrive"
        if sizes is not None:
            told += f" · {'×'.join(map(str, sizes[1]))} of {'×'.join(map(str, sizes[0]))} pixels"
        self.set_note(told)

    def _again(self) -> None:
        self._draw += 1
        self.needs_changed.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show()

    def table(self) -> Table | None:
        return None if self._found is None else rows_of(self._found.array)

    def state(self) -> dict[str, object]:
        return {"draw": self._draw}

    def restore(self, state: Mapping[str, object]) -> None:
        kept = state.get("draw")
        if isinstance(kept, int) and kept >= 0:
            self._draw = kept
            self.needs_changed.emit()


def _targets(facts: Mapping[str, object]) -> list[list[str]]:
    """For what is mixed: its two classes and how much of each, such as "3 70 % · 5 30 %"."""
    mixed = facts.get("mixed")
    if not isinstance(mixed, np.ndarray):
        return []
    return [[_fractions(one) for one in row] for row in mixed]


def _fractions(fractions: NDArray[np.floating]) -> str:
    order = np.argsort(-fractions)[:2]
    return " · ".join(
        f"{index} {100 * fractions[index]:.0f} %" for index in order if fractions[index] >= 0.005
    )
