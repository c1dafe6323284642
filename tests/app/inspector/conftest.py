"""A net with two losses, and the inspector on it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from app.inspector.inspector import InspectorPanel
from app.workspace.workspace import Workspace
from engine.document.edits import AddNodes
from engine.document.graph import Link, Node


@pytest.fixture
def net(shaped: Workspace) -> Workspace:
    """Iris (n1) through two layers (n2, n3) into two losses (n4, n5); a rate (n6) is measured."""
    nodes = (
        Node("n1", "Iris", "iris"),
        Node("n2", "Linear", "hidden", {"units": 8}),
        Node("n3", "Linear", "classes", {"units": 3}),
        Node("n4", "CrossEntropy", "cross-entropy"),
        Node("n5", "CrossEntropy", "side loss"),
        Node("n6", "Accuracy", "accuracy"),
    )
    links = (
        Link("n1", "features", "n2", "x"),
        Link("n2", "output", "n3", "x"),
        Link("n3", "output", "n4", "prediction"),
        Link("n2", "output", "n5", "prediction"),
        Link("n3", "output", "n6", "prediction"),
        *(Link("n1", "species", one, "target") for one in ("n4", "n5", "n6")),
    )
    assert shaped.apply("Add", AddNodes(nodes, links))
    return shaped


@pytest.fixture
def inspector(net: Workspace, qtbot: QtBot) -> Iterator[InspectorPanel]:
    made = InspectorPanel(net)
    qtbot.addWidget(made)
    made.resize(300, 900)
    made.show()
    yield made
