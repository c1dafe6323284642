"""Dropping from the palette, the search popup, copy and paste."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.canvas.view import MIME, GraphView
from app.workspace.workspace import Workspace
from engine.document.graph import Link
from tests.app.canvas.conftest import Hands, picture

CONTROL = Qt.KeyboardModifier.ControlModifier
LEFT = Qt.MouseButton.LeftButton
NONE = Qt.KeyboardModifier.NoModifier
COPY = Qt.DropAction.CopyAction


def _data(type_id: str) -> QMimeData:
    data = QMimeData()
    data.setData(MIME, type_id.encode())
    return data


def _drop(view: GraphView, type_id: str, place: QPoint, modifiers: Qt.KeyboardModifier = NONE) -> None:
    data = _data(type_id)
    QApplication.sendEvent(view.viewport(), QDragEnterEvent(place, COPY, data, LEFT, modifiers))
    QApplication.sendEvent(view.viewport(), QDragMoveEvent(place, COPY, data, LEFT, modifiers))
    QApplication.sendEvent(view.viewport(), QDropEvent(QPointF(place), COPY, data, LEFT, modifiers))


@pytest.mark.parametrize("zoom", [0.25, 1.0, 4.0])
def test_a_drop_lands_under_the_cursor_at_any_zoom_and_scroll(
    view: GraphView, workspace: Workspace, chain: None, zoom: float
) -> None:
    """E-12."""
    view.navigation.set_zoom(zoom)
    view.navigation.pan_by(-350, 220)
    place = QPoint(311, 207)
    _drop(view, "Linear", place)
    (added,) = workspace.selection
    item = view.graph_scene.node_at(view.mapToScene(place))
    assert item is not None and item.node_id == added
    assert workspace.document.undo_label == "Add linear1"


def test_a_drag_that_leaves_the_canvas_leaves_nothing(
    view: GraphView, workspace: Workspace, chain: None
) -> None:
    before = picture(view)
    data = _data("Linear")
    place = QPoint(300, 300)
    QApplication.sendEvent(view.viewport(), QDragEnterEvent(place, COPY, data, LEFT, NONE))
    QApplication.sendEvent(view.viewport(), QDragMoveEvent(place, COPY, data, LEFT, NONE))
    assert picture(view) != before
    QApplication.sendEvent(view.viewport(), QDragLeaveEvent())
    assert picture(view) == before and workspace.document.undo_label is None


def test_a_drop_on_a_wire_goes_into_it_unless_alt_is_down(
    view: GraphView, workspace: Workspace, build: Callable[..., None]
) -> None:
    build([("n1", "Linear", 0, 0), ("n2", "Linear", 500, 0)], [("n1", "output", "n2", "x")])
    place = view.mapFromScene(314, 28)
    _drop(view, "ReLU", place, Qt.KeyboardModifier.AltModifier)
    assert workspace.document.project.graph.links == (Link("n1", "output", "n2", "x"),)
    workspace.undo()
    _drop(view, "ReLU", place)
    (added,) = workspace.selection
    assert set(workspace.document.project.graph.links) == {
        Link("n1", "output", added, "x"),
        Link(added, "output", "n2", "x"),
    }
    workspace.undo()
    assert workspace.document.project.graph.links == (Link("n1", "output", "n2", "x"),)


def test_other_things_dragged_over_the_canvas_are_not_taken(view: GraphView) -> None:
    data = QMimeData()
    data.setText("some text")
    event = QDragEnterEvent(QPoint(10, 10), COPY, data, LEFT, NONE)
    QApplication.sendEvent(view.viewport(), event)
    assert not event.isAccepted()


def test_an_unknown_type_dropped_is_refused_with_a_message(view: GraphView, workspace: Workspace) -> None:
    said: list[str] = []
    workspace.message.connect(lambda text, kind: said.append(text))
    _drop(view, "Nonsense", QPoint(100, 100))
    assert said and "Nonsense" in said[0] and not workspace.document.project.graph.nodes


def test_tab_opens_the_search_at_the_cursor_and_enter_adds(
    view: GraphView, workspace: Workspace, hands: Hands
) -> None:
    hands.move(QPoint(220, 140))
    hands.key(Qt.Key.Key_Tab)
    assert view.popup.isVisible() and view.popup.pos() == QPoint(220, 140)
    QTest.keyClicks(view.popup.field, "conv2")
    QTest.keyClick(view.popup.field, Qt.Key.Key_Return)
    (added,) = workspace.selection
    assert workspace.node(added).type == "Conv2d" and not view.popup.isVisible()
    assert view.hasFocus()


def test_the_search_is_worked_with_arrows_and_escape_leaves_nothing(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    before = picture(view)
    QTest.mouseDClick(view.viewport(), LEFT, NONE, view.mapFromScene(-90, -60))
    assert view.popup.isVisible()
    QTest.keyClick(view.popup.field, Qt.Key.Key_Down)
    QTest.keyClick(view.popup.field, Qt.Key.Key_Down)
    assert view.popup.list.currentRow() == 2
    QTest.keyClick(view.popup.field, Qt.Key.Key_Up)
    assert view.popup.list.currentRow() == 1
    QTest.keyClicks(view.popup.field, "zzzz")
    QTest.keyClick(view.popup.field, Qt.Key.Key_Return)
    assert view.popup.isVisible() and "No node" in view.popup.about.text()
    QTest.keyClick(view.popup.field, Qt.Key.Key_Escape)
    assert picture(view) == before and not view.popup.active and workspace.document.undo_label is None


def test_the_search_stays_inside_the_canvas(view: GraphView) -> None:
    view.open_search_at(QPoint(890, 590))
    assert view.rect().contains(view.popup.geometry())
    view.resize(240, 160)
    view.open_search_at(QPoint(200, 100))
    assert view.rect().contains(view.popup.geometry())
    view.popup.dismiss()


def test_a_network_is_built_with_the_keyboard_alone(
    view: GraphView, workspace: Workspace, hands: Hands
) -> None:
    """E-22: each node found goes after the selected one and is joined to it."""
    for words in ("digits", "flatten", "linear", "relu", "cross-entropy"):
        hands.key(Qt.Key.Key_Tab)
        QTest.keyClicks(view.popup.field, words)
        QTest.keyClick(view.popup.field, Qt.Key.Key_Return)
    graph = workspace.document.project.graph
    assert [graph.nodes[key].type for key in graph.order()] == [
        "Digits",
        "Flatten",
        "Linear",
        "ReLU",
        "CrossEntropy",
    ]
    assert len(graph.links) == 4
    boxes = [item.box() for item in view.graph_scene.node_items.values()]
    assert len({box[0] for box in boxes}) == 5 and len({box[1] for box in boxes}) == 1
    loss = graph.order()[-1]
    workspace.select((graph.order()[0], loss))
    hands.key(Qt.Key.Key_C)
    assert graph.feeding(loss, "target") is not None
    for _ in range(6):
        hands.key(Qt.Key.Key_Z, CONTROL)
    assert not workspace.document.project.graph.nodes


def test_copy_takes_the_nodes_and_the_wires_among_them_only(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    """C2."""
    workspace.select(("n2",))
    hands.key(Qt.Key.Key_C, CONTROL)
    hands.key(Qt.Key.Key_V, CONTROL)
    (added,) = workspace.selection
    assert not workspace.document.project.graph.incoming(added)
    workspace.select(("n1", "n2"))
    hands.key(Qt.Key.Key_C, CONTROL)
    hands.key(Qt.Key.Key_V, CONTROL)
    first, second = workspace.selection
    assert workspace.document.project.graph.links[-1] == Link(first, "image", second, "x")
    assert workspace.document.undo() == "Paste" and workspace.node(first) is None


def test_pasting_thrice_never_lies_exactly_on_top_and_stays_in_view(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    """C1, C6: at the cursor, in the middle when it is elsewhere, cascaded; settings stay as they are."""
    workspace.select(("n4",))
    hands.key(Qt.Key.Key_C, CONTROL)
    settings = (view.snapping, view.navigation.zoom, view.viewportUpdateMode())
    hands.move(QPoint(600, 400))
    for _ in range(3):
        hands.key(Qt.Key.Key_V, CONTROL)
    at_cursor = view.mapToScene(600, 400)
    places = [workspace.node(key).position for key in list(workspace.document.project.graph.nodes)[4:]]
    assert len(set(places)) == 3
    assert abs(places[0][0] + 64 - at_cursor.x()) <= 8 and abs(places[0][1] + 28 - at_cursor.y()) <= 8
    view._cursor = None
    view.paste()
    (added,) = workspace.selection
    assert view.viewport().rect().contains(view.node_point(added))
    assert settings == (view.snapping, view.navigation.zoom, view.viewportUpdateMode())


@pytest.mark.parametrize("junk", ["[1,2,3]", "null", "hello", '{"neuroloom-nodes": 1, "nod', ""])
def test_junk_on_the_clipboard_is_refused_with_a_sentence(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None, junk: str
) -> None:
    said: list[str] = []
    workspace.message.connect(lambda text, kind: said.append(text))
    QGuiApplication.clipboard().setText(junk)
    hands.key(Qt.Key.Key_V, CONTROL)
    assert len(said) == 1 and len(workspace.document.project.graph.nodes) == 4
    assert workspace.document.undo_label is None


def test_cut_and_duplicate(view: GraphView, workspace: Workspace, hands: Hands, chain: None) -> None:
    QGuiApplication.clipboard().setText("mine")
    workspace.select(("n2", "n3"))
    hands.key(Qt.Key.Key_D, CONTROL)
    assert QGuiApplication.clipboard().text() == "mine"
    assert len(workspace.selection) == 2 and len(workspace.document.project.graph.links) == 3
    hands.key(Qt.Key.Key_X, CONTROL)
    assert len(workspace.document.project.graph.nodes) == 4
    hands.key(Qt.Key.Key_V, CONTROL)
    assert len(workspace.document.project.graph.nodes) == 6


def test_nodes_added_without_a_place_do_not_cover_each_other(view: GraphView, workspace: Workspace) -> None:
    ids = [view.add_node("Linear", None) for _ in range(4)]
    assert len(set(ids)) == 4
    assert len({workspace.node(key).position for key in ids}) == 4


def test_an_empty_canvas_says_what_to_do(view: GraphView, workspace: Workspace) -> None:
    assert view.empty.isVisible() and view.minimap.isHidden()
    view.empty.button.click()
    assert view.popup.isVisible()
    QTest.keyClick(view.popup.field, Qt.Key.Key_Escape)
    view.add_node("Linear", QPointF(0, 0))
    assert not view.empty.isVisible() and view.minimap.isVisible()


def test_the_hint_of_an_empty_canvas_leaves_the_pointer_to_the_canvas(view: GraphView, hands: Hands) -> None:
    empty = view.empty
    place = empty.text.geometry().center()
    QTest.mouseDClick(empty, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
    assert view.popup.isVisible()
    corner = view.viewport().mapTo(view, empty.mapToParent(place))
    assert (view.popup.pos() - corner).manhattanLength() < 4 or view.popup.geometry().contains(corner)
    QTest.keyClick(view.popup.field, Qt.Key.Key_Escape)
    QTest.mousePress(empty, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
    assert view.interaction is not None
    QTest.mouseRelease(empty, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
    assert view.interaction is None
    view.resize(700, 500)
    assert abs(empty.geometry().center().x() - 350) < 3
