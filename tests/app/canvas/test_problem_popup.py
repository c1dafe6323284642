"""The popup at a node's badge: what is wrong, and a button that fixes it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from app.canvas.menu import canvas_menu
from app.canvas.view import GraphView
from app.workspace.workspace import Workspace
from engine.document.edits import SetParam
from tests.app.canvas.conftest import Hands


@pytest.fixture
def wrong(workspace: Workspace, view: GraphView, build: Callable[..., None]) -> Workspace:
    """Softmax before cross-entropy: a problem with a fix."""
    from engine.shapes.shapes import ShapeBook

    workspace.shapes = ShapeBook(workspace.catalogue)
    build(
        [
            ("n1", "Digits", 0, 0),
            ("n2", "Flatten", 200, 0),
            ("n3", "Linear", 400, 0),
            ("n4", "Softmax", 400, 120),
            ("n5", "CrossEntropy", 600, 120),
        ],
        [
            ("n1", "image", "n2", "x"),
            ("n2", "output", "n3", "x"),
            ("n3", "output", "n4", "x"),
            ("n4", "output", "n5", "prediction"),
            ("n1", "digit", "n5", "target"),
        ],
    )
    workspace.apply("Units", SetParam("n3", "units", 10))
    workspace.document.replace(workspace.document.snapshot())
    view.fit()
    return workspace


def _mendable(view: GraphView) -> str:
    scene = view.graph_scene
    return next(one for one in scene.node_items if any(p.fix for p in scene.problems_of(one)))


def _badge(view: GraphView, node_id: str) -> QPoint:
    item = view.graph_scene.node_items[node_id]
    return view.mapFromScene(item.mapToScene(item.badge_place()))


def test_a_click_on_the_badge_lists_problems_and_a_fix_is_one_step(
    view: GraphView, wrong: Workspace, hands: Hands
) -> None:
    node_id = _mendable(view)
    before = wrong.document.project.graph.nodes, wrong.document.project.graph.links
    hands.click(_badge(view, node_id))
    popup = view.problems
    assert popup.isVisible() and view.rect().contains(popup.geometry())
    problems = view.graph_scene.problems_of(node_id)
    assert len([one for one in popup.findChildren(QLabel) if one.text()]) == len(problems)
    fixes = [problem.fix for problem in problems if problem.fix is not None]
    assert [button.text() for button in popup.buttons()] == [fix.label for fix in fixes]
    QTest.mouseClick(popup.buttons()[0], Qt.MouseButton.LeftButton)
    assert not popup.isVisible() and view.hasFocus()
    assert wrong.document.undo_label == fixes[0].label
    wrong.undo()
    assert wrong.document.undo_label is None
    assert (wrong.document.project.graph.nodes, wrong.document.project.graph.links) == before


def test_the_keyboard_opens_mends_and_closes(view: GraphView, wrong: Workspace, hands: Hands) -> None:
    node_id = _mendable(view)
    wrong.select((node_id,))
    hands.key(Qt.Key.Key_Period)
    assert view.problems.isVisible()
    button = view.problems.buttons()[0]
    assert button.hasFocus()
    QTest.keyClick(button, Qt.Key.Key_Escape)
    assert not view.problems.isVisible() and view.hasFocus() and wrong.selection == (node_id,)
    hands.key(Qt.Key.Key_Period)
    QTest.keyClick(view.problems.buttons()[0], Qt.Key.Key_Return)
    assert not view.problems.isVisible() and wrong.document.undo_label is not None


def test_the_menu_has_it_only_where_something_is_wrong(view: GraphView, wrong: Workspace) -> None:
    clean = next(one for one in view.graph_scene.node_items if not view.graph_scene.problems_of(one))
    for node_id, expected in ((_mendable(view), True), (clean, False)):
        wrong.select((node_id,))
        menu = canvas_menu(view, QPointF())
        entries = [action for action in menu.actions() if action.text().startswith("Problems…")]
        assert bool(entries) is expected
        if entries:
            entries[0].trigger()
            assert view.problems.isVisible()
            view.problems.dismiss()
        menu.deleteLater()


def test_a_press_elsewhere_closes_it_and_a_drag_of_the_badge_moves_the_node(
    view: GraphView, wrong: Workspace, hands: Hands
) -> None:
    node_id = _mendable(view)
    place = _badge(view, node_id)
    hands.click(place)
    assert view.problems.isVisible()
    hands.click(QPoint(5, 5))
    assert not view.problems.isVisible()
    hands.drag(place, place + QPoint(0, 64))
    assert not view.problems.isVisible() and wrong.document.undo_label == "Move"
