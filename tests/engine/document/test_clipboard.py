"""Copied nodes are text that pastes anywhere, whole or not at all."""

from __future__ import annotations

import json

import pytest

from engine.document.blocks import group
from engine.document.clipboard import copy_text, paste
from engine.document.document import Document
from engine.document.dressing import Frame, Note
from engine.document.edits import (
    AddFrame,
    AddNodes,
    AddNote,
    Remove,
    RemoveBlock,
    Rename,
    SetBends,
    SetMuted,
    SetParam,
    SetShares,
)
from engine.document.files import from_text, to_text
from engine.document.graph import Graph, Link, Node, Project
from engine.errors import GraphError, ProjectFileError

AB, BC = Link("n1", "output", "n2", "x"), Link("n2", "output", "n3", "x")


@pytest.fixture
def document() -> Document:
    nodes = [
        Node("n1", "Linear", "dense1", {"units": 64}, (0.0, 0.0)),
        Node("n2", "HyperConv9", "层", {"kernel": (3, 5)}, (100.0, 0.0), {"pinned": True}),
        Node("n3", "Linear", "", {}, (200.0, 40.0)),
    ]
    return Document(Project(graph=Graph(nodes, [AB, BC]), next_id=4))


def test_a_copy_pastes_with_new_ids_the_links_inside_and_everything_it_holds(document: Document) -> None:
    ids = paste(document, copy_text(document.project, ["n2", "n1"]), (50, 200))
    assert ids == ("n4", "n5")
    graph = document.project.graph
    assert graph.node("n4") == Node("n4", "Linear", "dense2", {"units": 64}, (0.0, 200.0))
    assert graph.node("n5") == Node(
        "n5", "HyperConv9", "层1", {"kernel": (3, 5)}, (100.0, 200.0), {"pinned": True}
    )
    assert graph.links == (AB, BC, Link("n4", "output", "n5", "x"))


def test_one_connected_node_is_copied_without_its_wires(document: Document) -> None:
    (id,) = paste(document, copy_text(document.project, ["n2"]), (0, 100))
    assert document.project.graph.incoming(id) == document.project.graph.outgoing(id) == []


def test_a_paste_of_twelve_nodes_is_one_step() -> None:
    document = Document()
    nodes = tuple(Node(document.project.new_id(), "Linear") for _ in range(12))
    with document.step("Add"):
        document.apply(AddNodes(nodes))
    text = copy_text(document.project, [node.id for node in nodes])
    assert len(paste(document, text, (500, 500))) == 12
    assert len(document.project.graph.nodes) == 24
    assert document.undo() == "Paste"
    assert list(document.project.graph.nodes) == [node.id for node in nodes]
    document.redo()
    assert len(document.project.graph.nodes) == 24


def test_pasting_again_and_again_never_hides_a_node_under_another(document: Document) -> None:
    text = copy_text(document.project, ["n1", "n2", "n3"])
    for _ in range(5):
        paste(document, text, (100, 20))
    places = [node.position for node in document.project.graph.nodes.values()]
    assert len(set(places)) == len(places) == 18
    names = [node.name for node in document.project.graph.nodes.values() if node.name]
    assert len(set(names)) == len(names)


def test_a_copy_pastes_into_another_document_and_stays_independent(document: Document) -> None:
    other = Document()
    text = copy_text(document.project, ["n1", "n2"])
    first, _ = paste(other, text, (0, 0))
    assert (first, other.project.graph.node(first).name) == ("n1", "dense1")
    with other.step("Set"):
        other.apply(SetParam(first, "units", 1))
    assert document.project.graph.node("n1").params == {"units": 64}
    second, _ = paste(other, text, (0, 0))
    assert other.project.graph.node(second).params == {"units": 64}


def test_what_was_copied_outlives_its_deletion(document: Document) -> None:
    text = copy_text(document.project, ["n2"])
    with document.step("Cut"):
        document.apply(Remove(("n2",)))
    (id,) = paste(document, text, (0, 0))
    assert id == "n4"
    assert from_text(to_text(document.project)) == document.project


def test_copying_what_is_not_there_is_refused(document: Document) -> None:
    with pytest.raises(GraphError, match="no node"):
        copy_text(document.project, ["n1", "n9"])


def copied(**changes: object) -> str:
    return json.dumps(
        {"neuroloom-nodes": 1, "nodes": [{"id": "n1", "type": "Linear"}], "links": []} | changes
    )


