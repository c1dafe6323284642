"""What a node answers to one example: maps, a sequence, or one bar a unit."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QWidget

from app.charts.arrays.activations import Activations as Maps
from app.charts.arrays.activations import activation_caption
from app.charts.colourmaps import GREY, VIRIDIS
from app.charts.plot import number
from app.look.arrays import rows_of
from app.look.base import OneProbe, Subject, Table
from app.look.controls import stacked
from app.look.predictions.example import best_shown, class_words
from app.look.registry import view_kind
from app.workspace.classes import classes_of
from engine.feed.feed import Snapshot


def answers(subject: Subject) -> bool:
    """Whether something leaves the node for each example."""
    return subject.kind in ("layer", "data", "input")


@view_kind(
    "activations",
    "Activations",
    "The output of the node for the example: feature maps from dark blue (low) to yellow (high), or bars.",
    "Images",
    answers,
    rank=3,
)
class Activations(OneProbe):
    """Tiles for maps, one map for a sequence, else bars."""

    takes = "activations"

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._as_images = subject.kind == "data"
        self._array: np.ndarray | None = None
        self.view = Maps(table=GREY if self._as_images else VIRIDIS)
        self.view.setObjectName("viewsActivations")
        stacked(self, self.view)

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        array = best_shown(snapshot) if self._as_images else np.asarray(snapshot.array)
        self._array = array
        self.view.show_array(array)
        words = [activation_caption(snapshot)]
        if array.ndim == 3:
            low, high = self.view.tiles.scale
            words.append(f"{number(low)} to {number(high)}")
        if self._as_images:
            words.insert(0, class_words(snapshot, classes_of(self.subject.workspace, self.subject.node_id)))
        self.set_note(" · ".join(word for word in words if word))

    def table(self) -> Table | None:
        return None if self._array is None else rows_of(self._array, "activation")
