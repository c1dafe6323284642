"""How alike the layers of a network see the same examples."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QWidget

from app.charts.arrays.matrix import Matrix
from app.look.base import OneProbe, Subject, Table
from app.look.controls import stacked
from app.look.layers.layer_measures import name_in
from app.look.registry import view_kind
from engine.feed.feed import Probe, Snapshot

PROBE = Probe("", "likeness")


def has_layers(subject: Subject) -> bool:
    """Whether the network has layers at all."""
    graph, types = subject.workspace.document.project.graph, subject.workspace
    kinds = [types.type_of(node) for node in graph.nodes.values()]
    return sum(kind is not None and kind.kind == "layer" for kind in kinds) >= 2


@view_kind(
    "likeness",
    "Representation similarity",
    "The similarity of every two layers: 1 where they are equal up to rotation and scale (linear CKA).",
    "Model",
    has_layers,
    rank=60,
    whole=True,
)
class Likeness(OneProbe):
    """Layers in the order of the network; a click selects the layer of the row."""

    card_size = (320, 280)
    takes = PROBE

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._nodes: tuple[str, ...] = ()
        self.matrix = Matrix()
        self.matrix.clicked.connect(self._picked)
        stacked(self, self.matrix)

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        self._nodes = snapshot.extra["nodes"]
        self.matrix.show_matrix(
            snapshot.array, scale=(0.0, 1.0), names=[self._name(one) for one in self._nodes], tell=self._tell
        )
        self.set_note(f"linear CKA of {snapshot.extra['rows']:,} examples, 0 to 1")

    def table(self) -> Table | None:
        values = self.matrix.values
        if values is None:
            return None
        names = [self._name(one) for one in self._nodes]
        return ("layer", *names), [(name, *line) for name, line in zip(names, values.tolist(), strict=True)]

    def _name(self, node_id: str) -> str:
        return name_in(self.subject.workspace, node_id)

    def _tell(self, row: int, column: int) -> str:
        values = self.matrix.values
        assert values is not None
        value = float(values[row, column])
        words = "one of the two is constant" if np.isnan(value) else f"likeness {value:.3f}"
        return f"{self._name(self._nodes[row])} and {self._name(self._nodes[column])}\n{words}"

    def _picked(self, row: int, _column: int) -> None:
        self.node_asked.emit(self._nodes[row])