JUNK = {
    "a list": "[1, 2, 3]",
    "null": "null",
    "nothing": "",
    "ten megabytes": "x" * 10_000_000,
    "twenty megabytes of braces": "{" * 20_000_000,
    "deep": '{"neuroloom-nodes": 1, "nodes": ' + "[" * 100_000,
    "half": copied()[:30],
    "a project": to_text(Project()),
    "another format": copied(**{"neuroloom-nodes": 3}),
    "no nodes": copied(nodes=[]),
    "two ids": copied(nodes=[{"id": "n1", "type": "A"}, {"id": "n1", "type": "A"}]),
    "a dangling link": copied(links=[["n1", "output", "n2", "x"]]),
    "a cycle": copied(links=[["n1", "output", "n1", "x"]]),
    "a wrong type": copied(nodes=[{"id": "n1", "type": []}]),
    "far away": copied(
        nodes=[{"id": f"n{i}", "type": "A", "position": [x, 0]} for i, x in ((1, -1e9), (2, 1e9))]
    ),
    "NaN": copied().replace('"Linear"', "NaN"),
    "surrogates": "\ud800",
}


@pytest.mark.parametrize("kind", JUNK)
def test_junk_is_refused_and_the_history_stays_intact(kind: str, document: Document) -> None:
    with document.step("Set"):
        document.apply(SetParam("n1", "units", 1))
    before, revision = to_text(document.project.copy()), document.revision
    with pytest.raises(ProjectFileError, match=r"^This text cannot be pasted: ") as caught:
        paste(document, JUNK[kind], (1e9, 0) if kind == "far away" else (0, 0))
    assert len(caught.value.message) < 200
    document.project.next_id = 4
    assert to_text(document.project) == before
    assert document.revision == revision
    with document.step("Rename"):
        document.apply(SetParam("n1", "units", 2))
    assert document.undo() == "Rename"
    assert document.undo() == "Set"
    assert document.project.graph.node("n1").params == {"units": 64}


def test_hostile_text_in_a_copy_stays_text(document: Document) -> None:
    name = "x'); __import__('os').system('id'); #\n\u2028\ud800"
    with document.step("Add"):
        document.apply(AddNodes((Node("n4", name, name, {name: name}),)))
    text = copy_text(document.project, ["n4"])
    text.encode("utf-8")
    (id,) = paste(document, text, (0, 0))
    node = document.project.graph.node(id)
    assert (node.type, node.name, node.params) == (name, name + "1", {name: name})


# -- blocks (case C4), shared weights, frames and notes


def with_block() -> tuple[Document, str, str]:
    """A document with a block in a block, both with one instance; gives the outer one's ids."""
    nodes = [
        Node("n1", "Mnist"),
        Node("n2", "Linear", "in"),
        Node("n3", "HyperConv9", "层"),
        Node("n4", "MSE"),
    ]
    links = [
        Link("n1", "image", "n2", "x"),
        Link("n2", "output", "n3", "x"),
        Link("n3", "output", "n4", "prediction"),
    ]
    document = Document(Project(graph=Graph(nodes, links), next_id=5))
    for name in ("Inner", "Outer"):
        chosen = ["n2"] if name == "Inner" else [*instances_of(document, "Inner"), "n3"]
        with document.step("Group"):
            for edit in group(document.project, chosen, name):
                document.apply(edit)
    (instance,) = instances_of(document, "Outer")
    return document, instance, document.project.node(instance).block


def instances_of(document: Document, name: str) -> list[str]:
    project = document.project
    (block,) = (block for block in project.blocks.values() if block.name == name)
    return project.instances(block.id)


def inner_edit(document: Document, block_id: str, name: str) -> None:
    graph = document.project.graph_of(block_id)
    (id,) = (node.id for node in graph.nodes.values() if node.type == "HyperConv9")
    with document.step("Rename"):
        document.apply(Rename(id, name))


def names_in(project: Project, block_id: str) -> set[str]:
    return {node.name for node in project.graph_of(block_id).nodes.values()}


