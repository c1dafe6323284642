"""Edits of blocks, shared weights, muted nodes, bends, frames and notes go back exactly (cases C13, U12)."""

from __future__ import annotations

import pytest

from engine.document.document import Document
from engine.document.dressing import COLOURS, Frame, Note
from engine.document.edits import (
    AddBlock,
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
    RemoveBlock,
    RemoveFrame,
    RemoveNote,
    Rename,
    RenameBlock,
    SetBends,
    SetMuted,
    SetParam,
    SetShares,
    Together,
)
from engine.document.files import from_text, to_text
from engine.document.graph import Block, Graph, Link, Node, Project
from engine.errors import GraphError

AB, BC = Link("n1", "output", "n2", "x"), Link("n2", "output", "n3", "x")
INNER = Link("n11", "output", "n12", "x")
SIDE = Link("n1", "output", "n3", "x7")
INTO = Link("n3", "output", "n4", "n11")


def drawn() -> Project:
    """Three layers and an instance of a block; one of each thing there is."""
    nodes = [
        Node("n1", "Linear", "layer 1", {"units": 1}),
        Node("n2", "Linear", "layer 2", shares="n1"),
        Node("n3", "Linear", "layer 3", shares="n2", muted=True),
        Node("n4", "Block", "cell", {"block": "b9"}),
    ]
    inside = [Node("n11", "BlockInput", "x"), Node("n12", "Linear"), Node("n13", "BlockOutput", "y")]
    block = Block("b9", "Cell", Graph(inside, [INNER], {INNER: ((5.0, 5.0),)}))
    return Project(
        graph=Graph(nodes, [AB, BC, INTO], {AB: ((1.0, 2.0), (3.5, -4.0))}),
        next_id=60,
        blocks={"b9": block, "b10": Block("b10", "Spare", Graph([Node("n15", "Linear")]))},
        frames={
            "f5": Frame("f5", "Pair", "blue", frozenset({"n1", "n2"})),
            "f6": Frame("f6", "In", "red", frozenset({"n12"}), "b9"),
            "f7": Frame("f7", "Spare", "red", frozenset({"n15"}), "b10"),
        },
        notes_on_canvas={"t8": Note("t8", "*hi*", (1.0, 1.0)), "t9": Note("t9", "in", scope="b10")},
    )


POSSIBLE: list[Edit] = [
    SetBends(AB, ((9.0, 9.0),)),
    SetBends(AB, ()),
    SetBends(BC, ((9.0, 9.0),)),
    SetBends(INNER, ()),
    Disconnect(AB),
    Disconnect(INNER),
    Connect(Link("n1", "output", "n3", "x2"), ((7.0, 7.0),)),
    Remove((), (AB, INNER)),
    Remove(("n1",)),
    Remove(("n2",)),
    Remove(("n1", "n2")),
    Remove(("n1", "n2", "n3")),
    Remove(("n2", "n12")),
    Remove(("n11",)),
    Remove(("n4", "n11", "n13", "n1")),
    SetMuted(("n1", "n3"), True),
    SetMuted(("n3", "n12"), False),
    SetShares("n3", ""),
    SetShares("n3", "n1"),
    SetShares("n1", "n4"),
    AddNodes((Node("n50", "Linear", shares="n51"), Node("n51", "Linear")), into="b9"),
    AddNodes((Node("n50", "Linear"),), (Link("n12", "output", "n50", "x"),), "b9"),
    AddNodes((Node("n50", "Block", "", {"block": "b10"}),), into="b9"),
    SetParam("n12", "units", 4),
    SetParam("n4", "block", "b10"),
    Rename("n12", "in there"),
    Move({"n1": (4.0, 4.0), "n12": (5.0, 5.0)}),
    AddFrame(Frame("f20", "New", "green", frozenset({"n3"}))),
    RemoveFrame("f5"),
    ChangeFrame(Frame("f5", "Pair", "red", frozenset({"n3"}))),
    AddNote(Note("t20", "new", scope="b9")),
    RemoveNote("t8"),
    ChangeNote(Note("t8", "*ho*", (2.0, 2.0), (300.0, 50.0))),
    AddBlock(Block("b20", "New", Graph([Node("n50", "Linear"), Node("n51", "Block", "", {"block": "b9"})]))),
    RemoveBlock("b10"),
    RenameBlock("b9", "Unit"),
    Together((Rename("n1", "first"), Rename("n1", "then"))),
]


@pytest.mark.parametrize("edit", POSSIBLE, ids=lambda edit: repr(edit)[:60])
def test_the_inverse_takes_back_exactly_and_its_inverse_does_again(edit: Edit) -> None:
    project = drawn()
    start = to_text(project)
    inverse = edit.apply(project)
    after = to_text(project)
    assert from_text(after) == project
    again = inverse.apply(project)
    assert to_text(project) == start
    again.apply(project)
    assert to_text(project) == after != start


