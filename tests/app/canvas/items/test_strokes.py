"""Strokes across wires, and wires moved by their ends."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication

from app.canvas.items.link_item import DraftWire
from app.canvas.items.strokes import StrokeItem, crossing
from app.canvas.view import GraphView
from app.workspace.workspace import Workspace
from engine.document.graph import Link
from tests.app.canvas.conftest import Hands, picture

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
FIRST = Link("n1", "image", "n2", "x")
SECOND = Link("n2", "output", "n3", "x")


def _links(workspace: Workspace) -> set[Link]:
    return set(workspace.document.project.graph.links)


def test_a_stroke_cuts_every_wire_it_crosses_in_one_step(
    view: GraphView, workspace: Workspace, hands: Hands, build: Callable[..., None]
) -> None:
    build(
        [("n1", "Linear", 0, 0), ("n2", "Linear", 0, 120), ("n3", "Add", 400, 60)],
        [("n1", "output", "n3", "x1"), ("n2", "output", "n3", "x2")],
    )
    hands.stroke(view.mapFromScene(260, -60), view.mapFromScene(270, 300), CONTROL)
    assert not _links(workspace) and workspace.document.undo() == "Cut wires"
    assert len(_links(workspace)) == 2 and workspace.document.undo() is None
    assert not [item for item in view.graph_scene.items() if isinstance(item, StrokeItem)]


def test_a_stroke_that_crosses_nothing_is_no_step_and_opens_no_menu(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    before = picture(view)
    hands.stroke(view.mapFromScene(0, 300), view.mapFromScene(100, 320), CONTROL)
    assert picture(view) == before and workspace.document.undo_label is None
    assert QGuiApplication.focusObject() is not None and view.interaction is None


def test_escape_in_mid_stroke_cuts_nothing(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    from PySide6.QtTest import QTest

    before = picture(view)
    start, end = view.mapFromScene(360, -60), view.mapFromScene(360, 200)
    QTest.mousePress(view.viewport(), Qt.MouseButton.RightButton, CONTROL, start)
    for part in (0.2, 1.0):
        hands.move(start + (end - start) * part)
    assert view.graph_scene.link_items[SECOND].marked == "cut"
    hands.key(Qt.Key.Key_Escape)
    QTest.mouseRelease(view.viewport(), Qt.MouseButton.RightButton, CONTROL, end)
    assert picture(view) == before and not view.graph_scene.link_items[SECOND].marked


def test_a_wire_is_taken_by_the_end_that_is_near(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    """U14: moved to another node's output, and back by one undo."""
    near_source = view.port_point("n2", "output", "out") + QPoint(18, 0)
    hands.drag(near_source, view.port_point("n4", "output", "out"))
    assert Link("n4", "output", "n3", "x") in _links(workspace) and SECOND not in _links(workspace)
    workspace.undo()
    assert _links(workspace) == {FIRST, SECOND}


def test_a_wire_moves_to_another_port_of_the_same_node(
    view: GraphView, workspace: Workspace, hands: Hands, build: Callable[..., None]
) -> None:
    """U14."""
    build(
        [("n1", "Digits", 0, 0), ("n2", "CrossEntropy", 300, 0)],
        [("n1", "digit", "n2", "prediction")],
    )
    hands.drag(view.port_point("n2", "prediction", "in"), view.port_point("n2", "target", "in"))
    assert _links(workspace) == {Link("n1", "digit", "n2", "target")}
    workspace.undo()
    assert _links(workspace) == {Link("n1", "digit", "n2", "prediction")}
    hands.drag(
        view.port_point("n2", "prediction", "in") + QPoint(-16, 0), view.port_point("n2", "target", "in")
    )
    assert _links(workspace) == {Link("n1", "digit", "n2", "target")}


@pytest.fixture
def fan(build: Callable[..., None]) -> None:
    """Linear n1 feeds n2 and n3; n4 is alone."""
    build(
        [
            ("n1", "Linear", 0, 0),
            ("n2", "Linear", 300, 0),
            ("n3", "Linear", 300, 150),
            ("n4", "Linear", 0, 300),
        ],
        [("n1", "output", "n2", "x"), ("n1", "output", "n3", "x")],
    )


def test_control_and_a_drag_from_an_output_move_all_its_wires(
    view: GraphView, workspace: Workspace, hands: Hands, fan: None
) -> None:
    hands.drag(view.port_point("n1", "output", "out"), view.port_point("n4", "output", "out"), CONTROL)
    assert _links(workspace) == {Link("n4", "output", "n2", "x"), Link("n4", "output", "n3", "x")}
    assert workspace.document.undo() == "Move wires" and workspace.document.undo() is None


@pytest.mark.parametrize("goal", ["home", "itself", "nothing", "refused"])
def test_wires_that_cannot_be_moved_stay(
    view: GraphView, workspace: Workspace, hands: Hands, fan: None, goal: str
) -> None:
    """W6: dropped on their own source, on nothing, or on what they feed."""
    before = picture(view)
    goals = {
        "home": view.node_point("n1"),
        "itself": view.port_point("n1", "output", "out"),
        "nothing": view.mapFromScene(500, 400),
        "refused": view.node_point("n2"),
    }
    hands.lift(view.port_point("n1", "output", "out"), view.mapFromScene(200, 200), CONTROL)
    assert len([one for one in view.graph_scene.items() if isinstance(one, DraftWire)]) == 2
    hands.move(goals[goal])
    hands.release(goals[goal], CONTROL)
    assert picture(view) == before and workspace.document.undo_label is None


def test_a_crossing_is_found_where_a_stroke_first_meets_a_line() -> None:
    line = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)]
    assert crossing((5, -5), (5, 5), line) == (5, 0)
    assert crossing((5, 1), (8, 9), line) is None
    assert crossing((0, 5), (20, 5), line) == (10, 5)


@pytest.mark.parametrize("modifiers", [CONTROL, SHIFT])
def test_duplicates_stand_beside(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None, modifiers: Qt.KeyboardModifier
) -> None:
    workspace.select(("n2", "n3"))
    hands.key(Qt.Key.Key_D, modifiers)
    assert len(workspace.document.project.graph.nodes) == 6
    assert workspace.document.undo() == "Duplicate"


def test_cutting_out_a_node_keeps_it_on_the_clipboard_and_joins_its_neighbours(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    workspace.select(("n2",))
    hands.key(Qt.Key.Key_X, CONTROL)
    assert _links(workspace) == {Link("n1", "image", "n3", "x")}
    hands.key(Qt.Key.Key_V, CONTROL)
    assert len(workspace.document.project.graph.nodes) == 4
