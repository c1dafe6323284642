"""Whatever is pressed, in whatever order, the canvas shows the document and nothing else."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest

from app.canvas.view import GraphView
from app.workspace.workspace import Workspace
from tests.app.canvas.conftest import Hands, picture

NONE = Qt.KeyboardModifier.NoModifier
CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
ALT = Qt.KeyboardModifier.AltModifier
KEYS = (
    (Qt.Key.Key_Escape, NONE),
    (Qt.Key.Key_Delete, NONE),
    (Qt.Key.Key_Delete, CONTROL),
    (Qt.Key.Key_Z, CONTROL),
    (Qt.Key.Key_Z, CONTROL),
    (Qt.Key.Key_Y, CONTROL),
    (Qt.Key.Key_A, CONTROL),
    (Qt.Key.Key_C, CONTROL),
    (Qt.Key.Key_X, CONTROL),
    (Qt.Key.Key_V, CONTROL),
    (Qt.Key.Key_D, CONTROL),
    (Qt.Key.Key_C, NONE),
    (Qt.Key.Key_F, NONE),
    (Qt.Key.Key_Home, NONE),
    (Qt.Key.Key_M, NONE),
    (Qt.Key.Key_G, CONTROL),
    (Qt.Key.Key_G, CONTROL | SHIFT),
    (Qt.Key.Key_F, CONTROL | SHIFT),
    (Qt.Key.Key_D, SHIFT),
    (Qt.Key.Key_F2, NONE),
    (Qt.Key.Key_Tab, NONE),
    (Qt.Key.Key_Right, NONE),
    (Qt.Key.Key_Down, ALT),
)
MOST_NODES = 40


def _place(chance: random.Random, view: GraphView) -> QPoint:
    """Somewhere on the canvas, mostly where something is."""
    if chance.random() < 0.15:
        scene = view.graph_scene
        spots = [item.strip().center() for item in scene.dressing.frames.values()]
        spots += [item.rect().bottomRight() - QPointF(4, 4) for item in scene.dressing.notes.values()]
        spots += [QPointF(*bend) for item in scene.link_items.values() for bend in item.route.bends]
        if spots:
            return view.mapFromScene(chance.choice(spots))
    items = list(view.graph_scene.node_items.values())
    if not items or chance.random() < 0.3:
        return QPoint(chance.randrange(900), chance.randrange(600))
    item = chance.choice(items)
    layout = item.face.layout
    spots = [*layout.inputs, *layout.outputs]
    if spots and chance.random() < 0.6:
        spot = chance.choice(spots)
        return view.mapFromScene(item.x() + spot.x, item.y() + spot.y)
    return view.node_point(item.node_id)


def _act(chance: random.Random, view: GraphView, hands: Hands) -> None:
    roll = chance.random()
    modifiers = chance.choice((NONE, NONE, NONE, CONTROL, SHIFT, ALT))
    if view.popup.active and roll < 0.6:
        QTest.keyClicks(view.popup.field, chance.choice(("lin", "conv", "add", "cross", "zzz")))
        QTest.keyClick(view.popup.field, chance.choice((Qt.Key.Key_Return, Qt.Key.Key_Escape)))
    elif view.naming.owner is not None and roll < 0.6:
        QTest.keyClicks(view.naming.field, "name")
        QTest.keyClick(view.naming.field, chance.choice((Qt.Key.Key_Return, Qt.Key.Key_Escape)))
    elif view.noting.owner is not None and roll < 0.6:
        QTest.keyClicks(view.noting.field, "note")
        QTest.keyClick(view.noting.field, chance.choice((Qt.Key.Key_F, Qt.Key.Key_Escape)))
    elif roll < 0.02:
        view.compose.add_note()
    elif roll < 0.03:
        chance.choice((view.compose.unframe, view.compose.link_weights, view.compose.make_independent))()
    elif roll < 0.25:
        hands.drag(_place(chance, view), _place(chance, view), modifiers)
    elif roll < 0.4:
        hands.lift(_place(chance, view), _place(chance, view), modifiers)
    elif roll < 0.5:
        hands.release(_place(chance, view), modifiers)
    elif roll < 0.6:
        hands.click(_place(chance, view), modifiers)
    elif roll < 0.63:
        hands.stroke(_place(chance, view), _place(chance, view), chance.choice((CONTROL, SHIFT)))
    elif roll < 0.67:
        QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, NONE, _place(chance, view))
    else:
        hands.key(*chance.choice(KEYS))


@pytest.mark.parametrize("seed", range(4))
def test_random_gestures_and_keys(
    view: GraphView, workspace: Workspace, hands: Hands, build: Callable[..., None], seed: int
) -> None:
    chance = random.Random(seed)
    kinds = ("Digits", "Linear", "Conv2d", "Add", "CrossEntropy", "LSTM", "Mystery")
    build([(f"n{i}", chance.choice(kinds), i % 4 * 200, i // 4 * 140) for i in range(1, 9)])
    for step in range(200):
        _act(chance, view, hands)
        if len(workspace.graph.nodes) > MOST_NODES:
            workspace.undo()
        if step % 20 == 19:
            hands.key(Qt.Key.Key_Escape)
            if view.popup.active:
                view.popup.dismiss()
            view.naming.finish(keep=False)
            view.noting.finish(keep=False)
            view.cancel_interaction()
            fresh = GraphView(workspace)
            assert picture(view) == picture(fresh)
            fresh.deleteLater()
            view.grab()
    while workspace.document.undo() is not None:
        pass
    assert len(workspace.document.project.graph.nodes) == 8 and not workspace.document.project.graph.links


def test_every_type_can_be_put_on_the_canvas(view: GraphView, workspace: Workspace) -> None:
    """A-3."""
    said: list[str] = []
    workspace.message.connect(lambda text, kind: said.append(text))
    for found in workspace.catalogue.types():
        assert view.add_node(found.type_id, None) is not None
    view.fit()
    view.grab()
    assert not said and len(view.graph_scene.node_items) == len(workspace.catalogue.types())
