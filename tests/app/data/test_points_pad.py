"""The pad to draw points on: real presses, drags and keys, and what the document then holds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.data.point_strokes import rounded, rubbed, spanning
from app.data.points_pad import PointsPad
from app.workspace.workspace import Workspace
from engine.document.edits import AddNodes, Remove, SetParam
from engine.document.files import load_project, save_project
from engine.document.graph import Node

LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton


@pytest.fixture
def panel(workspace: Workspace) -> Iterator[PointsPad]:
    workspace.apply("Add", AddNodes((Node("n1", "DrawnPoints"),), ()))
    made = PointsPad(workspace, "n1")
    made.resize(760, 460)
    made.show()
    QApplication.processEvents()
    yield made
    made.close()
    made.deleteLater()


def points(panel: PointsPad) -> list[tuple[float, float, int]]:
    node = panel._workspace.node("n1")
    return list(node.params.get("points", ()))


def place(panel: PointsPad, x: float, y: float) -> QPoint:
    across, down = panel.pad.to_pixels([x], [y])
    return QPointF(across[0], down[0]).toPoint()


def click(panel: PointsPad, x: float, y: float, button: Qt.MouseButton = LEFT) -> None:
    QTest.mouseClick(panel.pad, button, pos=place(panel, x, y))


def drag(panel: PointsPad, *places: tuple[float, float], button: Qt.MouseButton = LEFT) -> None:
    QTest.mousePress(panel.pad, button, pos=place(panel, *places[0]))
    for one in places[1:]:
        QTest.mouseMove(panel.pad, place(panel, *one))
    QTest.mouseRelease(panel.pad, button, pos=place(panel, *places[-1]))


def test_a_click_is_a_point_of_the_picked_class_where_it_was_clicked(panel: PointsPad) -> None:
    click(panel, 0.5, 0.25)
    QTest.mouseClick(panel.picker.buttons[1], LEFT)
    click(panel, -0.5, -0.75)
    (first, second) = points(panel)
    assert first == (pytest.approx(0.5, abs=0.01), pytest.approx(0.25, abs=0.01), 0)
    assert second == (pytest.approx(-0.5, abs=0.01), pytest.approx(-0.75, abs=0.01), 1)
    assert first[0] == round(first[0], 3)
    assert panel.facts.text() == "2 points · class 1: 1, class 2: 1 · fewer than 20, so all are in each split"


def test_a_stroke_is_one_step_to_undo(panel: PointsPad) -> None:
    drag(panel, (-0.8, 0), (-0.4, 0), (0, 0), (0.4, 0), (0.8, 0))
    drawn = points(panel)
    assert len(drawn) == 5 and len(panel.pad.layers[0].x) == 5
    click(panel, 0, 0.5)
    assert len(points(panel)) == 6
    assert panel._workspace.document.undo_label == "Draw points"
    QTest.mouseClick(panel.undo, LEFT)
    assert points(panel) == drawn
    panel._workspace.undo()
    assert points(panel) == [] and len(panel.pad.layers[0].x) == 0
    panel._workspace.redo()
    assert points(panel) == drawn


def test_two_quick_clicks_are_two_points(panel: PointsPad) -> None:
    click(panel, 0, 0)
    QTest.mouseDClick(panel.pad, LEFT, pos=place(panel, 0, 0))
    QTest.mouseRelease(panel.pad, LEFT, pos=place(panel, 0, 0))
    assert len(points(panel)) == 2


def test_the_spray_strews_so_many_points_within_reach(panel: PointsPad) -> None:
    panel.brush.choose("spray")
    panel.dab.setValue(30)
    click(panel, 0.9, 0.9)
    found = points(panel)
    assert len(found) == 30 and len(set(found)) > 20
    reach = panel.pad.reach()
    assert all(abs(x - 0.9) < 4 * reach[0] and abs(y - 0.9) < 4 * reach[1] for x, y, _ in found)
    assert all(x <= 1 and y <= 1 for x, y, _ in found)
    assert panel._workspace.document.undo_label == "Spray points"


def test_the_right_button_and_the_eraser_take_away_what_they_touch(panel: PointsPad) -> None:
    for x in (-0.8, 0.0, 0.8):
        click(panel, x, 0)
    click(panel, 0.0, 0, RIGHT)
    assert [round(x, 1) for x, _, _ in points(panel)] == [-0.8, 0.8]
    assert panel._workspace.document.undo_label == "Erase points"
    panel.brush.choose("erase")
    drag(panel, (-0.8, 0.0), (0.8, 0.0))
    assert points(panel) == []
    revision = panel._workspace.document.revision
    click(panel, 0, 0)  # nothing is there
    assert panel._workspace.document.revision == revision


def test_the_wheel_changes_the_brush(panel: PointsPad) -> None:
    panel.brush.choose("erase")
    before = panel.pad.radius
    at = QPointF(place(panel, 0, 0))
    wheel = QWheelEvent(
        at,
        panel.pad.mapToGlobal(at),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(panel.pad, wheel)
    assert panel.pad.radius == pytest.approx(1.15 * before)


def test_escape_takes_a_stroke_back(panel: PointsPad) -> None:
    QTest.mousePress(panel.pad, LEFT, pos=place(panel, 0, 0))
    assert len(panel.pad.layers[0].x) == 1
    QTest.keyClick(panel.pad, Qt.Key.Key_Escape)
    assert len(panel.pad.layers[0].x) == 0
    QTest.mouseRelease(panel.pad, LEFT, pos=place(panel, 0, 0))
    assert points(panel) == []


def test_keys_draw_and_pick(panel: PointsPad) -> None:
    panel.pad.setFocus()
    for _ in range(4):
        QTest.keyClick(panel.pad, Qt.Key.Key_Right)
    QTest.keyClick(panel.pad, Qt.Key.Key_2)
    QTest.keyClick(panel.pad, Qt.Key.Key_Space)
    assert points(panel) == [(0.2, 0.0, 1)]
    QTest.keyClick(panel.pad, Qt.Key.Key_Backspace)
    assert points(panel) == []


def test_more_and_fewer_classes(panel: PointsPad) -> None:
    for _ in range(8):
        QTest.mouseClick(panel.picker.more, LEFT)
    assert panel._workspace.node("n1").params["classes"] == 10 and not panel.picker.more.isEnabled()
    assert panel.picker.current == 9
    click(panel, 0, 0)
    QTest.mouseClick(panel.picker.buttons[0], LEFT)
    click(panel, 0.5, 0)
    QTest.mouseClick(panel.picker.fewer, LEFT)
    assert [kind for _, _, kind in points(panel)] == [0]
    panel._workspace.undo()
    assert [kind for _, _, kind in points(panel)] == [9, 0]
    assert panel._workspace.node("n1").params["classes"] == 10


def test_a_class_is_named(panel: PointsPad) -> None:
    panel.picker.name.setFocus()
    panel.picker.name.selectAll()
    QTest.keyClicks(panel.picker.name, "cat")
    QTest.keyClick(panel.picker.name, Qt.Key.Key_Return)
    assert panel._workspace.node("n1").params["names"] == ("cat", "class 2")


def test_paste_adds_points_and_widens_the_axes_in_one_step(panel: PointsPad) -> None:
    click(panel, 0, 0)
    QGuiApplication.clipboard().setText("x;y;class\n0,5;-0,25;1\n3;0;2")
    QTest.keyClick(panel.pad, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert points(panel)[1:] == [(0.5, -0.25, 0), (3.0, 0.0, 1)]
    assert panel._workspace.node("n1").params["x_to"] == 3.2
    assert panel.said.text() == (
        "2 points pasted. The first line holds names and was left out. The axes were widened to hold them."
    )
    panel._workspace.undo()
    assert len(points(panel)) == 1 and "x_to" not in panel._workspace.node("n1").params


def test_what_cannot_be_pasted_is_a_sentence_and_changes_nothing(panel: PointsPad) -> None:
    click(panel, 0, 0)
    before, revision = points(panel), panel._workspace.document.revision
    QGuiApplication.clipboard().setText("1 2 1\nhello there you 3")
    QTest.mouseClick(panel.paste, LEFT)
    assert panel.said.text() == "Line 2, “hello there you 3”, is not x, y and a class; nothing was pasted."
    assert points(panel) == before and panel._workspace.document.revision == revision


def test_names_that_are_pasted_become_the_classes(panel: PointsPad) -> None:
    QGuiApplication.clipboard().setText("0\t0\tcat\n0.5\t0.5\tdog\n-0.5\t0\tcow")
    QTest.mouseClick(panel.paste, LEFT)
    params = panel._workspace.node("n1").params
    assert params["names"] == ("cat", "dog", "cow") and params["classes"] == 3
    QTest.mouseClick(panel.copy, LEFT)
    assert QGuiApplication.clipboard().text() == "0.0\t0.0\tcat\n0.5\t0.5\tdog\n-0.5\t0.0\tcow"
    QTest.mouseClick(panel.clear, LEFT)
    assert points(panel) == []


def test_values_have_no_classes(panel: PointsPad) -> None:
    panel._workspace.apply("Task", SetParam("n1", "task", "values"))
    assert not panel.picker.isVisible()
    click(panel, 0.5, 0.5)
    assert points(panel)[0][2] == 0
    QTest.mouseClick(panel.copy, LEFT)
    assert len(QGuiApplication.clipboard().text().split("\t")) == 2


def test_the_axes_are_set_and_wrong_ones_are_said(panel: PointsPad) -> None:
    for text, sentence in (
        ("10", ""),
        ("-2", "The first number of an axis must be the smaller one."),
        ("0,5", "Right edge needs a number; '0,5' is not that. Write decimals with a point."),
    ):
        panel.edges["x_to"].setFocus()
        panel.edges["x_to"].setText(text)
        QTest.keyClick(panel.edges["x_to"], Qt.Key.Key_Return)
        assert panel.said.text() == sentence
        assert panel._workspace.node("n1").params["x_to"] == 10
    assert panel.pad.frame_shown.x == (-1, 10)


def test_the_project_keeps_the_points(panel: PointsPad, tmp_path: object) -> None:
    """D-13"""
    click(panel, 0.5, 0.5)
    click(panel, -0.5, 0.5)
    path = tmp_path / "drawn.nloom"
    save_project(panel._workspace.document.project, path)
    assert list(load_project(path).graph.nodes["n1"].params["points"]) == points(panel)


def test_a_node_that_goes_leaves_a_pad_at_rest(panel: PointsPad) -> None:
    QTest.mousePress(panel.pad, LEFT, pos=place(panel, 0, 0))
    panel._workspace.apply("Delete", Remove(("n1",), ()))
    assert not panel.isEnabled() and not panel.pad.drawing
    panel._workspace.undo()
    assert panel.isEnabled() and points(panel) == []


def test_places_and_axes() -> None:
    assert rounded(0.123456, -0.00004, (-1, 1), (-1, 1)) == (0.123, 0.0)
    assert rounded(1234.5678, 0.0123456, (0, 5000), (0, 0.1)) == (1235.0, 0.0123)
    assert rubbed([(0, 0, 0), (1, 0, 1), (0, 3, 0)], 0, 0, (1.5, 2)) == [(0, 3, 0)]
    assert spanning([(0.5, 2.0, 0)], (-1, 1), (-1, 1)) == ((-1, 1), (-1, 2.15))
