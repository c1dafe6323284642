"""The singular values of a layer's weights, the largest first."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.pictures.base import LivePicture, Probes, Snapshots, Subject, Table
from app.pictures.registry import picture_kind
from app.views.columns import Columns
from app.views.picture import number
from engine.run.feed import Probe


def has_matrix(subject: Subject) -> bool:
    """Whether the node learns weights."""
    return subject.kind == "layer" and subject.has_weights


@picture_kind(
    "spectrum",
    "Singular values",
    "How strongly the layer stretches along each direction; few tall bars mean that few are used.",
    "Weights",
    has_matrix,
    rank=70,
)
class Spectrum(LivePicture):
    """One bar a singular value."""

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._probe = Probe(subject.node_id, "singular_values")
        self._columns = Columns()
        self._values: list[float] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._columns)

    def probes(self) -> Probes:
        return frozenset({self._probe})

    def draw(self, found: Snapshots) -> None:
        snapshot = found[self._probe]
        self._values = snapshot.array.tolist()
        self._columns.show_values(snapshot.array)
        facts = snapshot.extra
        self.set_note(f"largest {number(facts['largest'])} · effective rank {number(facts['rank'])}")

    def table(self) -> Table | None:
        if not self._values:
            return None
        return ("direction", "singular value"), [
            (index + 1, value) for index, value in enumerate(self._values)
        ]
