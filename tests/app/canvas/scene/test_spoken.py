"""The canvas in words."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleEvent

from app.canvas.view import GraphView
from app.workspace.workspace import Workspace
from engine.document import blocks
from engine.document.edits import Disconnect, Rename
from engine.document.graph import Link
from tests.app.canvas.conftest import Hands

ALT = Qt.KeyboardModifier.AltModifier


@pytest.fixture
def said(view: GraphView, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a screen reader is told to say."""
    found: list[str] = []

    def hear(event: QAccessibleEvent) -> None:
        if isinstance(event, QAccessibleAnnouncementEvent):
            found.append(event.message())

    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    monkeypatch.setattr(QAccessible, "updateAccessibility", hear)
    return found


def test_walking_with_the_keyboard_says_node_type_ports_and_neighbours(
    view: GraphView, hands: Hands, chain: None, said: list[str]
) -> None:
    hands.key(Qt.Key.Key_Right, ALT)
    hands.key(Qt.Key.Key_Right, ALT)
    assert len(said) == 2
    assert said[0].startswith("digits-n1, Digits") and "Output image: to linear-n2" in said[0]
    assert said[1].startswith("linear-n2, Linear") and "Input x: from digits-n1" in said[1]
    assert view.accessibleDescription() == said[1]


def test_shapes_and_problems_are_part_of_what_is_said(
    view: GraphView, workspace: Workspace, chain: None
) -> None:
    from engine.shapes.shapes import ShapeBook

    workspace.shapes = ShapeBook(workspace.catalogue)
    workspace._infer(None)
    workspace.select(("n3",))
    assert "Input x: 1×8×64, from linear-n2" in view.accessibleDescription()
    assert "parameters" in view.accessibleDescription()
    workspace.apply("Cut", Disconnect(Link("n2", "output", "n3", "x")))
    assert "Input x: free" in view.accessibleDescription()
    assert "nothing is connected to x" in view.accessibleDescription()
    workspace.show_parts({"n3": "frozen"})
    assert "In the plan: frozen" in view.accessibleDescription()


def test_several_nodes_wires_and_nothing(view: GraphView, workspace: Workspace, chain: None) -> None:
    assert view.accessibleDescription() == "4 nodes, 2 wires. Nothing selected."
    workspace.select(("n2", "n3"))
    assert view.accessibleDescription() == "2 nodes selected: linear-n2, linear-n3."
    workspace.select(())
    view.graph_scene.select_links([Link("n2", "output", "n3", "x")])
    assert view.accessibleDescription() == "Wire from linear-n2 to linear-n3: port output to x."


def test_the_name_of_the_canvas_says_inside_what_block_one_is(
    view: GraphView, workspace: Workspace, chain: None, said: list[str]
) -> None:
    workspace.apply("Group", *blocks.group(workspace.document.project, ["n2", "n3"]))
    block = next(iter(workspace.document.project.blocks))
    workspace.enter(block)
    name = workspace.document.project.block(block).name
    assert view.accessibleName() == f"Canvas, inside the block {name}" == said[-1]


def test_a_canvas_without_focus_says_nothing(
    view: GraphView, workspace: Workspace, chain: None, said: list[str]
) -> None:
    view.clearFocus()
    workspace.select(("n2",))
    workspace.apply("Rename", Rename("n2", "second"))
    assert not said and view.accessibleDescription().startswith("second, Linear")


def test_an_empty_canvas_says_how_to_begin(view: GraphView, build: Callable[..., None]) -> None:
    assert "Tab" in view.accessibleDescription()
    build([("n1", "Linear", 0, 0)])
    assert view.accessibleDescription() == "1 node, 0 wires. Nothing selected."
