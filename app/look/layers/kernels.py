"""A layer's weights as colours about zero."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QWidget

from app.charts.arrays.filters import Filters as Tiles
from app.charts.arrays.filters import caption
from app.charts.plot import number
from app.look.arrays import rows_of
from app.look.base import OneProbe, Subject, Table
from app.look.controls import stacked
from app.look.registry import view_kind
from engine.feed.feed import Snapshot


def learns(subject: Subject) -> bool:
    """Whether the node owns weights."""
    return subject.has_weights


@view_kind(
    "filters",
    "Weights",
    "The kernels of a convolution, or a matrix: blue is negative, white zero, red positive.",
    "Weights",
    learns,
    rank=4,
)
class Filters(OneProbe):
    """Kernels as tiles, a matrix as one map."""

    takes = "filters"

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._array: np.ndarray | None = None
        self._matrix = False
        self.view = Tiles()
        self.view.setObjectName("viewsFilters")
        stacked(self, self.view)

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        self._array = np.asarray(snapshot.array)
        self._matrix = snapshot.extra.get("kind") == "matrix"
        self.view.show_snapshot(snapshot)
        low, high = self.view.scale
        self.set_note(f"{caption(snapshot)} · {number(low)} (blue) to {number(high)} (red)")

    def table(self) -> Table | None:
        if self._array is None:
            return None
        return rows_of(self._array, "weight", ("output", "input") if self._matrix else ())