def test_in_its_own_project_a_pasted_block_is_linked_also_after_edits() -> None:
    document, instance, block_id = with_block()
    text = copy_text(document.project, ["n1", instance])
    inner_edit(document, block_id, "edited since")
    blocks = dict(document.project.blocks)
    data, twin = paste(document, text, (0, 500))
    assert document.project.node(twin).block == block_id
    assert document.project.blocks == blocks
    (wire,) = document.project.graph.incoming(twin)
    assert (wire.source, wire.target_port) == (data, document.project.graph.incoming(instance)[0].target_port)


def test_an_independent_paste_has_a_definition_of_its_own_at_every_depth() -> None:
    document, instance, block_id = with_block()
    before = to_text(document.project)
    text = copy_text(document.project, ["n1", instance])
    _, twin = paste(document, text, (0, 500), independent=True)
    project = document.project
    other = project.node(twin).block
    assert other != block_id and project.contents(other).isdisjoint(project.contents(block_id))
    assert sorted(block.name for block in project.blocks.values()) == ["Inner", "Inner1", "Outer", "Outer1"]
    (wire,) = project.graph.incoming(twin)
    assert wire.target_port in project.graph_of(other).nodes
    inner_edit(document, other, "alone")
    assert "alone" not in names_in(project, block_id)
    document.undo()
    document.undo()
    project.next_id = from_text(before).next_id
    assert to_text(project) == before


def test_another_document_gets_the_definitions_once_and_edits_never_leak() -> None:
    document, instance, block_id = with_block()
    text = copy_text(document.project, ["n1", instance])
    other = Document(Project(graph=Graph([Node("n1", "Linear")]), next_id=2))
    data, first = paste(other, text, (0, 0))
    brought = other.project.node(first).block
    assert {block.name for block in other.project.blocks.values()} == {"Inner", "Outer"}
    (wire,) = other.project.graph.incoming(first)
    assert wire.source == data and wire.target_port in other.project.graph_of(brought).nodes
    _, second = paste(other, text, (0, 500))
    assert other.project.node(second).block == brought, "an equal definition is there already"
    inner_edit(other, brought, "theirs")
    assert "theirs" not in names_in(document.project, block_id)
    inner_edit(document, block_id, "ours")
    assert "ours" not in names_in(other.project, brought)
    _, third = paste(other, text, (0, 900))
    assert other.project.node(third).block != brought, "theirs is another block by now"
    assert from_text(to_text(other.project)) == other.project
    while other.undo():
        pass
    assert list(other.project.graph.nodes) == ["n1"] and not other.project.blocks


def test_the_same_file_in_two_windows_is_two_projects() -> None:
    document, instance, block_id = with_block()
    other = Document(from_text(to_text(document.project)))
    inner_edit(other, block_id, "theirs")
    (id,) = paste(other, copy_text(document.project, [instance]), (0, 500))
    assert other.project.node(id).block != block_id
    assert names_in(other.project, block_id) >= {"theirs"}


def test_a_copy_outlives_the_definition() -> None:
    document, instance, block_id = with_block()
    text = copy_text(document.project, [instance])
    with document.step("Delete"):
        document.apply(Remove((instance,)))
        document.apply(RemoveBlock(block_id))
    (id,) = paste(document, text, (0, 0))
    assert document.project.block(document.project.node(id).block).name == "Outer"
    assert {block.name for block in document.project.blocks.values()} == {"Inner", "Outer"}


def test_a_wire_at_a_port_that_is_gone_by_now_is_left_out() -> None:
    document, instance, _ = with_block()
    text = copy_text(document.project, ["n1", instance])
    (wire,) = document.project.graph.incoming(instance)
    with document.step("Delete"):
        document.apply(Remove((wire.target_port,)))
    _, twin = paste(document, text, (0, 500))
    assert document.project.graph.incoming(twin) == []


def test_nodes_paste_into_a_block_but_no_block_into_itself() -> None:
    document, instance, block_id = with_block()
    before = to_text(document.project)
    revision = document.revision
    with pytest.raises(GraphError, match="cannot contain itself"):
        paste(document, copy_text(document.project, [instance]), (0, 0), into=block_id)
    document.project.next_id = from_text(before).next_id
    assert to_text(document.project) == before and document.revision == revision
    (id,) = paste(document, copy_text(document.project, ["n1"]), (0, 0), into=block_id)
    assert document.project.home(id) == block_id
    with pytest.raises(GraphError, match="several graphs"):
        copy_text(document.project, ["n1", id])


