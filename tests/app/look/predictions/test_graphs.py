"""Nodes of graphs in the colours of what is predicted."""

from __future__ import annotations

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from app.charts.class_marks import class_colour
from app.look.base import Subject
from app.look.predictions.graphs import Graphs, classifies_graphs
from app.theme import current_theme
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe
from tests.app.look.showing import painted, shown, snapshot
from tests.engine.sketches import gallery

PREDICTED = np.array([0, 0, 1, 1, 1], np.int16)
FACTS = {
    "places": np.array([[0, 0], [1, 0], [0, 1], [1, 1], [0.5, 2]], np.float32),
    "sizes": np.array([2, 3]),
    "edges": np.array([[0, 1], [2, 3], [3, 4]], np.int32),
    "joined": np.array([1, 2]),
    "names": ("even", "odd"),
    "split": "validation",
    "hits": 1,
    "looked_at": 2,
}


@pytest.fixture
def view(shaped: Workspace, qtbot: QtBot) -> Graphs:
    made = Graphs(Subject(shaped, "n2"))
    qtbot.addWidget(made)
    return made


def show(view: Graphs, right: list[int], each: str) -> None:
    whole = {"sizes": np.array([5]), "joined": np.array([3])} if each == "node" else {}
    facts = {**FACTS, **whole, "right": np.array(right, np.int16), "each": each, "rows": (0, 7)}
    shown(view, {Probe("n2", "graphs"): snapshot(PREDICTED, **facts)})


def test_each_graph_says_its_class_and_a_wrong_one_both(view: Graphs) -> None:
    show(view, [0, 0, 0, 0, 0], "graph")
    assert view.graphs.captions == ["✓ even", "✗ even"]
    assert view.note == "1 of 2 validation graphs are right · above each its class"
    assert [cloud.shape for cloud in view.graphs.shown] == [(2, 2), (3, 2)]
    assert view.table() == (("example", "right", "predicted"), [(1, "even", "even"), (8, "even", "odd")])


def test_nodes_have_the_colour_of_their_class_and_a_ring_where_it_is_wrong(view: Graphs) -> None:
    def seen(right: list[int]) -> set[tuple[int, ...]]:
        show(view, right, "node")
        assert len(view.graphs.shown) == 1
        return {tuple(pixel) for pixel in painted(view.graphs).reshape(-1, 3).tolist()}

    theme = current_theme()
    first, second = (class_colour(theme, index).getRgb()[:3] for index in (0, 1))
    bad = theme.bad.getRgb()[:3]
    fine = seen([0, 0, 1, 1, 1])
    assert {first, second} <= fine and bad not in fine
    assert bad in seen([1, 1, 0, 0, 0])
    assert bad not in seen([0, 0, 1, -100, 1]), "nobody knows what is right there"


@pytest.mark.parametrize(("name", "node"), [("karate-club", "club"), ("graph-classes", "kind")])
def test_it_is_proposed_for_graphs_alone(shaped: Workspace, name: str, node: str) -> None:
    shaped.document.replace(gallery(name), None)
    nodes = shaped.document.project.graph.nodes
    [answer] = [one for one in nodes if nodes[one].name == node]
    assert classifies_graphs(Subject(shaped, answer))
    shaped.document.replace(gallery("iris"), None)
    assert not any(classifies_graphs(Subject(shaped, one)) for one in shaped.document.project.graph.nodes)
