"""The scene follows the document change by change and equals one that is built anew."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from app.canvas.items.geometry import SNAP, WIDEST, WIDTH
from app.canvas.items.routing import Route, find_route
from app.canvas.scene import wires
from app.canvas.scene.scene import GraphScene
from app.canvas.scene.tips import tip_at
from app.canvas.view import GraphView
from app.theme import current_theme
from app.workspace.workspace import Workspace
from engine.document import blocks
from engine.document.dressing import COLOURS, Frame, Note
from engine.document.edits import (
    UNSET,
    AddFrame,
    AddNodes,
    AddNote,
    ChangeFrame,
    ChangeNote,
    Connect,
    Disconnect,
    Edit,
    Move,
    Remove,
    RemoveFrame,
    RemoveNote,
    Rename,
    SetBends,
    SetMuted,
    SetParam,
    SetShares,
)
from engine.document.graph import Link, Node
from engine.errors import GraphError
from tests.app.canvas.conftest import picture

DRESSING = ("mute", "bend", "frame", "note", "share")
TYPES = ("Digits", "Linear", "Conv2d", "Flatten", "Add", "CrossEntropy", "Softmax", "NoSuchType")


def _random_edit(chance: random.Random, workspace: Workspace) -> Edit | None:
    project = workspace.document.project
    graph = workspace.graph
    ids = list(graph.nodes)
    kind = chance.choice(
        ("add", "add", "add", "remove", "link", "link", "link", "cut", "move", "name", "param", *DRESSING)
    )
    if kind == "add" or not ids:
        place = (chance.randrange(-3, 6) * 100.0, chance.randrange(-3, 6) * 75.0)
        return AddNodes((Node(project.new_id(), chance.choice(TYPES), "", {}, place),), into=workspace.scope)
    one = chance.choice(ids)
    if kind == "remove":
        return Remove(tuple(chance.sample(ids, min(len(ids), chance.randint(1, 3)))))
    if kind == "link":
        other = chance.choice(ids)
        port = "x1" if graph.nodes[other].type == "Add" and chance.random() < 0.5 else "x"
        source_port = "image" if graph.nodes[one].type == "Digits" else "output"
        return Connect(Link(one, source_port, other, port))
    if kind == "cut":
        return Disconnect(chance.choice(graph.links)) if graph.links else None
    if kind == "move":
        return Move(
            {key: (chance.randrange(-500, 900), chance.randrange(-300, 500)) for key in chance.sample(ids, 1)}
        )
    if kind == "name":
        return Rename(one, chance.choice(("", "a", "a much longer name than fits", "层")))
    if kind in DRESSING:
        return _random_dressing(chance, kind, workspace)
    return SetParam(one, "units", chance.choice((1, 64, UNSET, -5, "many")))


def _random_dressing(chance: random.Random, kind: str, workspace: Workspace) -> Edit | None:
    """An edit of what lies beside nodes and wires, or of how a node counts."""
    project, graph, scope = workspace.document.project, workspace.graph, workspace.scope
    ids = list(graph.nodes)
    some = frozenset(chance.sample(ids, min(len(ids), chance.randint(1, 3))))
    place = (chance.randrange(-3, 6) * 100.0, chance.randrange(-3, 6) * 75.0)
    if kind == "mute":
        return SetMuted(tuple(some), chance.random() < 0.6)
    if kind == "bend":
        points = tuple(
            (chance.randrange(-300, 600), chance.randrange(-300, 400)) for _ in range(chance.randrange(3))
        )
        return SetBends(chance.choice(graph.links), points) if graph.links else None
    if kind == "share":
        return SetShares(chance.choice(ids), chance.choice([*ids, ""]))
    if kind == "frame":
        frames = list(project.frames.values())
        if frames and chance.random() < 0.3:
            return RemoveFrame(chance.choice(frames).id)
        if frames and chance.random() < 0.5:
            frame = chance.choice(frames)
            return ChangeFrame(replace(frame, title="other", members=some)) if frame.scope == scope else None
        return AddFrame(Frame(project.new_id("f"), "frame", chance.choice(COLOURS), some, scope))
    notes = list(project.notes_on_canvas.values())
    if notes and chance.random() < 0.3:
        return RemoveNote(chance.choice(notes).id)
    if notes and chance.random() < 0.5:
        return ChangeNote(replace(chance.choice(notes), text="*other*", position=place, size=(96, 64)))
    return AddNote(Note(project.new_id("t"), "# note", place, (160, 80), scope))


def _random_block(chance: random.Random, workspace: Workspace) -> None:
    """Groups, ungroups, enters or leaves."""
    project, graph = workspace.document.project, workspace.graph
    instances = [key for key, node in graph.nodes.items() if node.block]
    roll = chance.random()
    if roll < 0.35 and len(graph.nodes) > 2:
        ids = chance.sample(list(graph.nodes), chance.randint(1, 3))
        make = partial(blocks.group, project, ids)
    elif roll < 0.5 and instances:
        make = partial(blocks.ungroup, project, chance.choice(instances))
    elif roll < 0.6 and instances:
        make = partial(blocks.copy_independent, project, chance.choice(instances))
    elif roll < 0.8 and instances:
        workspace.enter(graph.nodes[chance.choice(instances)].block)
        return
    else:
        workspace.enter("")
        return
    try:
        edits = make()
    except GraphError:
        return
    workspace.apply("Edit", *edits)


@pytest.mark.parametrize("seed", range(4))
def test_after_random_edits_the_scene_equals_one_built_from_the_document(
    view: GraphView, workspace: Workspace, seed: int
) -> None:
    chance = random.Random(seed)
    refused: list[str] = []
    workspace.message.connect(lambda text, kind: refused.append(text))
    for step in range(150):
        roll = chance.random()
        if roll < 0.12:
            workspace.undo()
        elif roll < 0.2:
            workspace.redo()
        else:
            edit = _random_edit(chance, workspace)
            if edit is not None:
                workspace.apply("Edit", edit)
        if chance.random() < 0.1:
            _random_block(chance, workspace)
        nodes = list(workspace.graph.nodes)
        workspace.select(chance.sample(nodes, min(len(nodes), 2)))
        if step % 10 == 9:
            fresh = GraphView(workspace)
            assert picture(view) == picture(fresh)
            fresh.deleteLater()
    assert len(view.graph_scene.node_items) == len(workspace.graph.nodes)
    assert set(view.graph_scene.link_items) == set(workspace.graph.links)


def test_undoing_everything_leaves_an_empty_scene(view: GraphView, workspace: Workspace) -> None:
    chance = random.Random(7)
    for _ in range(60):
        edit = _random_edit(chance, workspace)
        if edit is not None:
            workspace.apply("Edit", edit)
    while workspace.document.undo() is not None:
        pass
    assert not view.graph_scene.items()
    while workspace.document.redo() is not None:
        pass
    fresh = GraphView(workspace)
    assert picture(view) == picture(fresh)
    fresh.deleteLater()


def test_a_document_can_be_replaced_while_its_scene_is_shown(
    view: GraphView, chain: None, build: Callable[..., None]
) -> None:
    build([("n1", "Linear", 0, 0)])
    assert set(view.graph_scene.node_items) == {"n1"} and not view.graph_scene.link_items
    assert len(view.graph_scene.items()) == 1


def test_ports_that_take_many_show_the_linked_ones_and_a_free_one(
    view: GraphView, workspace: Workspace, build: Callable[..., None]
) -> None:
    build([("n1", "Linear", 0, 0), ("n2", "Linear", 0, 100), ("n3", "Add", 300, 0)])
    item = view.graph_scene.node_items["n3"]
    assert [spot.name for spot in item.face.layout.inputs] == ["x1"]
    workspace.apply(
        "Connect", Connect(Link("n1", "output", "n3", "x1")), Connect(Link("n2", "output", "n3", "x2"))
    )
    assert [spot.name for spot in item.face.layout.inputs] == ["x1", "x2", "x3"]
    workspace.apply("Disconnect", Disconnect(Link("n1", "output", "n3", "x1")))
    assert [spot.name for spot in item.face.layout.inputs] == ["x1", "x2"]


def test_an_unknown_type_is_a_placeholder_with_the_ports_its_wires_use(
    view: GraphView, build: Callable[..., None]
) -> None:
    build(
        [("n1", "Linear", 0, 0), ("n2", "Mystery", 200, 0), ("n3", "Linear", 400, 0)],
        [("n1", "output", "n2", "strange"), ("n2", "odd", "n3", "x")],
    )
    face = view.graph_scene.node_items["n2"].face
    assert not face.known and "Mystery" in face.summary
    assert [spot.name for spot in face.layout.inputs] == ["strange"]
    assert [spot.name for spot in face.layout.outputs] == ["odd"]
    view.grab()


def test_a_scene_far_from_the_origin_is_reachable(view: GraphView, build: Callable[..., None]) -> None:
    build([("n1", "Linear", -50_000, -50_000), ("n2", "Linear", 0, 0)])
    view.reveal("n1")
    assert view.viewport().rect().contains(view.node_point("n1"))


def test_a_scene_without_a_view_needs_no_engine(workspace: Workspace, chain: None) -> None:
    scene = GraphScene(workspace)
    assert len(scene.node_items) == 4 and len(scene.link_items) == 2
    scene.deleteLater()


def test_wires_that_undo_brings_back_go_their_old_ways_without_a_search(
    view: GraphView, workspace: Workspace, build: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = [(f"n{index}", "Linear", index * 150.0, 0.0) for index in range(1, 30)]
    links = [(f"n{index}", "output", f"n{index + 1}", "x") for index in range(1, 29)]
    build(nodes, links)
    before = picture(view)
    searched: list[tuple[object, ...]] = []

    def counted(*asked: object) -> Route:
        searched.append(asked)
        return find_route(*asked)  # type: ignore[arg-type]

    monkeypatch.setattr(wires, "find_route", counted)
    workspace.apply("Delete", Remove(tuple(f"n{index}" for index in range(5, 25))))
    searched.clear()
    workspace.undo()
    assert not searched and picture(view) == before


def test_a_kept_way_is_not_taken_once_something_stands_in_it(
    view: GraphView, workspace: Workspace, build: Callable[..., None]
) -> None:
    build([("n1", "Linear", 0, 0), ("n2", "Linear", 600, 0)], [("n1", "output", "n2", "x")])
    link = next(iter(view.graph_scene.link_items))
    workspace.apply("Cut", Disconnect(link))
    workspace.apply("Add", AddNodes((Node("n3", "Linear", "", {}, (300, 0)),)))
    workspace.apply("Join", Connect(link))
    assert not view.graph_scene.link_items[link].route.curved
    twin = GraphScene(workspace)
    assert twin.link_items[link].route == view.graph_scene.link_items[link].route


def test_no_free_port_below_a_wired_one_has_a_label_in_the_wires_way(
    view: GraphView, workspace: Workspace, build: Callable[..., None]
) -> None:
    build([("n1", "Digits", 0, 0), ("n2", "CrossEntropy", 600, 200)])
    item = view.graph_scene.node_items["n1"]

    def named() -> list[str]:
        return [spot.name for spot in item._named_outputs()]

    assert named() == ["profile", "digit", "odd"]
    workspace.apply("Connect", Connect(Link("n1", "digit", "n2", "target")))
    assert named() == ["profile", "digit"]
    item.show_hovered(True)
    assert named() == ["profile", "digit", "odd"]
    item.show_hovered(False)
    workspace.apply("Disconnect", Disconnect(Link("n1", "digit", "n2", "target")))
    assert named() == ["profile", "digit", "odd"]
    view.graph_scene.detail.zoom = 0.68
    assert named() == []
    item.show_hovered(True)
    assert named() == ["profile", "digit", "odd"]


def test_a_node_is_as_wide_as_its_name_needs(
    view: GraphView, workspace: Workspace, build: Callable[..., None]
) -> None:
    build([("n1", "Linear", 0, 0), ("n2", "Linear", 200, 0)], [("n1", "output", "n2", "x")])
    item = view.graph_scene.node_items["n1"]
    assert item.face.layout.width == WIDTH
    workspace.apply("Rename", Rename("n1", "classification head"))
    wide = item.face.layout.width
    assert WIDTH < wide < WIDEST and wide % SNAP == 0
    assert view.port_point("n1", "output", "out") == view.mapFromScene(wide, 28)
    assert view.graph_scene.link_items[Link("n1", "output", "n2", "x")].route.points[0] == (wide, 28)
    item.show_facts("1,234,567", None)
    assert item._fitted(current_theme()) == ("classification head", item.face.summary, "")
    assert "1,234,567 parameters" in tip_at(view, view.node_point("n1"))
    workspace.apply("Rename", Rename("n1", "the head that tells the classes apart"))
    assert item.face.layout.width == WIDEST and item.shortened
