"""Which pixels a unit of a map can see."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtWidgets import QWidget

from app.charts.arrays.overlay import Overlay
from app.look.arrays import rows_of
from app.look.base import OneProbe, Subject, Table
from app.look.controls import stacked
from app.look.registry import view_kind
from engine.feed.feed import Probe, Snapshot
from engine.look.pixels import image_input

MIDDLE = -1


def sees_images(subject: Subject) -> bool:
    """Whether what leaves the layer is computed from an image or a signal."""
    project, book = subject.as_trained
    if book is None or subject.kind != "layer":
        return False
    return image_input(project, book, subject.node_id) is not None


@view_kind(
    "receptive-field",
    "Receptive field",
    "The pixels that one unit of the layer depends on, outlined, and how strongly it depends on each.",
    "Images",
    sees_images,
    rank=16,
)
class ReceptiveField(OneProbe):
    """The example with the field outlined; a click on it chooses the unit that stands there."""

    card_size = (420, 230)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._unit = (MIDDLE, MIDDLE)
        self.overlay = Overlay(signed=False)
        self.overlay.clicked.connect(self._pick)
        self.overlay.setToolTip("Click to choose the unit that stands there")
        stacked(self, self.overlay)

    @property
    def _probe(self) -> Probe:
        return Probe(self.subject.node_id, "receptive_field", (-1, *self._unit))

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        facts = snapshot.extra
        self.overlay.show_map(
            facts["image"], snapshot.array, ("input", "mean size of the gradient"), facts["seen"]
        )
        (high, wide), (down, across) = facts["size"], facts["stride"]
        _, row, column = facts["unit"]
        words = [f"sees {high} × {wide} pixels"]
        if (down, across) != (0, 0):
            words.append(f"stride {down}" if down == across else f"stride {down} × {across}")
            (rows, columns) = facts["map"]
            words.append(f"unit at row {row + 1} of {rows}, column {column + 1} of {columns}")
        self.set_note(" · ".join(words))

    def _pick(self, row: int, column: int) -> None:
        """The unit whose field is nearest to a pixel."""
        if self._found is None:
            return
        shape, size = self._found.array.shape, self._found.extra["map"]
        self._unit = (row * size[0] // shape[0], column * size[1] // shape[1])
        self.needs_changed.emit()

    def table(self) -> Table | None:
        return None if self._found is None else rows_of(self._found.array, "mean size of gradient")

    def state(self) -> dict[str, object]:
        return {"row": self._unit[0], "column": self._unit[1]}

    def restore(self, state: Mapping[str, object]) -> None:
        row, column = state.get("row"), state.get("column")
        if isinstance(row, int) and isinstance(column, int) and min(row, column) >= MIDDLE:
            self._unit = (row, column)
            self.needs_changed.emit()