IMPOSSIBLE: list[tuple[Edit, str]] = [
    (SetBends(Link("n1", "output", "n3", "x"), ((1.0, 1.0),)), "no link"),
    (SetMuted(("n1", "n99"), True), "no node"),
    (SetShares("n1", "n3"), "its own weights"),
    (SetShares("n1", "n1"), "its own weights"),
    (SetShares("n1", "n12"), "not in the same graph"),
    (SetShares("n1", "n99"), "not in the same graph"),
    (AddNodes((Node("n50", "Linear", shares="n12"),)), "not in the same graph"),
    (AddNodes((Node("n12", "Linear"),)), "two nodes"),
    (AddNodes((Node("n50", "Linear"),), into="b99"), "no block"),
    (AddNodes((Node("n50", "Block", "", {"block": "b99"}),)), "does not exist"),
    (AddNodes((Node("n50", "Block", "", {"block": "b9"}),), into="b9"), "cannot contain itself"),
    (AddNodes((Node("n50", "Linear"),), (), "", {AB: ((1.0, 1.0),)}), "Only a wire that is added"),
    (AddNodes((), (SIDE,), "", {SIDE: ((1e99, 0.0),)}), "cannot be placed"),
    (Connect(Link("n1", "output", "n12", "y")), "cannot cross"),
    (Connect(Link("n1", "output", "n3", "y"), ((float("nan"), 0.0),)), "cannot be placed"),
    (AddFrame(Frame("f5", members=frozenset({"n1"}))), "two frames"),
    (AddFrame(Frame("f20", members=frozenset({"n12"}))), "not in the same graph"),
    (AddFrame(Frame("f20", members=frozenset({"n12"}), scope="b99")), "no block"),
    (ChangeFrame(Frame("f20", members=frozenset({"n1"}))), "no frame"),
    (RemoveFrame("f20"), "no frame"),
    (AddNote(Note("t8")), "two notes"),
    (AddNote(Note("t20", scope="b99")), "no block"),
    (ChangeNote(Note("t20")), "no note"),
    (RemoveNote("t20"), "no note"),
    (AddBlock(Block("b9")), "two blocks"),
    (AddBlock(Block("b20", graph=Graph([Node("n12", "Linear")]))), "two nodes"),
    (AddBlock(Block("b20", graph=Graph([Node("node", "Linear")]))), "a number"),
    (AddBlock(Block("b20", graph=Graph([Node("n50", "Block", "", {"block": "b20"})]))), "contain itself"),
    (AddBlock(Block("b20", graph=Graph([Node("n50", "Block", "", {"block": "b21"})]))), "does not exist"),
    (RemoveBlock("b9"), "in use"),
    (RemoveBlock("b99"), "no block"),
    (RenameBlock("b99", "x"), "no block"),
    (Together((Rename("n1", "x"), Remove(("n2",)), Rename("n99", "x"))), "no node"),
]


@pytest.mark.parametrize(("edit", "sentence"), IMPOSSIBLE, ids=lambda value: str(value)[:60])
def test_an_impossible_edit_says_why_and_changes_nothing(edit: Edit, sentence: str) -> None:
    project = drawn()
    start = to_text(project)
    with pytest.raises(GraphError, match=sentence):
        edit.apply(project)
    assert to_text(project) == start


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Frame("x1", members=frozenset({"n1"})), "frame's id"),
        (lambda: Frame("f1"), "one node at least"),
        (lambda: Note("n1"), "note's id"),
        (lambda: Note("t1", size=(0.0, 10.0)), "large"),
        (lambda: Note("t1", position=(float("inf"), 0.0)), "placed"),
        (lambda: Block("n1"), "block's id"),
        (lambda: Block("b1", 3), "text"),
        (lambda: Note("t1", 3), "text"),
    ],
)
def test_what_no_file_gives_back_cannot_be_made(make: object, words: str) -> None:
    with pytest.raises(GraphError, match=words):
        make()  # type: ignore[operator]


def test_those_who_shared_the_weights_of_a_removed_node_share_on() -> None:
    nodes = [Node(f"n{i}", "Linear", shares="" if i == 1 else f"n{i - 1}") for i in range(1, 6)]
    project = Project(graph=Graph([*nodes, Node("n6", "Linear", shares="n1")]), next_id=7)
    assert {project.graph.weights_of(id) for id in project.graph.nodes} == {"n1"}
    Remove(("n1", "n3")).apply(project)
    assert {node.id: node.shares for node in project.graph.nodes.values()} == {
        "n2": "",
        "n4": "n2",
        "n5": "n4",
        "n6": "n2",
    }
    assert project.graph.weights_of("n6") == "n2"


