"""Points that wires are led through."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.canvas.items.bends import with_bend
from app.canvas.view import GraphView
from app.workspace.workspace import Workspace
from engine.document.edits import SetBends
from engine.document.graph import Link
from tests.app.canvas.conftest import Hands, picture

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
SECOND = Link("n2", "output", "n3", "x")


def _middle(view: GraphView) -> QPoint:
    (x1, y1), (x2, y2) = (view.graph_scene.link_items[SECOND].route.points[i] for i in (0, -1))
    return view.mapFromScene((x1 + x2) / 2, (y1 + y2) / 2)


def test_a_double_click_on_a_wire_adds_a_bend_that_is_dragged_and_deleted(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    middle = _middle(view)
    QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, middle)
    QTest.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, middle)
    assert len(workspace.graph.bends(SECOND)) == 1 and not view.popup.active
    hands.drag(middle, middle + QPoint(0, 120))
    ((x, y),) = workspace.graph.bends(SECOND)
    item = view.graph_scene.link_items[SECOND]
    assert (x, y) in item.route.points and item.distance(view.mapToScene(middle + QPoint(0, 120))) < 6
    view.grab()
    assert view.graph_scene.picked_bend == (SECOND, 0)
    hands.key(Qt.Key.Key_Delete)
    assert not workspace.graph.bends(SECOND) and SECOND in workspace.graph.links
    assert [workspace.document.undo() for _ in range(3)] == ["Remove bend", "Move bend", "Add bend"]
    assert workspace.document.undo() is None


def test_escape_in_mid_drag_leaves_the_bend(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    workspace.apply("Bend", SetBends(SECOND, ((360, 120),)))
    before = picture(view)
    place = view.mapFromScene(360, 120)
    hands.lift(place, place + QPoint(50, 90))
    assert view.graph_scene.link_items[SECOND].route.points[1] != (360, 120)
    hands.key(Qt.Key.Key_Escape)
    hands.release(place + QPoint(50, 90))
    assert picture(view) == before


def test_shift_and_a_stroke_add_bends(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    middle = _middle(view)
    hands.stroke(middle - QPoint(0, 60), middle + QPoint(0, 60), SHIFT)
    assert len(workspace.graph.bends(SECOND)) == 1 and workspace.document.undo_label == "Add bend"


def test_bends_go_along_when_both_ends_move(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    workspace.apply("Bend", SetBends(SECOND, ((360, 120),)))
    workspace.select(("n2", "n3"))
    start = view.node_point("n2")
    hands.drag(start, start + QPoint(40, 80))
    assert workspace.graph.bends(SECOND) == ((400, 200),)
    hands.key(Qt.Key.Key_Right)
    assert workspace.graph.bends(SECOND) == ((408, 200),)
    workspace.undo()
    workspace.undo()
    assert workspace.graph.bends(SECOND) == ((360, 120),)
    hands.drag(start, start + QPoint(0, 40))
    fresh = GraphView(workspace)
    assert picture(view) == picture(fresh)
    fresh.deleteLater()


def test_a_bend_goes_between_those_it_lies_between() -> None:
    line = [(0.0, 0.0), (100.0, 0.0), (200.0, 0.0)]
    assert with_bend(line, ((50.0, 0.0), (150.0, 0.0)), (100.0, 3.0)) == ((50, 0), (100, 3), (150, 0))
    assert with_bend(line, (), (20.0, 0.0)) == ((20, 0),)
    assert with_bend(line, ((50.0, 0.0),), (190.0, 0.0)) == ((50, 0), (190, 0))
