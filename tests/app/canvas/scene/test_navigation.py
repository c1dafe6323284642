"""Zoom, pan, fit: finite whatever comes."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QNativeGestureEvent, QPointingDevice, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.canvas.scene.navigation import LARGEST, SMALLEST
from app.canvas.view import GraphView
from app.workspace.workspace import Workspace
from engine.document.dressing import Frame
from engine.document.edits import AddFrame
from tests.app.canvas.conftest import Hands

NONE = Qt.KeyboardModifier.NoModifier
CONTROL = Qt.KeyboardModifier.ControlModifier
STILL = QPoint()


def _wheel(
    view: GraphView,
    place: QPoint,
    angle: QPoint = STILL,
    pixels: QPoint = STILL,
    modifiers: Qt.KeyboardModifier = NONE,
    phase: Qt.ScrollPhase = Qt.ScrollPhase.NoScrollPhase,
    inverted: bool = False,
) -> None:
    event = QWheelEvent(
        QPointF(place),
        QPointF(view.viewport().mapToGlobal(place)),
        pixels,
        angle,
        Qt.MouseButton.NoButton,
        modifiers,
        phase,
        inverted,
    )
    QApplication.sendEvent(view.viewport(), event)


def _finite(view: GraphView) -> bool:
    transform = view.transform()
    numbers = (transform.m11(), transform.m22(), view.navigation.centre.x(), view.navigation.centre.y())
    return all(math.isfinite(number) for number in numbers) and SMALLEST <= transform.m11() <= LARGEST


def test_the_wheel_zooms_about_the_cursor(view: GraphView, chain: None) -> None:
    place = QPoint(640, 130)
    before = view.mapToScene(place)
    for _ in range(6):
        _wheel(view, place, QPoint(0, 120))
    after = view.mapToScene(place)
    assert view.navigation.zoom > 1.5
    assert abs(after.x() - before.x()) < 2 and abs(after.y() - before.y()) < 2


def test_a_wheel_storm_leaves_the_view_finite(view: GraphView, chain: None) -> None:
    """E-11, V7: any mixture of deltas, zero ones included."""
    chance = random.Random(3)
    for _ in range(400):
        _wheel(
            view,
            QPoint(chance.randrange(900), chance.randrange(600)),
            QPoint(chance.choice((0, 0, 120, -7)), chance.choice((0, 1, -1, 120, -120, 100_000, -100_000))),
            QPoint(0, chance.choice((0, 3, -40))),
            chance.choice((NONE, CONTROL, Qt.KeyboardModifier.ShiftModifier)),
            chance.choice((Qt.ScrollPhase.NoScrollPhase, Qt.ScrollPhase.ScrollUpdate)),
            chance.random() < 0.5,
        )
        assert _finite(view)
    view.fit()
    assert _finite(view)


def test_small_steps_pass_100_percent(view: GraphView, chain: None) -> None:
    """A slow pinch."""
    view.navigation.set_zoom(1.01)
    for _ in range(40):
        view.navigation.zoom_by(0.999, QPointF(100, 100))
    assert abs(view.navigation.zoom - 1.01 * 0.999**40) < 1e-9
    view.navigation.set_zoom(1.0)
    view.navigation.zoom_by(1.2)
    view.navigation.zoom_by(1 / 1.2)
    assert view.navigation.zoom == 1.0


def test_zooming_out_and_in_and_half_pixels_of_panning_lead_back(view: GraphView, chain: None) -> None:
    view.navigation.set_zoom(1.0)
    view.navigation.centre_on(QPointF(251.3, 99.8))
    before, chance = view.navigation.centre, random.Random(5)
    steps = [
        (chance.uniform(0.9, 1.1), QPointF(chance.random() * 900, chance.random() * 600)) for _ in range(99)
    ]
    for factor, place in steps:
        view.navigation.zoom_by(factor, place)
    for factor, place in reversed(steps):
        view.navigation.zoom_by(1 / factor, place)
    assert (view.navigation.centre - before).manhattanLength() < 1e-6
    for _ in range(30):
        view.navigation.pan_by(0.4, -0.3)
    assert (view.navigation.centre - before - QPointF(-12, 9)).manhattanLength() < 1e-6
    assert abs(view.mapToScene(view.viewport().rect().center()).x() - view.navigation.centre.x()) <= 0.5


def test_two_fingers_pan_and_with_control_zoom(view: GraphView, chain: None) -> None:
    update = Qt.ScrollPhase.ScrollUpdate
    view.navigation.set_zoom(1.0)
    before = view.mapToScene(QPoint(0, 0))
    _wheel(view, QPoint(50, 50), QPoint(0, 0), QPoint(-30, 12), phase=update)
    after = view.mapToScene(QPoint(0, 0))
    assert (after.x() - before.x(), after.y() - before.y()) == (30, -12)
    _wheel(view, QPoint(50, 50), QPoint(0, 0), QPoint(0, 80), CONTROL, update)
    assert view.navigation.zoom > 1.2


def test_a_horizontal_wheel_pans(view: GraphView, chain: None) -> None:
    before = view.navigation.zoom, view.mapToScene(QPoint(0, 0)).x()
    _wheel(view, QPoint(50, 50), QPoint(120, 0))
    assert view.navigation.zoom == before[0] and view.mapToScene(QPoint(0, 0)).x() != before[1]


def test_middle_button_and_space_drag_pan(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    middle = Qt.MouseButton.MiddleButton
    start, end = QPoint(450, 320), QPoint(380, 370)
    before = view.mapToScene(start)
    QTest.mousePress(view.viewport(), middle, NONE, start)
    hands.move(end)
    QTest.mouseRelease(view.viewport(), middle, NONE, end)
    moved = view.mapToScene(end)
    assert abs(moved.x() - before.x()) < 1.5 and abs(moved.y() - before.y()) < 1.5
    QTest.keyPress(view, Qt.Key.Key_Space)
    hands.drag(end, start)
    QTest.keyRelease(view, Qt.Key.Key_Space)
    back = view.mapToScene(start)
    assert abs(back.x() - before.x()) < 1.5 and workspace.selection == ()


def test_fit_and_frame(view: GraphView, workspace: Workspace, hands: Hands, chain: None) -> None:
    view.navigation.set_zoom(4.0)
    hands.key(Qt.Key.Key_Home)
    for node_id in ("n1", "n2", "n3", "n4"):
        assert view.viewport().rect().contains(view.node_point(node_id))
    workspace.select(("n4",))
    hands.key(Qt.Key.Key_F)
    centre = view.viewport().rect().center()
    assert (view.node_point("n4") - centre).manhattanLength() < 4


def test_fit_of_nothing_and_in_no_room_is_harmless(view: GraphView, build: Callable[..., None]) -> None:
    view.fit()
    assert _finite(view)
    view.resize(0, 0)
    build([("n1", "Linear", 0, 0)])
    view.fit()
    view.frame_selection()
    _wheel(view, QPoint(0, 0), QPoint(0, 120))
    assert _finite(view)
    view.navigation.set_zoom(math.nan)
    view.navigation.zoom_by(math.inf)
    view.navigation.zoom_by(0.0)
    assert _finite(view)


def test_the_whole_graph_is_shown_until_the_user_moves_the_view(view: GraphView, chain: None) -> None:
    view.resize(400, 300)
    assert all(view.viewport().rect().contains(view.node_point(key)) for key in ("n1", "n3", "n4"))
    _wheel(view, QPoint(50, 50), QPoint(0, 120))
    zoom = view.navigation.zoom
    view.resize(700, 500)
    assert view.navigation.zoom == zoom


def test_the_map_goes_where_it_is_clicked(view: GraphView, build: Callable[..., None]) -> None:
    build([("n1", "Linear", 0, 0), ("n2", "Linear", 6000, 4000)])
    view.navigation.set_zoom(1.0)
    view.reveal("n1")
    scale, corner = view.minimap.placing(view.minimap.world())
    on_map = QPointF(6064, 4028) * scale + corner
    QTest.mouseClick(view.minimap, Qt.MouseButton.LeftButton, NONE, on_map.toPoint())
    assert view.viewport().rect().contains(view.node_point("n2"))
    view.set_minimap(False)
    view.set_status(False)
    assert view.minimap.isHidden() and view.status.isHidden()


def test_the_map_draws_frames(view: GraphView, workspace: Workspace, build: Callable[..., None]) -> None:
    build([("n1", "Linear", 0, 0), ("n2", "Linear", 6000, 4000)])
    before = view.minimap.grab().toImage()
    workspace.apply("Frame", AddFrame(Frame("f1", "Both", "blue", frozenset({"n1", "n2"}))))
    scale, corner = view.minimap.placing(view.minimap.world())
    top = view.graph_scene.dressing.frames["f1"].outline
    place = (QPointF(top.center().x(), top.top()) * scale + corner).toPoint()
    after = view.minimap.grab().toImage()
    near = [(place.x(), place.y() + step) for step in (-1, 0, 1)]
    assert any(after.pixelColor(*one) != before.pixelColor(*one) for one in near)


def test_the_map_draws_its_nodes_once_while_the_viewport_leaves_the_graph(
    view: GraphView, build: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    build([("n1", "Linear", 0, 0), ("n2", "Linear", 2000, 1000)])
    view.navigation.set_zoom(0.5)
    view.minimap.grab()
    monkeypatch.setattr(view.minimap, "_drawn", pytest.fail)
    before = view.minimap.placing(view.minimap.world())[0]
    view.navigation.pan_by(700, 400)
    scale, corner = view.minimap.placing(view.minimap.world())
    assert scale < before
    shown = view.minimap.grab().toImage()
    place = (QPointF(2064, 1028) * scale + corner).toPoint()
    beside = place - QPoint(0, 12)
    assert shown.pixelColor(place) != shown.pixelColor(beside)


def test_a_project_is_shown_from_where_it_was_left(
    view: GraphView, workspace: Workspace, chain: None, tmp_path: Path
) -> None:
    """E-12."""
    project = workspace.document.snapshot()
    first, second = tmp_path / "one.nloom", tmp_path / "two.nloom"
    workspace.document.replace(project.copy(), first)
    _wheel(view, QPoint(100, 100), QPoint(0, 240))
    zoom, centre = view.navigation.zoom, view.navigation.centre
    workspace.document.replace(project.copy(), second)
    assert view.navigation.zoom != zoom
    workspace.document.replace(project.copy(), first)
    assert abs(view.navigation.zoom - zoom) < 1e-3
    assert (view.navigation.centre - centre).manhattanLength() < 3
    other = GraphView(workspace)
    other.resize(900, 600)
    view.hide()
    workspace.document.replace(project.copy(), first)
    assert abs(other.navigation.zoom - zoom) < 1e-3
    other.deleteLater()


def test_what_is_hidden_stays_hidden_next_time(view: GraphView, workspace: Workspace, chain: None) -> None:
    view.set_minimap(False)
    view.set_status(False)
    view.set_snapping(False)
    other = GraphView(workspace)
    assert other.minimap.isHidden() and other.status.isHidden() and not other.snapping
    other.deleteLater()


def test_dragging_to_the_edge_moves_the_canvas_along(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None, qtbot: QtBot
) -> None:
    left = view.visible_rect().left()
    hands.lift(view.node_point("n4"), QPoint(view.viewport().width() + 20, 300))
    qtbot.waitUntil(lambda: view.visible_rect().left() > left + 60, timeout=3000)
    hands.release(QPoint(view.viewport().width() - 40, 300))
    item = view.graph_scene.node_items["n4"]
    assert view.visible_rect().contains(item.pos()) and item.x() > 450
    settled = view.visible_rect().left()
    qtbot.wait(80)
    assert view.visible_rect().left() == settled


def test_a_pinch_zooms(view: GraphView, chain: None) -> None:
    before = view.navigation.zoom
    place = QPointF(300, 200)
    event = QNativeGestureEvent(
        Qt.NativeGestureType.ZoomNativeGesture,
        QPointingDevice.primaryPointingDevice(),
        2,
        place,
        place,
        view.viewport().mapToGlobal(place),
        -0.25,
        QPointF(),
    )
    QApplication.sendEvent(view.viewport(), event)
    assert abs(view.navigation.zoom - before * 0.75) < 1e-6
