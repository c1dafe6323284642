"""Align, distribute, snap and make room on the canvas: one step each, or a sentence."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.canvas.editing import aligning as arranging
from app.canvas.view import GraphView
from app.workspace.workspace import Workspace
from engine.document.edits import Move


@pytest.fixture
def told(workspace: Workspace) -> list[str]:
    found: list[str] = []
    workspace.message.connect(lambda text, kind: found.append(text))
    return found


def places(workspace: Workspace) -> dict[str, tuple[float, float]]:
    return {key: node.position for key, node in workspace.graph.nodes.items()}


@pytest.fixture(autouse=True)
def three(build: Callable[..., None]) -> None:
    build([("n1", "Linear", 0, 0), ("n2", "Linear", 300, 35), ("n3", "Linear", 1000, 10)])


def test_align_is_one_step_of_the_selection(view: GraphView, workspace: Workspace) -> None:
    workspace.select(("n1", "n2"))
    arranging.align_selected(view, "top")
    assert places(workspace) == {"n1": (0, 0), "n2": (300, 0), "n3": (1000, 10)}
    assert workspace.document.undo_label == "Align top"
    arranging.align_selected(view, "top")
    workspace.undo()
    assert places(workspace)["n2"] == (300, 35)


def test_distribute_makes_gaps_equal(view: GraphView, workspace: Workspace) -> None:
    workspace.select(("n1", "n2", "n3"))
    arranging.distribute_selected(view, "horizontally")
    assert places(workspace) == {"n1": (0, 0), "n2": (500, 35), "n3": (1000, 10)}


def test_snap_takes_all_where_nothing_is_selected(view: GraphView, workspace: Workspace) -> None:
    arranging.snap_selected(view)
    assert places(workspace) == {"n1": (0, 0), "n2": (304, 32), "n3": (1000, 8)}


def test_room_is_made_for_the_selected_node(view: GraphView, workspace: Workspace) -> None:
    workspace.apply("Move", Move({"n2": (960, 10)}))
    workspace.select(("n2",))
    arranging.make_room_for_selected(view)
    assert places(workspace) == {"n1": (0, 0), "n2": (960, 10), "n3": (960 + 128 + 72, 10)}
    assert workspace.document.undo_label == "Make room"


def test_too_few_nodes_are_told_of(view: GraphView, workspace: Workspace, told: list[str]) -> None:
    workspace.select(("n1",))
    arranging.align_selected(view, "left")
    arranging.distribute_selected(view, "vertically")
    workspace.select(())
    arranging.make_room_for_selected(view)
    assert [sentence.split()[0] for sentence in told] == ["Select", "Select", "Select"]
    assert workspace.document.undo_label is None
