"""Steps, undo and redo, and who hears of them."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from engine.document.document import Change, Document
from engine.document.edits import (
    UNSET,
    AddNodes,
    Connect,
    Disconnect,
    Edit,
    Move,
    Remove,
    Rename,
    SetNotes,
    SetParam,
    SetTitle,
)
from engine.document.files import load_project, save_project, to_text
from engine.document.graph import Link, Node, Project
from engine.errors import GraphError, ProjectFileError

AB, BC = Link("n1", "output", "n2", "x"), Link("n2", "output", "n3", "x")


def do(document: Document, label: str, *edits: Edit, merge: str | None = None) -> None:
    with document.step(label, merge):
        for edit in edits:
            document.apply(edit)


def text(document: Document) -> str:
    return to_text(replace(document.project, next_id=0))


@pytest.fixture
def document() -> Document:
    """Three nodes in a row, saved."""
    document = Document()
    nodes = tuple(Node(document.project.new_id(), "Linear", f"layer {i}") for i in (1, 2, 3))
    do(document, "Begin", AddNodes(nodes, (AB, BC)))
    document.mark_saved()
    return document


# -- steps


def test_an_edit_outside_a_step_is_refused(document: Document) -> None:
    before = text(document)
    with pytest.raises(GraphError, match="inside a step"):
        document.apply(Disconnect(AB))
    assert text(document) == before


def test_an_error_takes_the_whole_step_back_and_comes_through(document: Document) -> None:
    before, revision = text(document), document.revision
    with pytest.raises(ZeroDivisionError), document.step("Fail"):
        document.apply(Remove(("n2",)))
        document.apply(SetTitle("Half done"))
        raise ZeroDivisionError
    assert text(document) == before
    assert document.revision == revision
    assert document.undo_label == "Begin"
    assert not document.modified


def test_history_goes_on_after_a_failed_step(document: Document) -> None:
    with pytest.raises(GraphError), document.step("Fail"):
        document.apply(Rename("n1", "first"))
        document.apply(Rename("n99", "nobody"))
    assert document.undo() == "Begin"
    assert document.redo() == "Begin"
    do(document, "Rename", Rename("n1", "first"))
    assert document.undo() == "Rename"


def test_an_empty_step_leaves_no_history(document: Document) -> None:
    revision = document.revision
    with document.step("Nothing"):
        pass
    do(document, "Same name", Rename("n1", "layer 1"), Move({"n2": (0, 0)}), AddNodes(), Remove())
    do(document, "Dropped where it was", Disconnect(AB), Connect(AB))
    assert document.undo_label == "Begin"
    assert document.revision == revision
    assert not document.modified


def test_a_value_of_another_type_is_a_change(document: Document) -> None:
    do(document, "Set", SetParam("n1", "units", 1))
    do(document, "Set", SetParam("n1", "units", 1.0))
    document.undo()
    assert '"units": 1}' in text(document)


def test_a_step_inside_a_step_belongs_to_it(document: Document) -> None:
    with document.step("Outer"):
        document.apply(Rename("n1", "a"))
        with document.step("Inner"):
            document.apply(Rename("n2", "b"))
    assert document.undo() == "Outer"
    assert document.undo() == "Begin"


def test_a_failed_inner_step_leaves_the_outer_one_as_it_was(document: Document) -> None:
    with document.step("Outer"):
        document.apply(Rename("n1", "a"))
        with pytest.raises(GraphError), document.step("Inner"):
            document.apply(Rename("n2", "b"))
            document.apply(Remove(("n99",)))
        document.apply(Rename("n3", "c"))
    assert [node.name for node in document.project.graph.nodes.values()] == ["a", "layer 2", "c"]
    document.undo()
    assert document.project.graph.node("n1").name == "layer 1"


@pytest.mark.parametrize("what", ["undo", "redo"])
def test_history_stands_still_while_a_step_is_open(document: Document, what: str) -> None:
    with document.step("Open"), pytest.raises(GraphError, match="under way"):
        getattr(document, what)()
    with document.step("Open"), pytest.raises(GraphError, match="under way"):
        document.replace(Project())


# -- undo and redo (cases E-1, U1, U4, U6, U10, U14, U15)


def test_undo_and_redo_on_a_fresh_document_do_nothing() -> None:
    document = Document()
    heard: list[Change] = []
    document.subscribe(heard.append)
    assert document.undo() is None
    assert document.redo() is None
    assert (document.undo_label, document.redo_label, document.revision, heard) == (None, None, 0, [])
    do(document, "Add", AddNodes((Node(document.project.new_id(), "Linear"),)))
    assert document.undo() == "Add"


def test_undo_of_a_deletion_brings_back_ids_links_and_order(document: Document) -> None:
    saved = to_text(document.project)
    do(document, "Delete", Remove(("n2",)))
    assert document.project.graph.links == ()
    document.undo()
    assert to_text(document.project) == saved
    assert list(document.project.graph.nodes) == ["n1", "n2", "n3"]
    assert document.project.graph.links == (AB, BC)


def test_each_wire_is_a_step_of_its_own(document: Document) -> None:
    first, second = Link("n1", "output", "n3", "x1"), Link("n1", "output", "n3", "x2")
    do(document, "Connect", Connect(first))
    do(document, "Connect", Connect(second))
    document.undo()
    assert document.project.graph.links == (AB, first, BC)


def test_undo_of_a_moved_wire_end_puts_it_back(document: Document) -> None:
    moved = replace(AB, target_port="h")
    do(document, "Move wire", Disconnect(AB), Connect(moved))
    assert document.project.graph.links == (moved, BC)
    document.undo()
    assert document.project.graph.links == (AB, BC)


def test_undo_of_a_wire_that_replaced_another_brings_the_other_back(document: Document) -> None:
    new = Link("n1", "output", "n3", "x")
    do(document, "Connect", Disconnect(BC), Connect(new))
    document.undo()
    assert document.project.graph.links == (AB, BC)


def test_a_move_to_where_a_node_stands_is_no_step(document: Document) -> None:
    do(document, "Move", Move({"n1": (0.0, 40.0)}))
    before = document.revision
    do(document, "Move", Move({"n1": (-0.0, 40.0)}))
    assert document.revision == before
    assert str(document.project.node("n1").position) == "(0.0, 40.0)"


def test_a_move_of_several_nodes_is_one_step(document: Document) -> None:
    do(document, "Move", Move({"n1": (10, 10), "n2": (20, 20), "n3": (30, 30)}))
    document.undo()
    assert {node.position for node in document.project.graph.nodes.values()} == {(0.0, 0.0)}


def test_a_node_inserted_into_a_wire_goes_and_the_wire_comes_back(document: Document) -> None:
    id = document.project.new_id()
    into = Link("n1", "output", id, "x"), Link(id, "output", "n2", "x")
    do(document, "Insert", Disconnect(AB), AddNodes((Node(id, "ReLU"),), into))
    document.undo()
    assert list(document.project.graph.nodes) == ["n1", "n2", "n3"]
    assert document.project.graph.links == (AB, BC)
    document.redo()
    assert set(into) < set(document.project.graph.links)


def test_a_new_step_ends_what_could_be_redone(document: Document) -> None:
    do(document, "A", Rename("n1", "a"))
    document.undo()
    assert document.redo_label == "A"
    do(document, "B", Rename("n1", "b"))
    assert document.redo_label is None
    assert document.redo() is None


def test_ids_are_never_given_again(document: Document) -> None:
    first = document.project.new_id()
    do(document, "Add", AddNodes((Node(first, "Linear"),)))
    document.undo()
    assert document.project.new_id() != first


# -- merging


def test_typing_in_one_field_is_one_step(document: Document) -> None:
    for value in (1, 12, 128):
        do(document, "Set units", SetParam("n1", "units", value), merge="n1.units")
    assert document.project.graph.node("n1").params == {"units": 128}
    assert document.undo() == "Set units"
    assert document.project.graph.node("n1").params == {}
    document.redo()
    assert document.project.graph.node("n1").params == {"units": 128}


def test_another_key_a_seal_a_save_and_an_undo_end_merging(document: Document) -> None:
    def type_in(value: int, merge: str = "n1.units") -> None:
        do(document, "Set", SetParam("n1", "units", value), merge=merge)

    type_in(1)
    type_in(2, merge="elsewhere")
    type_in(3)
    document.seal()
    type_in(4)
    document.mark_saved()
    type_in(5)
    document.undo()
    type_in(6)
    seen = []
    while document.undo_label == "Set":
        seen.append(document.project.graph.node("n1").params["units"])
        document.undo()
    assert seen == [6, 4, 3, 2, 1]


def test_a_field_typed_back_to_what_it_was_leaves_no_step(document: Document) -> None:
    document.seal()
    do(document, "Set", SetParam("n1", "units", 1), merge="n1.units")
    do(document, "Set", SetParam("n1", "units", UNSET), merge="n1.units")
    assert document.undo_label == "Begin"
    assert not document.modified


def test_a_long_drag_keeps_one_edit_not_one_a_frame(document: Document) -> None:
    for x in range(1000):
        do(document, "Move", Move({"n1": (x, 0), "n2": (x, 5)}), merge="drag")
    document.undo()
    assert document.project.graph.node("n2").position == (0, 0)
    heard: list[Change] = []
    document.subscribe(heard.append)
    document.redo()
    assert heard[0].edits == (Move({"n1": (999, 0), "n2": (999, 5)}),)


def test_steps_of_several_edits_merge_too(document: Document) -> None:
    for value in (1, 2):
        do(document, "Set", SetParam("n1", "units", value), SetParam("n2", "units", value), merge="both")
    document.undo()
    assert document.project.graph.node("n1").params == document.project.graph.node("n2").params == {}
    document.redo()
    assert document.project.graph.node("n2").params == {"units": 2}


# -- modified


def test_modified_follows_undo_back_to_what_was_saved(document: Document) -> None:
    assert not document.modified
    do(document, "A", Rename("n1", "a"))
    assert document.modified
    document.mark_saved()
    document.undo()
    assert document.modified
    document.redo()
    assert not document.modified
    document.undo()
    do(document, "B", Rename("n1", "b"))
    document.undo()
    assert document.modified, "the saved state can no longer be reached by undo or redo"


def test_a_restored_document_counts_as_modified() -> None:
    document = Document(Project(title="Restored"))
    document.mark_modified()
    assert document.modified
    document.mark_saved()
    assert not document.modified


# -- telling (case U5)


def test_everyone_hears_undo_as_the_edits_a_user_would_have_made(document: Document) -> None:
    heard: list[Change] = []
    stop = document.subscribe(heard.append)
    link = Link("n1", "output", "n3", "x2")
    do(document, "Connect", Connect(link))
    document.undo()
    document.redo()
    assert [(change.kind, change.edits) for change in heard] == [
        ("do", (Connect(link),)),
        ("undo", (Disconnect(link),)),
        ("redo", (Connect(link),)),
    ]
    assert [change.revision for change in heard] == [2, 3, 4]
    assert heard[0].touched == {"n1", "n3"}
    stop()
    stop()
    document.undo()
    assert len(heard) == 3


def test_a_subscriber_may_change_the_document_and_all_hear_in_order(document: Document) -> None:
    seen: list[str] = []

    def tidy(change: Change) -> None:
        if change.label == "Rename":
            do(document, "Tidy", SetNotes("tidied"))

    document.subscribe(tidy)
    document.subscribe(lambda change: seen.append(change.label))
    do(document, "Rename", Rename("n1", "a"))
    assert seen == ["Rename", "Tidy"]


def test_a_subscriber_may_end_its_own_or_another_subscription(document: Document) -> None:
    seen: list[str] = []
    stops = [
        document.subscribe(lambda change: stops[1]()),
        document.subscribe(lambda change: seen.append("late")),
    ]
    do(document, "Rename", Rename("n1", "a"))
    assert seen == []


@pytest.mark.logs("A view failed")
def test_a_failing_view_stops_neither_the_document_nor_the_others(document: Document) -> None:
    seen: list[str] = []

    def fail(change: Change) -> None:
        raise RuntimeError("view")

    document.subscribe(fail)
    document.subscribe(lambda change: seen.append(change.label))
    do(document, "Rename", Rename("n1", "a"))
    document.undo()
    assert seen == ["Rename", "Rename"]


# -- files


def test_a_file_that_cannot_be_read_leaves_the_open_document_alone(
    document: Document, tmp_path: Path
) -> None:
    path = tmp_path / "broken.nloom"
    path.write_bytes(b"\x00\xff\x00")
    before, revision = text(document), document.revision
    with pytest.raises(ProjectFileError, match=r'"broken\.nloom" cannot be opened'):
        document.replace(load_project(path), path)
    assert text(document) == before
    assert (document.revision, document.path, document.undo_label) == (revision, None, "Begin")


def test_opening_starts_a_new_history(document: Document, tmp_path: Path) -> None:
    heard: list[Change] = []
    document.subscribe(heard.append)
    path = tmp_path / "other.nloom"
    save_project(Project(title="Other"), path)
    do(document, "Rename", Rename("n1", "a"))
    document.replace(load_project(path), path)
    assert document.project.title == "Other"
    assert document.path == path
    assert (document.undo_label, document.redo_label, document.modified) == (None, None, False)
    assert (heard[-1].kind, heard[-1].edits, heard[-1].revision) == ("load", (), 3)


def test_a_snapshot_does_not_follow_the_document(document: Document) -> None:
    snapshot = document.snapshot()
    before = to_text(snapshot)
    do(document, "Delete", Remove(("n1", "n2")), SetTitle("Changed"))
    assert to_text(snapshot) == before
    assert snapshot.graph.order() == ["n1", "n2", "n3"]


def test_two_documents_never_cross() -> None:
    one, two = Document(), Document()
    do(one, "Add", AddNodes((Node(one.project.new_id(), "Linear"),)))
    assert (len(two.project.graph.nodes), two.undo_label, two.project.next_id) == (0, None, 1)


# -- five hundred actions (case E-4)


ACTIONS = ["add"] * 2 + ["connect"] * 3 + ["set", "rename", "move", "remove", "unplug"]


def some_action(rng: random.Random, document: Document) -> None:
    graph = document.project.graph
    ids = list(graph.nodes)
    what = rng.choice(ACTIONS)
    if what == "add" or len(ids) < 2:
        place = (rng.uniform(-500, 500), rng.uniform(-500, 500))
        node = Node(document.project.new_id(), rng.choice(["Linear", "Add"]), "layer", {"units": 1}, place)
        do(document, what, AddNodes((node,)))
    elif what == "connect":
        source, target = rng.sample(ids, 2)
        do(document, what, Connect(Link(source, "output", target, f"x{rng.randint(1, 12)}")))
    elif what == "set":
        do(
            document,
            what,
            SetParam(rng.choice(ids), rng.choice(["units", "bias"]), rng.choice([1, 2.5, UNSET])),
        )
    elif what == "rename":
        do(document, what, Rename(rng.choice(ids), rng.choice(["a", "b", "层"])))
    elif what == "move":
        chosen = rng.sample(ids, rng.randint(1, 2))
        do(document, what, Move({id: (rng.uniform(-500, 500), 0.0) for id in chosen}))
    elif what == "remove" and rng.random() < 0.3:
        do(document, what, Remove(tuple(rng.sample(ids, rng.randint(1, 2)))))
    elif what == "unplug" and graph.links:
        do(document, what, Disconnect(rng.choice(graph.links)))


@pytest.mark.parametrize("seed", range(4))
def test_after_five_hundred_actions_undo_reaches_the_start_and_redo_the_end(seed: int) -> None:
    rng, document = random.Random(seed), Document()
    states = [text(document)]
    for _ in range(500):
        try:
            some_action(rng, document)
        except GraphError:
            continue
        if text(document) != states[-1]:
            states.append(text(document))
    assert len(states) > 250
    assert len(document.project.graph.links) > 10
    for expected in reversed(states[:-1]):
        assert document.undo() is not None
        assert text(document) == expected
    assert document.undo() is None
    for expected in states[1:]:
        assert document.redo() is not None
        assert text(document) == expected
    assert document.redo() is None
