"""Nothing on the canvas outlives what it shows."""

from __future__ import annotations

import gc
import random
import subprocess
import sys
import weakref

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from app.canvas.view import GraphView
from app.workspace.workspace import Workspace
from engine.document.edits import AddNodes, Connect, Remove
from engine.document.graph import Link, Node
from tests.app.canvas.conftest import Hands


def test_two_hundred_deleted_nodes_leave_no_item_alive(
    view: GraphView, workspace: Workspace, qtbot: QtBot
) -> None:
    """M2."""
    alive: list[weakref.ref[object]] = []
    for _ in range(200):
        first, second = workspace.document.project.new_id(), workspace.document.project.new_id()
        workspace.apply("Add", AddNodes((Node(first, "Linear"), Node(second, "Linear", "", {}, (200, 0)))))
        workspace.apply("Connect", Connect(Link(first, "output", second, "x")))
        workspace.select((first,))
        view.grab(view.viewport().rect().adjusted(0, 0, -800, -500))
        scene = view.graph_scene
        alive += [weakref.ref(item) for item in (*scene.node_items.values(), *scene.link_items.values())]
        workspace.apply("Delete", Remove((first, second)))
    gc.collect()
    assert len(alive) == 600 and not [ref for ref in alive if ref() is not None]
    assert not view.graph_scene.items()


def test_a_deleted_node_may_be_hovered_and_pressed_at_once(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    """M4."""
    place = view.node_point("n2")
    hands.move(place)
    assert view.graph_scene.node_items["n2"].hovered
    workspace.apply("Delete", Remove(("n2",)))
    hands.move(place + QPoint(1, 1))
    hands.click(place)
    workspace.undo()
    hands.move(place + QPoint(2, 2))
    assert view.graph_scene.node_items["n2"].hovered


def test_a_node_that_comes_back_under_the_cursor_is_lit_again(
    view: GraphView, workspace: Workspace, hands: Hands, chain: None
) -> None:
    place = view.node_point("n2")
    hands.move(place)
    workspace.apply("Delete", Remove(("n2",)))
    workspace.undo()
    hands.move(place + QPoint(2, 2))
    assert view.graph_scene.node_items["n2"].hovered


def test_closed_views_are_freed_with_all_their_items(workspace: Workspace, qtbot: QtBot, chain: None) -> None:
    view = GraphView(workspace)
    ref, item = weakref.ref(view), weakref.ref(view.graph_scene.node_items["n1"])
    view.close()
    view.deleteLater()
    del view
    qtbot.wait(1)
    gc.collect()
    assert ref() is None and item() is None


INDEX_PROOF = """
import random, sys
from pathlib import Path
from PySide6.QtWidgets import QApplication
app = QApplication([])
from app.canvas.view import GraphView
from app.workspace.places import Places
from app.workspace.workspace import Workspace
from engine.document.edits import *
from engine.document.graph import Link, Node
workspace = Workspace(Places.under(Path(sys.argv[1])))
view = GraphView(workspace)
view.resize(600, 400)
view.show()
chance = random.Random(11)
for step in range(1000):
    project = workspace.document.project
    ids = list(project.graph.nodes)
    kind = chance.choice("aaarmnlpz")
    if kind == "a" or len(ids) < 3:
        place = (chance.randrange(-400, 800), chance.randrange(-300, 500))
        edit = AddNodes((Node(project.new_id(), chance.choice(("Linear", "Add", "Mnist")), "", {}, place),))
    elif kind == "r":
        edit = Remove((chance.choice(ids),))
    elif kind == "m":
        edit = Move({chance.choice(ids): (chance.randrange(-400, 800), chance.randrange(-300, 500))})
    elif kind == "n":
        edit = Rename(chance.choice(ids), "x" * chance.randrange(30))
    elif kind == "l":
        source, target = chance.choice(ids), chance.choice(ids)
        edit = Connect(Link(source, "output", target, chance.choice(("x", "x1", "x2"))))
    elif kind == "p":
        edit = SetParam(chance.choice(ids), "units", chance.randrange(1, 9))
    else:
        workspace.undo()
        edit = None
    if edit is not None:
        workspace.apply("Edit", edit)
    view.navigation.zoom_by(chance.choice((0.8, 1.25)))
    if step % 3 == 0:
        app.processEvents()
    if len(ids) > 25:
        workspace.apply("Delete", Remove(tuple(ids[:20])))
view.close()
workspace.close()
"""


def test_a_thousand_changes_in_a_shown_view_do_not_upset_the_index(tmp_path: object) -> None:
    """The BSP index is only safe while every change of a rectangle is announced first."""
    run = subprocess.run(
        [sys.executable, "-c", INDEX_PROOF, str(tmp_path)], capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr[-2000:]


def test_an_idle_canvas_paints_nothing(
    view: GraphView, chain: None, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.canvas.scene import scene as scene_module

    painted: list[object] = []
    original = scene_module.paint_grid

    def counted(*args: object) -> None:
        painted.append(args)
        original(*args)

    qtbot.wait(60)
    monkeypatch.setattr(scene_module, "paint_grid", counted)
    qtbot.wait(120)
    assert not painted


def test_only_what_changed_is_painted(
    view: GraphView, workspace: Workspace, chain: None, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.canvas.items.node_item import NodeItem

    painted: list[str] = []
    original = NodeItem._paint_body

    def counted(item: NodeItem, *args: object) -> None:
        painted.append(item.node_id)
        original(item, *args)

    qtbot.wait(60)
    monkeypatch.setattr(NodeItem, "_paint_body", counted)
    workspace.select(("n4",))
    qtbot.wait(60)
    assert set(painted) == {"n4"}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_painting_works_at_every_zoom_and_in_both_themes(view: GraphView, chain: None, theme: str) -> None:
    from app.theme import set_theme, themes

    before = themes.current.name
    set_theme(theme)
    view.graph_scene.node_items["n2"].show_facts("1,234", ("error", "wrong"))
    view.graph_scene.node_items["n3"].show_facts("", ("warning", "odd"))
    random.seed(0)
    for zoom in (0.05, 0.39, 0.41, 1.0, 4.0):
        view.navigation.set_zoom(zoom)
        image = view.grab().toImage()
        assert (
            image.pixelColor(2, 2) == themes.current.canvas or image.pixelColor(3, 3) == themes.current.canvas
        )
    set_theme(before)
    assert view.windowState() == Qt.WindowState.WindowNoState