def test_the_inside_of_a_block_pastes_outside_without_its_ports() -> None:
    document, _, block_id = with_block()
    project = document.project
    inside = project.graph_of(block_id)
    ports = [id for id, node in inside.nodes.items() if node.type.startswith("BlockI")]
    rest = [id for id, node in inside.nodes.items() if node.type not in ("BlockInput", "BlockOutput")]
    with document.step("Frame"):
        document.apply(AddFrame(Frame("f90", members=frozenset([*ports, rest[0]]), scope=block_id)))
        document.apply(AddFrame(Frame("f91", members=frozenset(ports), scope=block_id)))
    text = copy_text(project, inside.nodes)
    ids = paste(document, text, (0, 500))
    assert {project.node(id).type for id in ids} == {"Block", "HyperConv9"}
    assert [frame.members < set(ids) for frame in project.frames.values() if not frame.scope] == [True]
    inner_before = len(inside.nodes)
    assert len(paste(document, text, (0, 500), into=block_id)) == inner_before
    with pytest.raises(ProjectFileError, match="no place outside"):
        paste(document, copy_text(project, ports), (0, 0))


def test_shared_weights_stay_shared_where_the_other_node_is(document: Document) -> None:
    with document.step("Share"):
        document.apply(SetShares("n3", "n1"))
    both, one = copy_text(document.project, ["n1", "n3"]), copy_text(document.project, ["n3"])
    first, second = paste(document, both, (0, 300))
    assert document.project.node(second).shares == first
    (third,) = paste(document, one, (0, 600))
    assert document.project.node(third).shares == "n1"
    other = Document()
    (fourth,) = paste(other, one, (0, 0))
    assert other.project.node(fourth).shares == ""
    first, second = paste(other, both, (0, 300))
    assert other.project.node(second).shares == first


def test_bends_frames_notes_and_mute_come_along(document: Document) -> None:
    with document.step("Dress"):
        document.apply(SetBends(AB, ((50.0, 10.0),)))
        document.apply(SetMuted(("n2",), True))
        document.apply(AddFrame(Frame("f10", "F", "blue", frozenset({"n1", "n2"}))))
        document.apply(AddFrame(Frame("f11", "G", "red", frozenset({"n2", "n3"}))))
        document.apply(AddNote(Note("t12", "*why*", (100.0, 0.0))))
    other = Document()
    a, b, note = paste(other, copy_text(document.project, ["n1", "n2", "t12"]), (50, 100))
    assert other.project.node(b).muted
    assert other.project.graph.bends(Link(a, "output", b, "x")) == ((50.0, 110.0),)
    (frame,) = other.project.frames.values()
    assert (frame.title, frame.members) == ("F", {a, b})
    assert other.project.notes_on_canvas[note].position == (100.0, 100.0)
    (only,) = paste(other, copy_text(document.project, ["t12"]), (0, 0))
    assert other.project.notes_on_canvas[only].text == "*why*"


def test_create_copy_paste_undo_leaves_the_originals_alone(document: Document) -> None:
    """Case U19."""
    with document.step("Create"):
        document.apply(AddNodes((Node("n4", "Linear", "new"),), (Link("n3", "output", "n4", "x"),)))
    before = to_text(document.project)
    paste(document, copy_text(document.project, ["n3", "n4"]), (0, 300))
    assert document.undo() == "Paste"
    document.project.next_id = 5
    assert to_text(document.project) == before
    assert document.undo() == "Create"
    assert document.redo() == "Create"
    assert document.redo() == "Paste"


def test_junk_among_blocks_is_refused(document: Document) -> None:
    inside = {"id": "n5", "type": "Block", "params": {"block": "b1"}}
    for blocks, words in (
        ([{"id": "b1", "nodes": [inside]}], "contains itself"),
        ([{"id": "x1", "nodes": []}], "block's id"),
        ([{"id": "b1", "nodes": [{"id": "n1", "type": "A"}]}], "two nodes"),
        ([{"id": "b1", "nodes": []}, {"id": "b1", "nodes": []}], "two blocks"),
        ({}, "should be a list"),
    ):
        with pytest.raises(ProjectFileError, match=words):
            paste(document, copied(blocks=blocks), (0, 0))
    nodes = [{"id": "n1", "type": "Block", "params": {"block": "b7"}}]
    with pytest.raises(ProjectFileError, match="does not exist"):
        paste(document, copied(nodes=nodes), (0, 0))
