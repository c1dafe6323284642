"""Each edit's inverse takes it back exactly; an impossible edit changes nothing."""

from __future__ import annotations

import pytest

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
    SetPlan,
    SetTitle,
)
from engine.document.files import to_text
from engine.document.graph import Graph, Link, Node, Project
from engine.document.plan import Plan
from engine.errors import GraphError

AB, BC = Link("n1", "output", "n2", "x"), Link("n2", "output", "n3", "x")


def three() -> Project:
    nodes = [Node(f"n{i}", "Linear", f"layer {i}", {"units": i}, (i * 10.0, 0.0)) for i in (1, 2, 3)]
    return Project(graph=Graph(nodes, [AB, BC]), next_id=4)


POSSIBLE: list[Edit] = [
    AddNodes((Node("n4", "Linear"),), (Link("n3", "output", "n4", "x"),)),
    AddNodes((), (Link("n1", "output", "n3", "x2"),)),
    Remove(("n2",)),
    Remove(("n1", "n2", "n3")),
    Remove((), (AB, BC)),
    Remove(("n1",), (BC,)),
    Connect(Link("n1", "output", "n3", "x2")),
    Disconnect(AB),
    SetParam("n1", "units", 64),
    SetParam("n1", "bias", False),
    SetParam("n1", "units", UNSET),
    Rename("n1", "层"),
    Move({"n1": (3, 4), "n2": (-5.5, 0)}),
    SetPlan(Plan(batch=128)),
    SetTitle("Another"),
    SetNotes("# Notes\nmore"),
]


@pytest.mark.parametrize("edit", POSSIBLE, ids=repr)
def test_the_inverse_takes_back_exactly_and_its_inverse_does_again(edit: Edit) -> None:
    project = three()
    project.next_id = 10  # ids are never given again: the counter alone would not go back
    start = to_text(project)
    inverse = edit.apply(project)
    after = to_text(project)
    again = inverse.apply(project)
    assert to_text(project) == start
    again.apply(project)
    assert to_text(project) == after != start


IMPOSSIBLE: list[tuple[Edit, str]] = [
    (AddNodes((Node("n9", "Linear"), Node("n1", "Linear"))), "two nodes"),
    (AddNodes((Node("layer", "Linear"),)), "a number"),
    (AddNodes((Node("n01", "Linear"),)), "a number"),
    (AddNodes((Node("n4", "Linear"),), (Link("n4", "output", "n5", "x"),)), "does not exist"),
    (AddNodes((Node("n4", "Linear"),), (Link("n4", "output", "n2", "x"),)), "already fed"),
    (
        AddNodes((Node("n4", "Add"),), (Link("n3", "output", "n4", "x1"), Link("n4", "output", "n1", "x"))),
        "cycle",
    ),
    (Remove(("n1", "n7")), "no node"),
    (Remove(("n1",), (Link("n1", "output", "n3", "x"),)), "no link"),
    (Connect(Link("n3", "output", "n1", "x")), "cycle"),
    (Connect(Link("n1", "output", "n1", "x")), "cycle"),
    (Connect(Link("n1", "output", "n2", "x")), "already fed"),
    (Connect(Link("n1", "output", "n9", "x")), "no node"),
    (Disconnect(Link("n1", "h", "n2", "x")), "no link"),
    (SetParam("n9", "units", 1), "no node"),
    (Rename("n9", "x"), "no node"),
    (Move({"n1": (0.0, 0.0), "n9": (0.0, 0.0)}), "no node"),
]


@pytest.mark.parametrize(("edit", "sentence"), IMPOSSIBLE, ids=lambda value: str(value)[:60])
def test_an_impossible_edit_says_why_and_changes_nothing(edit: Edit, sentence: str) -> None:
    project = three()
    start = to_text(project)
    with pytest.raises(GraphError, match=sentence):
        edit.apply(project)
    assert to_text(project) == start


def test_a_refused_wire_names_the_nodes_as_the_user_does() -> None:
    with pytest.raises(GraphError, match='"layer 3" cannot feed "layer 1"') as caught:
        Connect(Link("n3", "output", "n1", "x")).apply(three())
    assert caught.value.node_id == "n1"


def test_edits_say_which_nodes_they_touch() -> None:
    assert Remove(("n2",), (AB,)).touched == {"n1", "n2"}
    assert Connect(BC).touched == {"n2", "n3"}
    assert AddNodes((Node("n4", "Linear"),), (AB,)).touched == {"n1", "n2", "n4"}
    assert SetPlan(Plan()).touched == frozenset()


def test_the_inverse_of_a_removal_touches_the_neighbours_that_lost_a_wire() -> None:
    assert Remove(("n2",)).apply(three()).touched == {"n1", "n2", "n3"}


def test_an_edit_keeps_what_it_was_made_with() -> None:
    places = {"n1": (1.0, 1.0)}
    nodes = [Node("n4", "Linear")]
    move, add = Move(places), AddNodes(nodes)  # type: ignore[arg-type]
    places["n2"] = (2.0, 2.0)
    nodes.clear()
    assert move.touched == {"n1"}
    assert add.touched == {"n4"}


def test_one_and_one_point_nought_and_true_are_three_values() -> None:
    project = three()
    SetParam("n1", "units", 1.0).apply(project)
    assert '"units": 1.0' in to_text(project)
    SetParam("n1", "units", True).apply(project)
    assert '"units": true' in to_text(project)


def test_adding_a_node_by_hand_moves_the_counter_past_it() -> None:
    project = three()
    AddNodes((Node("n20", "Linear"),)).apply(project)
    assert project.new_id() == "n21"
