"""Nodes go or change their type, and the wires around them stay (cases E-9, W4)."""

from __future__ import annotations

import pytest

from engine.catalogue import Catalogue, load_catalogue
from engine.document.document import Document
from engine.document.dressing import Frame, Note
from engine.document.edits import AddFrame, AddNote, Edit, SetMuted, SetPlan, SetShares
from engine.document.files import from_text, to_text
from engine.document.graph import Block, Graph, Link, Node, Project
from engine.errors import GraphError
from engine.shapes.rewire import cutting, removing_and_reconnecting, replacing


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue()


def net() -> Document:
    """Images through two convolutions, an unknown node and a Linear to a loss; a sum at the side."""
    nodes = [
        Node("n1", "Mnist", "digits"),
        Node("n2", "Conv2d", "first", {"filters": 8, "kernel": (3, 5), "bias": False}, (100.0, 0.0)),
        Node("n3", "Conv2d", "second", {"filters": 16}, (200.0, 0.0)),
        Node("n4", "HyperConv9", "层", {"filters": 4}, (300.0, 0.0)),
        Node("n5", "Linear", "scores", {"units": 10}, (400.0, 0.0)),
        Node("n6", "CrossEntropy", "loss", {}, (500.0, 0.0)),
        Node("n7", "Add", "sum", {}, (300.0, 100.0)),
        Node("n8", "Flatten", "row", {}, (400.0, 100.0)),
    ]
    links = [
        Link("n1", "image", "n2", "x"),
        Link("n2", "output", "n3", "x"),
        Link("n3", "output", "n4", "x"),
        Link("n4", "output", "n5", "x"),
        Link("n5", "output", "n6", "prediction"),
        Link("n1", "digit", "n6", "target"),
        Link("n2", "output", "n7", "x1"),
        Link("n3", "output", "n7", "x2"),
        Link("n7", "output", "n8", "x"),
    ]
    bends = {links[1]: ((150.0, 9.0),), links[2]: ((250.0, 9.0),)}
    return Document(Project(graph=Graph(nodes, links, bends), next_id=9))


def do(document: Document, edits: tuple[Edit, ...]) -> list[Link]:
    """Apply edits in one step that undo takes back exactly; returns the links."""
    before = to_text(document.project)
    with document.step("Rewire"):
        for edit in edits:
            document.apply(edit)
    after = to_text(document.project)
    assert from_text(after) == document.project
    assert document.undo() == "Rewire"
    document.project.next_id = from_text(before).next_id
    assert to_text(document.project) == before
    document.redo()
    return list(document.project.graph.links)


# -- cut


def test_a_stroke_cuts_the_wires_that_are_there_in_one_edit() -> None:
    document = net()
    links = document.project.graph.links
    (edit,) = cutting(document.project, [links[0], links[0], links[4], Link("n1", "image", "n5", "x")])
    assert set(do(document, (edit,))) == set(links) - {links[0], links[4]}
    assert cutting(document.project, [links[0]]) == ()


# -- delete and reconnect


def test_a_chain_goes_and_its_neighbours_are_joined_with_the_bends_of_both_sides(
    catalogue: Catalogue,
) -> None:
    document = net()
    links = do(document, removing_and_reconnecting(document.project, catalogue, ["n3"]))
    assert Link("n2", "output", "n4", "x") in links
    assert Link("n2", "output", "n7", "x2") in links
    assert document.project.graph.bends(Link("n2", "output", "n4", "x")) == ((150.0, 9.0), (250.0, 9.0))


def test_several_at_once_and_a_node_of_an_unknown_type_hand_the_wire_on(catalogue: Catalogue) -> None:
    document = net()
    links = do(document, removing_and_reconnecting(document.project, catalogue, ["n2", "n3", "n4"]))
    assert Link("n1", "image", "n5", "x") in links
    assert [link.source for link in links if link.target == "n7"] == ["n1", "n1"]


def test_where_several_wires_meet_nothing_is_joined(catalogue: Catalogue) -> None:
    document = net()
    links = do(document, removing_and_reconnecting(document.project, catalogue, ["n7"]))
    assert not [link for link in links if link.target == "n8"]


def test_a_source_and_an_end_just_go(catalogue: Catalogue) -> None:
    document = net()
    links = do(document, removing_and_reconnecting(document.project, catalogue, ["n1", "n6"]))
    assert all({link.source, link.target} <= {"n2", "n3", "n4", "n5", "n7", "n8"} for link in links)
    assert len(links) == 6


def test_a_side_output_is_not_what_came_in(catalogue: Catalogue) -> None:
    nodes = [Node("n1", "SantaFe"), Node("n2", "LSTM"), Node("n3", "Linear"), Node("n4", "Linear")]
    links = [
        Link("n1", "past", "n2", "x"),
        Link("n2", "h", "n3", "x"),
        Link("n2", "output", "n4", "x"),
    ]
    document = Document(Project(graph=Graph(nodes, links), next_id=5))
    left = do(document, removing_and_reconnecting(document.project, catalogue, ["n2"]))
    assert [link.target for link in left] in ([], ["n4"])
    assert not [link for link in left if link.target == "n3"]


