"""A graph with its nodes in the colours of what is predicted for them; several where each has a class."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QWidget

from app.charts.arrays.class_maps import ClassLegend
from app.charts.arrays.clouds import Clouds
from app.look.base import OneProbe, Subject, Table
from app.look.controls import stacked
from app.look.registry import view_kind
from engine.catalogue import Data
from engine.catalogue.traits import FileForm
from engine.feed.feed import Probe, Snapshot
from engine.shapes.heads import UNCOUNTED, VALUES, heads


def classifies_graphs(subject: Subject) -> bool:
    """Whether the node gives classes to nodes of a graph, or to graphs."""
    project, book = subject.as_trained
    if book is None:
        return False
    known = [type for type in book.types.values() if isinstance(type, Data)]
    names = {column.name for type in known for column in type.columns()}
    drawn = "adjacency" in names or {"edges", "sizes"} <= names
    if not drawn and not any(getattr(type, "reads", None) is FileForm.GRAPH for type in known):
        return False
    found = [one for one in heads(project, book) if one.kind != VALUES]
    return any(subject.node_id in (one.node_id, one.prediction[0]) for one in found)


@view_kind(
    "graphs",
    "Graph by prediction",
    "Nodes in the colour of the class that is predicted for them or their graph; wrong: a ring, or a ✗.",
    "Answers",
    classifies_graphs,
    rank=1,
    leads=40,
)
class Graphs(OneProbe):
    """Nodes and edges in the colours of classes, with how many are right."""

    card_size = (460, 300)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.graphs = Clouds()
        self.graphs.setObjectName("graphsShown")
        self.legend = ClassLegend()
        stacked(self, self.graphs, self.legend)

    @property
    def _probe(self) -> Probe:
        return Probe(self.subject.node_id, "graphs")

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        facts, names = snapshot.extra, snapshot.extra["names"]
        cuts = np.cumsum(facts["sizes"])[:-1]
        predicted = np.split(snapshot.array, cuts)
        right = np.split(facts["right"], cuts)
        starts = [0, *cuts.tolist()]
        edges = np.split(facts["edges"], np.cumsum(facts["joined"])[:-1])
        captions = [""] * len(predicted)
        by_graph = facts["each"] == "graph"
        if by_graph:
            pairs = (
                (names[int(one[0])], names[int(true[0])]) for one, true in zip(predicted, right, strict=True)
            )
            captions = [f"{'✓' if one == true else '✗'} {true}" for one, true in pairs]
        self.graphs.show_clouds(
            np.split(facts["places"], cuts),
            captions,
            [one - start for one, start in zip(edges, starts, strict=True)],
            list(predicted),
            None if by_graph else [(predicted[0] != right[0]) & (right[0] != UNCOUNTED)],
        )
        self.legend.show_classes(names)
        what = "graphs" if by_graph else "nodes"
        above = " · above each its class" if by_graph else ""
        told = " ".join(filter(None, (f"{facts['looked_at']:,}", facts["split"], what)))
        self.set_note(f"{facts['hits']:,} of {told} are right{above}")

    def table(self) -> Table | None:
        if self._found is None:
            return None
        facts, names = self._found.extra, self._found.extra["names"]
        if facts["each"] == "graph":
            first = np.cumsum([0, *facts["sizes"][:-1]])
            pairs = zip(facts["rows"], facts["right"][first], self._found.array[first], strict=True)
            rows = [(row + 1, names[int(true)], names[int(one)]) for row, true, one in pairs]
            return ("example", "right", "predicted"), rows
        pairs = zip(range(len(self._found.array)), facts["right"], self._found.array, strict=True)
        rows = [(at + 1, names[int(true)] if true >= 0 else "", names[int(one)]) for at, true, one in pairs]
        return ("node", "right", "predicted"), rows