def test_the_weights_of_an_embedding_go_to_an_embedding_first() -> None:
    nodes = [Node("n1", "Embedding"), Node("n2", "Linear", shares="n1"), Node("n3", "Embedding", shares="n1")]
    project = Project(graph=Graph(nodes), next_id=4)
    Remove(("n1",)).apply(project)
    assert (project.node("n2").shares, project.node("n3").shares) == ("n3", "")


def test_a_frame_loses_a_removed_member_and_goes_with_the_last() -> None:
    project = drawn()
    Remove(("n1",)).apply(project)
    assert project.frames["f5"].members == {"n2"}
    Remove(("n2",)).apply(project)
    assert "f5" not in project.frames


def test_a_frame_of_an_unknown_colour_is_kept() -> None:
    project = drawn()
    AddFrame(Frame("f20", "?", "octarine", frozenset({"n1"}))).apply(project)
    assert from_text(to_text(project)).frames["f20"].colour == "octarine" not in COLOURS


def test_inserting_into_a_wire_inside_a_frame_goes_back() -> None:
    """Case U12."""
    document = Document(drawn())
    before = to_text(document.project)
    with document.step("Insert"):
        document.apply(Disconnect(AB))
        document.apply(
            AddNodes(
                (Node("n50", "Linear"),), (Link("n1", "output", "n50", "x"), Link("n50", "output", "n2", "x"))
            )
        )
        frame = document.project.frames["f5"]
        document.apply(ChangeFrame(Frame("f5", frame.title, frame.colour, frame.members | {"n50"})))
    assert document.undo() == "Insert"
    assert to_text(document.project) == before
    assert document.project.graph.bends(AB) == ((1.0, 2.0), (3.5, -4.0))


def test_the_last_bend_leaves_nothing_behind() -> None:
    """Case C13."""
    project = Project(graph=Graph([Node("n1", "A"), Node("n2", "A")], [AB]), next_id=3)
    plain = to_text(project)
    SetBends(AB, ((1.0, 1.0),)).apply(project)
    assert to_text(project) != plain
    SetBends(AB, ()).apply(project)
    assert to_text(project) == plain
    SetBends(AB, ((1.0, 1.0),)).apply(project)
    Disconnect(AB).apply(project)
    Connect(AB).apply(project)
    assert to_text(project) == plain


def test_what_is_set_to_what_it_is_leaves_no_history() -> None:
    document = Document(drawn())
    with document.step("Nothing"):
        document.apply(SetMuted(("n3",), True))
        document.apply(SetShares("n2", "n1"))
        document.apply(SetBends(AB, document.project.graph.bends(AB)))
        document.apply(ChangeFrame(document.project.frames["f5"]))
        document.apply(RenameBlock("b9", "Cell"))
        document.apply(Together())
    assert document.undo_label is None and not document.modified


def test_dragging_a_bend_or_a_note_is_one_step() -> None:
    document = Document(drawn())
    before = to_text(document.project)
    for x in (1.0, 2.0, 3.0):
        with document.step("Bend", merge="bend"):
            document.apply(SetBends(AB, ((x, 0.0),)))
    for x in (1.0, 2.0, 3.0):
        with document.step("Note", merge="note"):
            document.apply(ChangeNote(Note("t8", "*hi*", (x, 0.0))))
    assert (document.undo(), document.undo(), document.undo()) == ("Note", "Bend", None)
    assert to_text(document.project) == before


def test_a_block_added_is_independent_of_what_it_was_made_from() -> None:
    graph = Graph([Node("n50", "Linear")])
    project, edit = drawn(), AddBlock(Block("b20", "New", graph))
    graph._insert(Node("n51", "Linear"))
    inverse = edit.apply(project)
    SetParam("n50", "units", 3).apply(project)
    again = inverse.apply(project)
    edit.apply(project)
    assert list(project.graph_of("b20").nodes) == ["n50"]
    assert project.node("n50").params == {}
    Remove(("n50",)).apply(project)
    RemoveBlock("b20").apply(project)
    again.apply(project)
    assert project.node("n50").params == {"units": 3}


def test_a_snapshot_is_independent_in_every_scope() -> None:
    document = Document(drawn())
    snapshot = document.snapshot()
    text = to_text(snapshot)
    with document.step("Change"):
        document.apply(Remove(("n12", "n1")))
        document.apply(SetBends(BC, ((1.0, 1.0),)))
        document.apply(RemoveNote("t8"))
        document.apply(RemoveBlock("b10"))
    assert to_text(snapshot) == text


def test_every_id_comes_from_one_counter_and_is_never_given_again() -> None:
    project = Project()
    AddBlock(Block("b7", "", Graph([Node("n12", "Linear")]))).apply(project)
    assert [project.new_id("b"), project.new_id(), project.new_id("f")] == ["b13", "n14", "f15"]
    AddNote(Note("t40")).apply(project)
    assert project.new_id() == "n41"
    AddFrame(Frame("f50", members=frozenset({"n12"}), scope="b7")).apply(project)
    assert project.new_id("t") == "t51"
