"""A workspace in a folder of its own, without and with the engine behind it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.workspace.engine_parts import EngineParts
from app.workspace.places import Places
from app.workspace.workspace import Workspace
from engine.document.edits import AddNodes
from engine.document.graph import Link, Node


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places.under(tmp_path / "home")


@pytest.fixture
def workspace(qapp: object, places: Places) -> Iterator[Workspace]:
    """An empty document whose engine never starts."""
    made = Workspace(places)
    yield made
    made.close()


@pytest.fixture
def shaped(workspace: Workspace) -> Workspace:
    """The same with shapes and problems, and nothing that trains."""
    from engine.emit.script import export_script
    from engine.shapes.shapes import ShapeBook
    from tests.app.fake_run import RestingTrainer

    workspace.adopt_engine(EngineParts(ShapeBook, lambda *_: RestingTrainer(), export_script))
    return workspace


def add_iris(workspace: Workspace) -> None:
    """Iris through one layer into cross-entropy: n1, n2, n3."""
    nodes = (
        Node("n1", "Iris", "iris", {}, (0, 0)),
        Node("n2", "Linear", "classes", {"units": 3}, (200, 0)),
        Node("n3", "CrossEntropy", "loss", {}, (400, 0)),
    )
    links = (
        Link("n1", "features", "n2", "x"),
        Link("n2", "output", "n3", "prediction"),
        Link("n1", "species", "n3", "target"),
    )
    assert workspace.apply("Add", AddNodes(nodes, links))
