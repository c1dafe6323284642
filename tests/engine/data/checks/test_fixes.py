"""A button's edits: one step, all wires of the port, room for the newcomer, and nothing where nothing is."""

from __future__ import annotations

from itertools import combinations

from engine.data.checks.findings import Change, Insert
from engine.data.checks.fixes import edits_of
from engine.document.document import Document
from engine.document.dressing import Note
from engine.document.edits import AddNodes, AddNote, Edit
from engine.document.graph import Link, Node
from tests.engine.sketches import catalogue, check

SCALE = Change(
    "Standardise", inserts=(Insert("n1", "features", "Standardise", "scaled", {"over": "all numbers"}),)
)


def do(made: Document, *edits: Edit) -> None:
    with made.step("Do"):
        for edit in edits:
            made.apply(edit)


def document() -> Document:
    """Iris through two branches, one of which is compared with what comes in; a note stands at the right."""
    made = Document()
    nodes = (
        Node("n1", "Iris", "iris", {}, (0, 0)),
        Node("n2", "Linear", "upper", {"units": 4}, (200, 0)),
        Node("n3", "Linear", "lower", {"units": 3}, (200, 100)),
        Node("n4", "MSE", "copy", {}, (400, 0)),
        Node("n5", "CrossEntropy", "loss", {}, (400, 100)),
        Node("n6", "Iris", "spare", {}, (0, 200)),
    )
    links = (
        *(Link("n1", "features", one, "x") for one in ("n2", "n3")),
        Link("n1", "features", "n4", "target"),
        Link("n1", "species", "n5", "target"),
        Link("n2", "output", "n4", "prediction"),
        Link("n3", "output", "n5", "prediction"),
    )
    do(made, AddNodes(nodes, links), AddNote(Note("t1", "look", (420, 200))))
    return made


def test_a_node_behind_a_port_feeds_all_that_the_port_fed() -> None:
    made = document()
    do(made, *edits_of(made.project, "n1", SCALE))
    graph = made.project.graph
    new = next(node for node in graph.nodes.values() if node.type == "Standardise")
    assert (new.name, dict(new.params)) == ("scaled", {"over": "all numbers"})
    assert graph.feeding(new.id, "x") == Link("n1", "features", new.id, "x")
    fed = {(link.target, link.target_port) for link in graph.outgoing(new.id)}
    assert fed == {("n2", "x"), ("n3", "x"), ("n4", "target")}
    assert graph.feeding("n5", "target") == Link("n1", "species", "n5", "target")
    assert not check(made.project, catalogue()).errors


def test_it_has_room_and_undo_takes_all_of_it_back() -> None:
    made = document()
    before = {one: node.position for one, node in made.project.graph.nodes.items()}
    do(made, *edits_of(made.project, "n1", SCALE))
    after = {one: node.position for one, node in made.project.graph.nodes.items()}
    assert after["n6"] == (0, 200) and after["n2"] == (400, 0) and after["n5"] == (600, 100)
    assert made.project.notes_on_canvas["t1"].position == (620, 200)
    for (x, y), (other, below) in combinations(after.values(), 2):
        assert abs(x - other) >= 128 or abs(y - below) >= 88
    made.undo()
    assert {one: node.position for one, node in made.project.graph.nodes.items()} == before
    assert made.project.notes_on_canvas["t1"].position == (420, 200)


def test_where_there_is_room_nothing_moves_and_names_stay_single() -> None:
    made = document()
    do(made, *edits_of(made.project, "n1", SCALE))
    first = next(node for node in made.project.graph.nodes.values() if node.type == "Standardise")
    places = {one: node.position for one, node in made.project.graph.nodes.items()}
    again = Change("Even", inserts=(Insert("n1", "species", "BalanceClasses", "scaled"),))
    do(made, *edits_of(made.project, "n1", again))
    new = next(node for node in made.project.graph.nodes.values() if node.type == "BalanceClasses")
    assert new.name == "scaled1" and first.name == "scaled"
    assert new.position == (200, 100)
    assert {one: made.project.graph.node(one).position for one in places} == places


def test_parameters_of_other_nodes_and_roles_of_columns_change() -> None:
    made = Document()
    table = (("a", "number", "input"), ("b", "number", "input", "x"), ("y", "number", "target"))
    nodes = (Node("n1", "TableFile", "t", {"table": table}), Node("n2", "Linear", "layer"))
    do(made, AddNodes(nodes, ()))
    change = Change("All", {"split": "random"}, {"b": "ignore"}, {"n2": {"units": 7}, "gone": {"units": 1}})
    do(made, *edits_of(made.project, "n1", change))
    graph = made.project.graph
    assert graph.node("n1").params["split"] == "random"
    assert graph.node("n1").params["table"] == (table[0], ("b", "number", "ignore", "x"), table[2])
    assert graph.node("n2").params["units"] == 7


def test_a_node_that_is_gone_is_not_mended() -> None:
    assert edits_of(document().project, "n77", SCALE) == ()
    nothing = Change("Nothing", inserts=(Insert("n6", "features", "Standardise", "scaled"),))
    assert edits_of(document().project, "n6", nothing) == ()
