"""A small dense net unit by unit."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.look.base import OneProbe, Subject, Table
from app.look.controls import stacked
from app.look.layers.layer_measures import name_in
from app.look.layers.neuron_net import NeuronNet, UnitColumn
from app.look.registry import view_kind
from app.look.shown import split_words
from app.workspace.classes import classes_of
from engine.feed.feed import Probe, Snapshot

PROBE = Probe("", "neurons")
DENSE = ("Linear", "Perceptron", "Oja", "LeastSquares", "DeltaRule")
MOST_UNITS = 32


def has_small_dense(subject: Subject) -> bool:
    """Whether the network has dense layers, all of them so small that their units can be drawn."""
    workspace = subject.workspace
    shapes, found = workspace.shapes, False
    if shapes is None:
        return False
    for node_id, node in workspace.document.project.graph.nodes.items():
        facts = shapes.facts(node_id)
        if facts is not None and any(found.rows for found in facts.outputs.values()):
            return False  # units of each node of a graph are no column
        if node.type not in DENSE or facts is None or not facts.outputs:
            continue
        arriving = shapes.input_signature(node_id, "x")
        ends = [next(iter(facts.outputs.values())).shape, *([arriving.shape] if arriving is not None else [])]
        if any(len(shape) != 1 or shape[0] > MOST_UNITS for shape in ends):
            return False
        found = True
    return found


@view_kind(
    "neurons",
    "Neuron diagram",
    "Every unit of a small dense net with its value for the example, and weights as lines, wide where large.",
    "Model",
    has_small_dense,
    rank=20,
    whole=True,
)
class Neurons(OneProbe):
    """Columns of units from the inputs to the outputs; a click selects the layer."""

    card_size = (380, 260)
    takes = PROBE

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.net = NeuronNet()
        self.net.clicked.connect(self.node_asked)
        stacked(self, self.net)

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        workspace, facts = self.subject.workspace, snapshot.extra
        last = len(facts["columns"]) - 1
        columns = []
        for index, column in enumerate(facts["columns"]):
            names: tuple[str, ...] = ()
            if index == last:
                names = self._classes(len(column["values"]))
            columns.append(
                UnitColumn(
                    name_in(workspace, column["node"]),
                    column["node"],
                    column["values"],
                    column["from"],
                    column["weights"],
                    column["biases"],
                    names,
                )
            )
        self.net.show_columns(columns)
        split = split_words(facts)
        self.set_note(
            f"{split} example {facts['example'] + 1:,} · red above zero, blue below · rings are biases"
        )

    def table(self) -> Table | None:
        rows: list[tuple[object, ...]] = []
        for column in self.net.columns:
            if column.weights is None:
                continue
            before = self.net.columns[column.before].title if column.before >= 0 else ""
            for unit, line in enumerate(column.weights.tolist()):
                bias = None if column.biases is None else float(column.biases[unit])
                rows += [(before, n + 1, column.title, unit + 1, weight) for n, weight in enumerate(line)]
                if bias is not None:
                    rows.append(("bias", "", column.title, unit + 1, bias))
        return (("from", "unit", "to", "unit", "weight"), rows) if rows else None

    def _classes(self, count: int) -> tuple[str, ...]:
        """The names of the classes, where as many as the last layer has units."""
        workspace = self.subject.workspace
        for node_id, node in workspace.document.project.graph.nodes.items():
            kind = workspace.type_of(node)
            if kind is not None and kind.kind == "data":
                for names in classes_of(workspace, node_id).values():
                    if len(names) == count:
                        return tuple(names)
        return ()