def test_notes_and_frames_go_too_and_what_is_gone_is_passed_over(catalogue: Catalogue) -> None:
    document = net()
    with document.step("Add"):
        document.apply(AddFrame(Frame("f20", "F", members=frozenset({"n2", "n3"}))))
        document.apply(AddFrame(Frame("f21", "G", members=frozenset({"n2"}))))
        document.apply(AddNote(Note("t22", "hi")))
    do(document, removing_and_reconnecting(document.project, catalogue, ["n2", "f20", "t22", "n99"]))
    assert not document.project.frames and not document.project.notes_on_canvas
    assert removing_and_reconnecting(document.project, catalogue, ["n99"]) == ()


def test_it_works_inside_a_block(catalogue: Catalogue) -> None:
    inside = [
        Node("n1", "BlockInput", "x"),
        Node("n2", "Linear"),
        Node("n3", "Linear"),
        Node("n4", "BlockOutput", "y"),
    ]
    links = [
        Link("n1", "output", "n2", "x"),
        Link("n2", "output", "n3", "x"),
        Link("n3", "output", "n4", "x"),
    ]
    project = Project(blocks={"b5": Block("b5", "Cell", Graph(inside, links))}, next_id=6)
    document = Document(project)
    do(document, removing_and_reconnecting(project, catalogue, ["n2", "n3"]))
    assert project.graph_of("b5").links == (Link("n1", "output", "n4", "x"),)


# -- another type


def test_another_type_keeps_name_place_values_and_wires_that_fit(catalogue: Catalogue) -> None:
    document = net()
    do(document, replacing(document.project, catalogue, "n2", "Conv1d"))
    (node,) = (node for node in document.project.graph.nodes.values() if node.type == "Conv1d")
    assert (node.id, node.name, node.position) == ("n9", "first", (100.0, 0.0))
    assert node.params == {"filters": 8, "bias": False}, "a pair is no length"
    graph = document.project.graph
    assert graph.incoming("n9") == [Link("n1", "image", "n9", "x")]
    assert [link.target for link in graph.outgoing("n9")] == ["n3", "n7"]
    assert graph.bends(Link("n9", "output", "n3", "x")) == ((150.0, 9.0),)
    assert "n2" not in graph.nodes


def test_wires_find_the_port_of_the_same_place_where_names_differ(catalogue: Catalogue) -> None:
    document = net()
    do(document, replacing(document.project, catalogue, "n7", "Linear"))
    graph = document.project.graph
    assert graph.incoming("n9") == [Link("n2", "output", "n9", "x")]
    assert graph.feeding("n8", "x") == Link("n9", "output", "n8", "x")
    do(document, replacing(document.project, catalogue, "n9", "Concatenate"))
    assert graph.incoming("n10") == [Link("n2", "output", "n10", "x1")]
    do(document, replacing(document.project, catalogue, "n6", "MSE"))
    assert graph.feeding("n11", "target") == Link("n1", "digit", "n11", "target")
    assert graph.feeding("n11", "prediction") == Link("n5", "output", "n11", "prediction")


def test_a_node_of_an_unknown_type_can_be_replaced(catalogue: Catalogue) -> None:
    document = net()
    do(document, replacing(document.project, catalogue, "n4", "Conv2d"))
    assert document.project.graph.feeding("n9", "x") == Link("n3", "output", "n9", "x")
    assert document.project.graph.feeding("n5", "x") == Link("n9", "output", "n5", "x")
    assert document.project.node("n9").params == {"filters": 4}


def test_a_layer_becomes_a_loss_without_the_wires_that_no_loss_has(catalogue: Catalogue) -> None:
    document = net()
    do(document, replacing(document.project, catalogue, "n3", "MSE"))
    graph = document.project.graph
    assert graph.feeding("n9", "prediction") == Link("n2", "output", "n9", "prediction")
    assert graph.outgoing("n9") == []


def test_frame_mute_and_plan_follow_and_weights_stay_with_the_others(catalogue: Catalogue) -> None:
    document = net()
    plan = document.project.plan.with_(loss="n6")
    with document.step("Prepare"):
        document.apply(AddFrame(Frame("f20", "F", members=frozenset({"n3"}))))
        document.apply(SetMuted(("n3",), True))
        document.apply(SetShares("n2", "n3"))
        document.apply(SetPlan(plan))
    do(document, replacing(document.project, catalogue, "n3", "Linear"))
    assert document.project.frames["f20"].members == {"n21"}
    assert document.project.node("n21").muted
    assert document.project.node("n2").shares == ""
    do(document, replacing(document.project, catalogue, "n6", "MSE"))
    assert document.project.plan.objective.loss == "n22"


def test_a_replacement_that_makes_no_sense_is_refused(catalogue: Catalogue) -> None:
    document = net()
    assert replacing(document.project, catalogue, "n5", "Linear") == ()
    with pytest.raises(GraphError, match="no node type"):
        replacing(document.project, catalogue, "n5", "Perceptron9")
    with pytest.raises(GraphError, match="no node"):
        replacing(document.project, catalogue, "n99", "Linear")
    block = Block("b1", "B", Graph([Node("n1", "BlockInput")]))
    with pytest.raises(GraphError, match="stay what they are"):
        replacing(Project(blocks={"b1": block}), catalogue, "n1", "Linear")
