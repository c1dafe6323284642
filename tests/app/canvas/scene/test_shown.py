"""Live views and shapes on wires, as the user wants them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QPointF

from app.canvas.items.link_item import LabelItem
from app.canvas.menu import canvas_menu
from app.canvas.scene.tips import tip_at
from app.canvas.view import GraphView
from app.workspace.watching import watching
from app.workspace.workspace import Workspace
from engine.document.graph import Link
from engine.feed.feed import Probe
from tests.app.canvas.conftest import Hands
from tests.app.canvas.scene.test_thumbnails import _snapshot
from tests.app.fake_run import RestingTrainer

WIRE = Link("n1", "image", "n2", "x")


@pytest.fixture
def labelled(workspace: Workspace, view: GraphView, build: Callable[..., None]) -> Workspace:
    from engine.shapes.shapes import ShapeBook

    workspace.shapes = ShapeBook(workspace.catalogue)
    build([("n1", "Digits", 0, 0), ("n2", "Flatten", 260, 0)], [("n1", "image", "n2", "x")])
    view.fit()
    return workspace


def _label(view: GraphView) -> LabelItem:
    found = view.graph_scene.link_items[WIRE].label
    assert found is not None
    return found


def _on_wire(view: GraphView) -> QPoint:
    line = view.graph_scene.link_items[WIRE].polyline()
    (ax, ay), (bx, by) = line[0], line[-1]
    return view.mapFromScene((ax + bx) / 2, (ay + by) / 2)


def _switch(view: GraphView, text: str) -> None:
    menu = canvas_menu(view, QPointF())
    next(action for action in menu.actions() if action.text() == text).trigger()
    menu.deleteLater()


def test_shapes_on_hover_or_selection_only(view: GraphView, labelled: Workspace, hands: Hands) -> None:
    assert _label(view).isVisible()
    _switch(view, "Shapes on all wires")
    assert not _label(view).isVisible()
    hands.move(_on_wire(view))
    assert _label(view).isVisible() and "1×8×8" in tip_at(view, _on_wire(view))
    hands.move(QPoint(5, 5))
    assert not _label(view).isVisible()
    hands.click(_on_wire(view))
    hands.move(QPoint(5, 5))
    assert view.graph_scene.selected_links == {WIRE} and _label(view).isVisible()
    view.graph_scene.choose_nothing()
    assert not _label(view).isVisible()
    _switch(view, "Shapes on all wires")
    assert _label(view).isVisible()


def test_a_choice_holds_for_a_canvas_opened_later(view: GraphView, labelled: Workspace) -> None:
    view.shown.set_labels(False)
    other = GraphView(labelled)
    try:
        assert not _label(other).isVisible()
    finally:
        other.close()
        other.deleteLater()


def test_live_views_can_be_switched_off(
    view: GraphView, workspace: Workspace, build: Callable[..., None]
) -> None:
    trainer = RestingTrainer()
    workspace.trainer = trainer
    build([("n1", "Conv2d", 0, 0), ("n3", "CrossEntropy", 400, 0)])
    trainer.feed.put(Probe("n1", "activations"), _snapshot(8, 5, 5))
    trainer.feed.append("train_loss", 1, 0.1, 0.1, 0.04127)
    workspace.engine_ready.emit()
    items = view.graph_scene.node_items
    assert items["n1"].thumbnail is not None and trainer.watched
    _switch(view, "Live views")
    assert items["n1"].thumbnail is None and items["n3"].value
    assert not watching(workspace).union
    workspace.engine_ready.emit()
    assert items["n1"].thumbnail is None
    _switch(view, "Live views")
    assert items["n1"].thumbnail is not None
