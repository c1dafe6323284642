"""Copied nodes are text that pastes anywhere, whole or not at all."""

from __future__ import annotations

import json

import pytest

from engine.clipboard import copy_text, paste
from engine.document import Document
from engine.edits import AddNodes, Remove, SetParam
from engine.errors import GraphError, ProjectFileError
from engine.files import from_text, to_text
from engine.graph import Graph, Link, Node, Project

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
