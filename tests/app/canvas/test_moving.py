"""Selecting, moving, deleting, renaming."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from app.canvas.view import GraphView
from app.widgets.typing import finish_typing
from app.workspace.workspace import Workspace
from engine.document.graph import Link
from tests.app.canvas.conftest import Hands, picture

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def _place(workspace: Workspace, node_id: str) -> tuple[float, float]:
    return workspace.document.project.graph.nodes[node_id].position


def test_a_drag_moves_a_node_in_one_step_and_its_wires_follow(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    start = view.node_point("n2")
    hands.lift(start, start + QPoint(40, 120))
    assert _place(workspace, "n2") == (200, 0)
    wire = view.graph_scene.link_items[Link("n2", "output", "n3", "x")]
    port = view.graph_scene.node_items["n2"].port_place("output", "out")
    assert wire.route.points[0] == (port.x(), port.y())
    hands.release(start + QPoint(40, 120))
    assert _place(workspace, "n2") == (240, 120)
    assert workspace.document.undo() == "Move" and workspace.document.undo() is None
    assert _place(workspace, "n2") == (200, 0)


def test_several_nodes_move_together_and_selection_is_no_step(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    """U10."""
    hands.click(view.node_point("n2"))
    hands.click(view.node_point("n3"), CONTROL)
    assert workspace.selection == ("n2", "n3")
    start = view.node_point("n3")
    hands.drag(start, start + QPoint(16, 24))
    assert _place(workspace, "n2") == (216, 24) and _place(workspace, "n3") == (416, 24)
    hands.key(Qt.Key.Key_Z, CONTROL)
    assert _place(workspace, "n2") == (200, 0) and _place(workspace, "n3") == (400, 0)
    assert workspace.selection == ("n2", "n3") and workspace.document.undo_label is None


def test_escape_in_mid_drag_puts_nodes_and_wires_back(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    hands.click(view.node_point("n2"))
    before = picture(view)
    start = view.node_point("n2")
    hands.lift(start, start + QPoint(150, 90))
    hands.key(Qt.Key.Key_Escape)
    hands.release(start + QPoint(150, 90))
    assert picture(view) == before and workspace.document.undo_label is None


def test_undo_on_a_fresh_document_then_move_undo_and_wire(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    """E-1, U8: nothing to undo does no harm, and ports work after an undone move."""
    hands.key(Qt.Key.Key_Z, CONTROL)
    start = view.node_point("n2")
    hands.drag(start, start + QPoint(0, 80))
    hands.key(Qt.Key.Key_Z, CONTROL)
    assert all(item.isVisible() for item in view.graph_scene.link_items.values())
    hands.drag(view.port_point("n2", "output", "out"), view.port_point("n4", "x", "in"))
    assert workspace.document.project.graph.feeding("n4", "x") == Link("n2", "output", "n4", "x")


def test_deleting_the_middle_node_keeps_the_rest(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    """E-9."""
    hands.click(view.node_point("n2"))
    hands.key(Qt.Key.Key_Delete)
    assert set(workspace.document.project.graph.nodes) == {"n1", "n3", "n4"}
    assert not view.graph_scene.link_items
    workspace.undo()
    assert len(view.graph_scene.link_items) == 2


def test_deleting_the_middle_node_can_keep_the_chain_joined(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    hands.click(view.node_point("n2"))
    hands.key(Qt.Key.Key_Delete, CONTROL)
    assert workspace.document.project.graph.links == (Link("n1", "image", "n3", "x"),)
    workspace.undo()
    assert len(workspace.document.project.graph.links) == 2


def test_a_box_around_both_ends_of_a_wire_deletes_each_thing_once(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    """W4."""
    corner, opposite = view.mapFromScene(-40, -40), view.mapFromScene(600, 400)
    hands.drag(corner, opposite)
    assert set(workspace.selection) == {"n1", "n2", "n3", "n4"}
    assert len(view.graph_scene.selected_links) == 2
    hands.key(Qt.Key.Key_Delete)
    assert not view.graph_scene.items() and workspace.document.undo() == "Delete"
    assert len(workspace.document.project.graph.links) == 2


def test_a_box_with_shift_adds_and_escape_restores_the_selection(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    workspace.select(("n4",))
    corner, opposite = view.mapFromScene(180, -40), view.mapFromScene(350, 100)
    hands.drag(corner, opposite, SHIFT)
    assert set(workspace.selection) == {"n4", "n2"}
    hands.lift(view.mapFromScene(-60, -60), view.mapFromScene(600, 400))
    assert len(workspace.selection) == 4
    hands.key(Qt.Key.Key_Escape)
    assert set(workspace.selection) == {"n4", "n2"}
    assert not [item for item in view.graph_scene.items() if type(item).__name__ == "Marquee"]


def test_a_click_on_one_of_several_selected_nodes_selects_it_alone(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    hands.key(Qt.Key.Key_A, CONTROL)
    assert len(workspace.selection) == 4
    hands.click(view.node_point("n3"))
    assert workspace.selection == ("n3",)
    hands.click(view.mapFromScene(-80, -80))
    assert workspace.selection == ()


def test_arrow_keys_nudge_as_one_step(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    workspace.select(("n4",))
    for _ in range(3):
        hands.key(Qt.Key.Key_Right)
    hands.key(Qt.Key.Key_Down, SHIFT)
    assert _place(workspace, "n4") == (224, 201)
    workspace.undo()
    assert _place(workspace, "n4") == (200, 200) and workspace.document.undo_label is None


def test_alt_and_arrows_walk_the_graph(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    alt = Qt.KeyboardModifier.AltModifier
    hands.key(Qt.Key.Key_Right, alt)
    assert workspace.selection == ("n1",)
    hands.key(Qt.Key.Key_Right, alt)
    hands.key(Qt.Key.Key_Down, alt)
    assert workspace.selection == ("n4",)


def test_a_lone_node_dropped_on_a_wire_goes_into_it(
    view: GraphView, workspace: Workspace, hands: Hands, build: Callable[..., None]
) -> None:
    """E-9, W18: that wire is split and not another of the same source; one undo takes it back."""
    build(
        [
            ("n1", "Linear", 0, 0),
            ("n2", "Linear", 500, 0),
            ("n3", "Linear", 500, 300),
            ("n4", "ReLU", 0, 300),
        ],
        [("n1", "output", "n2", "x"), ("n1", "output", "n3", "x")],
    )
    wire = view.graph_scene.link_items[Link("n1", "output", "n2", "x")]
    goal = view.mapFromScene(*((wire.route.points[0][0] + wire.route.points[1][0]) / 2, 28))
    hands.drag(view.node_point("n4"), goal)
    assert set(workspace.document.project.graph.links) == {
        Link("n1", "output", "n4", "x"),
        Link("n4", "output", "n2", "x"),
        Link("n1", "output", "n3", "x"),
    }
    workspace.undo()
    assert set(workspace.document.project.graph.links) == {
        Link("n1", "output", "n2", "x"),
        Link("n1", "output", "n3", "x"),
    }
    assert _place(workspace, "n4") == (0, 300)


def test_f2_renames_in_place(view: GraphView, workspace: Workspace, hands: Hands, chain: None) -> None:
    workspace.select(("n2",))
    hands.key(Qt.Key.Key_F2)
    field = view.naming.field
    assert field.isVisible() and field.text() == "linear-n2"
    QTest.keyClicks(field, "hidden")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert workspace.node("n2").name == "hidden" and not field.isVisible()
    hands.key(Qt.Key.Key_F2)
    QTest.keyClicks(field, "other")
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert workspace.node("n2").name == "hidden"


@pytest.mark.parametrize("opened", ["name", "search"])
def test_keys_in_a_text_field_stay_there(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None, opened: str
) -> None:
    """V5, E-3."""
    workspace.select(("n2", "n3"))
    hands.key(Qt.Key.Key_F2 if opened == "name" else Qt.Key.Key_Tab)
    field: QLineEdit = view.naming.field if opened == "name" else view.popup.field
    before = picture(view)
    QTest.keyClicks(field, "f c")
    for key, modifiers in (
        (Qt.Key.Key_Delete, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_Backspace, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_F2, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_Up, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_Home, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_A, CONTROL),
        (Qt.Key.Key_Z, CONTROL),
        (Qt.Key.Key_D, CONTROL),
        (Qt.Key.Key_V, CONTROL),
    ):
        QTest.keyClick(field, key, modifiers)
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert not field.isVisible()
    assert picture(view) == before and workspace.document.undo_label is None


def test_a_name_is_in_the_document_while_it_is_typed(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    """A save, a close or a crash in mid-word loses nothing; the whole word is one step."""
    workspace.select(("n2",))
    hands.key(Qt.Key.Key_F2)
    field = view.naming.field
    QTest.keyClicks(field, "hid")
    assert workspace.node("n2").name == "hid"
    save = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_S, CONTROL)
    save.ignore()
    QApplication.sendEvent(field, save)
    assert not save.isAccepted()  # so it is the window's
    finish_typing()
    assert workspace.node("n2").name == "hid" and view.hasFocus()
    hands.key(Qt.Key.Key_F2)
    field.setText("")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert workspace.node("n2").name == "hid"
    assert workspace.document.undo() == "Rename" and workspace.document.undo_label is None
    assert workspace.node("n2").name == "linear-n2"


def test_a_field_over_a_node_follows_pan_and_zoom(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    view.navigation.set_zoom(1.0)
    workspace.select(("n2",))
    hands.key(Qt.Key.Key_F2)
    field, item = view.naming.field, view.graph_scene.node_items["n2"]
    before = field.pos()
    view.navigation.pan_by(30, 20)
    assert field.pos() == before + QPoint(30, 20) and field.isVisible()
    view.navigation.zoom_by(2.0, QPointF(50, 60))
    assert (field.pos() - view.mapFromScene(item.x() + 8, item.y() + 4)).manhattanLength() <= 1
    assert field.width() > 200


def test_a_release_that_was_lost_ends_the_drag(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    """A popup of another program can take the event: the next move says that no button is down."""
    start = view.node_point("n2")
    hands.lift(start, start + QPoint(40, 120))
    place = QPointF(start + QPoint(60, 60))
    away = view.viewport().mapToGlobal(place)
    none, still = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(
        view.viewport(), QMouseEvent(QEvent.Type.MouseMove, place, away, none, none, still)
    )
    assert view.interaction is None and _place(workspace, "n2") == (200, 0)
    QTest.mouseRelease(
        view.viewport(), Qt.MouseButton.LeftButton, still, start
    )  # or the next test inherits it


def test_a_drag_ends_where_the_button_was_let_go(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    start = view.node_point("n2")
    hands.press(start)
    hands.move(start + QPoint(20, 20))
    hands.release(start + QPoint(80, 40))
    assert _place(workspace, "n2") == (280, 40)


def test_the_cursor_says_what_the_left_button_does(view: GraphView, hands: Hands, chain: None) -> None:
    space = Qt.Key.Key_Space

    def shape() -> Qt.CursorShape:
        return view.viewport().cursor().shape()

    QTest.keyPress(view, space)
    assert shape() == Qt.CursorShape.OpenHandCursor
    hands.press(QPoint(450, 320))
    assert shape() == Qt.CursorShape.ClosedHandCursor
    hands.release(QPoint(450, 320))
    assert shape() == Qt.CursorShape.OpenHandCursor
    view.gestures.lose_focus()
    assert shape() == Qt.CursorShape.ArrowCursor
    QTest.keyRelease(view, space)
