"""A selection becomes a block and comes back unchanged (cases E-5, A-15, C10)."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from engine.document.blocks import block_name, copy_independent, group, ports_of, ungroup
from engine.document.document import Document
from engine.document.dressing import Frame, Note
from engine.document.edits import (
    AddFrame,
    AddNodes,
    AddNote,
    Connect,
    Edit,
    Move,
    Remove,
    RemoveBlock,
    SetBends,
    SetMuted,
    SetParam,
    SetShares,
)
from engine.document.files import from_text, to_text
from engine.document.graph import Block, Graph, Link, Node, Project
from engine.document.names import free_name
from engine.errors import GraphError


def net() -> Document:
    """Data into two layers that meet again, one of them unknown; a loss at the end."""
    nodes = [
        Node("n1", "Mnist", "digits", {}, (0.0, 0.0)),
        Node("n2", "Linear", "left", {"units": 8}, (200.0, -50.0)),
        Node("n3", "HyperConv9", "层", {"kernel": (3, 5)}, (200.0, 50.0), {"pinned": [1]}),
        Node("n4", "Concatenate", "both", {}, (400.0, 0.0)),
        Node("n5", "Linear", "scores", {"units": 10}, (600.0, 0.0)),
        Node("n6", "CrossEntropy", "loss", {}, (800.0, 0.0)),
    ]
    links = [
        Link("n1", "image", "n2", "x"),
        Link("n1", "image", "n3", "odd port"),
        Link("n2", "output", "n4", "x1"),
        Link("n3", "output", "n4", "x2"),
        Link("n4", "output", "n5", "x"),
        Link("n5", "output", "n6", "prediction"),
        Link("n1", "digit", "n6", "target"),
    ]
    bends = {links[0]: ((100.0, -40.0),), links[3]: ((300.0, 60.0), (350.0, 10.0)), links[4]: ((500.0, 1.5),)}
    return Document(Project(graph=Graph(nodes, links, bends), next_id=7))


def do(document: Document, *edits: Edit, label: str = "Do") -> None:
    with document.step(label):
        for edit in edits:
            document.apply(edit)


def grouped(document: Document, *ids: str, name: str = "Block") -> str:
    """Group nodes; returns the id of the instance."""
    before = {id for _, graph in document.project.graphs() for id in graph.nodes}
    do(document, *group(document.project, ids, name), label="Group")
    (made,) = (
        id
        for _, graph in document.project.graphs()
        for id, node in graph.nodes.items()
        if id not in before and node.type == "Block"
    )
    return made


def drawn(project: Project) -> str:
    """The project as text without the counter of ids, which never goes back."""
    text = to_text(project)
    return text.replace(f'"next_id": {project.next_id},', "")


CHOICES = [
    ("n2", "n3", "n4"),
    ("n2", "n3"),
    ("n3",),
    ("n4", "n5"),
    ("n1", "n2", "n3", "n4", "n5", "n6"),
    ("n5", "n6"),
    ("n1",),
]


@pytest.mark.parametrize("ids", CHOICES, ids=lambda ids: "+".join(ids))
def test_group_then_ungroup_gives_the_same_project_and_undo_of_each_is_exact(ids: tuple[str, ...]) -> None:
    document = net()
    start = drawn(document.project)
    instance = grouped(document, *ids)
    packed = drawn(document.project)
    assert packed != start
    do(document, *ungroup(document.project, instance), label="Ungroup")
    assert drawn(document.project) == start
    assert document.undo() == "Ungroup"
    assert drawn(document.project) == packed
    assert document.undo() == "Group"
    assert drawn(document.project) == start
    document.redo()
    assert drawn(document.project) == packed
    again = from_text(to_text(document.project))
    assert again == document.project


def test_a_block_has_one_port_for_each_value_that_crosses_its_edge() -> None:
    document = net()
    instance = grouped(document, "n2", "n3", "n4", name="Encoder")
    project = document.project
    node = project.node(instance)
    assert (node.type, node.position) == ("Block", (300.0, 0.0))
    block = project.blocks[node.block]
    assert block.name == "Encoder"
    inputs, outputs = ports_of(project, block.id)
    assert [(port.name, port.params["order"]) for port in inputs] == [("x", 0)]
    assert [port.name for port in outputs] == ["output"]
    assert project.graph.feeding(instance, inputs[0].id) == Link("n1", "image", instance, inputs[0].id)
    assert [(link.target, link.target_port) for link in block.graph.outgoing(inputs[0].id)] == [
        ("n2", "x"),
        ("n3", "odd port"),
    ]
    assert project.graph.feeding("n5", "x") == Link(instance, outputs[0].id, "n5", "x")
    assert project.home("n3") == block.id
    assert block.graph.node("n3").extra == {"pinned": [1]}


def test_ports_lie_in_the_order_of_what_feeds_them_and_have_names_of_their_own() -> None:
    nodes = [Node("n1", "A", position=(0, 100)), Node("n2", "A", position=(0, 0)), Node("n3", "Add", "x")]
    links = [Link("n1", "output", "n3", "x1"), Link("n2", "output", "n3", "x2")]
    document = Document(Project(graph=Graph(nodes, links), next_id=4))
    node = document.project.node(grouped(document, "n3"))
    inputs, _ = ports_of(document.project, node.block)
    assert [port.name for port in inputs] == ["x2", "x1"]
    assert [document.project.graph.feeding(node.id, port.id).source for port in inputs] == ["n2", "n1"]
    do(document, SetParam(inputs[0].id, "order", 9))
    assert [port.name for port in ports_of(document.project, node.block)[0]] == ["x1", "x2"]


def test_a_block_that_was_moved_gives_its_nodes_back_where_it_is() -> None:
    document = net()
    instance = grouped(document, "n2", "n3", "n4")
    do(document, Move({instance: (300.0, 500.0)}))
    do(document, *ungroup(document.project, instance))
    assert document.project.node("n2").position == (200.0, 450.0)
    assert document.project.node("n4").position == (400.0, 500.0)
    wire = Link("n3", "output", "n4", "x2")
    assert document.project.graph.bends(wire) == ((300.0, 560.0), (350.0, 510.0))


def test_bends_made_outside_and_inside_a_block_are_put_together() -> None:
    document = net()
    instance = grouped(document, "n2", "n3", "n4")
    project = document.project
    (into,), (out,) = project.graph.incoming(instance), project.graph.outgoing(instance)
    last = Link("n4", "output", out.source_port, "x")
    do(document, SetBends(into, ((50.0, 0.0),)), SetBends(last, ((420.0, 1.0),)))
    do(document, *ungroup(project, instance))
    assert project.graph.bends(Link("n1", "image", "n2", "x")) == ((50.0, 0.0), (100.0, -40.0))
    assert project.graph.bends(Link("n1", "image", "n3", "odd port")) == ((50.0, 0.0),)
    assert project.graph.bends(Link("n4", "output", "n5", "x")) == ((420.0, 1.0), (500.0, 1.5))


def test_one_instance_of_several_is_replaced_by_a_copy() -> None:
    document = net()
    instance = grouped(document, "n2", "n3", "n4")
    project = document.project
    block_id = project.node(instance).block
    other = Node(project.new_id(), "Block", "again", {"block": block_id}, (300.0, 800.0))
    do(document, AddNodes((other,), (Link("n1", "image", other.id, ports_of(project, block_id)[0][0].id),)))
    assert project.instances(block_id) == [instance, other.id]
    kept = drawn(Project(graph=project.blocks[block_id].graph))
    do(document, *ungroup(project, other.id))
    assert drawn(Project(graph=project.blocks[block_id].graph)) == kept
    assert project.instances(block_id) == [instance]
    copies = [node for node in project.graph.nodes.values() if node.type == "HyperConv9"]
    assert [(node.name, node.extra) for node in copies] == [("层", {"pinned": [1]})]
    assert project.graph.feeding(copies[0].id, "odd port") == Link("n1", "image", copies[0].id, "odd port")


def test_blocks_nest_and_come_apart_again_level_by_level() -> None:
    document = net()
    texts = [drawn(document.project)]
    instances = []
    chosen: Iterable[str] = ("n2",)
    for more in ("n3", "n4", "n5"):
        instances.append(grouped(document, *chosen, more))
        texts.append(drawn(document.project))
        chosen = (instances[-1],)
        again = from_text(to_text(document.project))
        assert again == document.project and to_text(again) == to_text(document.project)
    project = document.project
    outermost = project.node(instances[2]).block
    assert project.contents(outermost) == {project.node(id).block for id in instances[:2]}
    assert project.home("n2") == project.node(instances[0]).block
    for instance in reversed(instances):
        texts.pop()
        do(document, *ungroup(project, instance))
        assert drawn(project) == texts[-1]


def test_a_selection_with_something_between_is_refused_with_its_name() -> None:
    document = net()
    with pytest.raises(GraphError, match='"both" lies between') as caught:
        group(document.project, ["n2", "n5"], "Block")
    assert (caught.value.node_id, caught.value.fix) == ("n4", "Choose it too.")


def test_nodes_that_share_weights_go_into_a_block_together() -> None:
    document = net()
    do(document, SetShares("n5", "n2"))
    start = drawn(document.project)
    for ids in (["n2"], ["n5"]):
        with pytest.raises(GraphError, match="shares weights with"):
            group(document.project, ids, "Block")
    instance = grouped(document, "n2", "n3", "n4", "n5")
    assert document.project.node("n5").shares == "n2"
    do(document, *ungroup(document.project, instance))
    assert drawn(document.project) == start


def test_ports_and_nodes_of_two_graphs_make_no_block() -> None:
    document = net()
    instance = grouped(document, "n2", "n3")
    inputs, _ = ports_of(document.project, document.project.node(instance).block)
    for ids, words in (
        ([inputs[0].id], "stay where they are"),
        (["n2", "n4"], "of one graph"),
        ([], "Choose the nodes"),
        (["n99"], "no node"),
    ):
        with pytest.raises(GraphError, match=words):
            group(document.project, ids, "Block")


def test_a_block_cannot_contain_itself_at_any_depth() -> None:
    document = net()
    inner = grouped(document, "n2", "n3")
    outer = grouped(document, inner, "n4")
    project = document.project
    inner_block, outer_block = project.node(inner).block, project.node(outer).block
    before = to_text(project)
    for into in (inner_block, outer_block):
        with pytest.raises(GraphError, match="cannot contain itself"):
            AddNodes((Node("n50", "Block", "", {"block": outer_block}),), into=into).apply(project)
    with pytest.raises(GraphError, match="cannot contain itself"):
        SetParam(inner, "block", outer_block).apply(project)
    with pytest.raises(GraphError, match="does not exist"):
        SetParam(outer, "block", "b99").apply(project)
    with pytest.raises(GraphError, match="is in use"):
        RemoveBlock(inner_block).apply(project)
    assert to_text(project) == before


def test_a_wire_cannot_cross_the_edge_of_a_block() -> None:
    document = net()
    grouped(document, "n2", "n3")
    before = to_text(document.project)
    link = Link("n1", "image", "n2", "x9")
    for edit in (Connect(link), AddNodes((), (link,))):
        with pytest.raises(GraphError, match="cannot cross"):
            edit.apply(document.project)
    assert to_text(document.project) == before


def test_removing_a_port_takes_its_wires_off_every_instance_and_undo_brings_them_back() -> None:
    document = net()
    instance = grouped(document, "n2", "n3", "n4")
    project = document.project
    block_id = project.node(instance).block
    inputs, outputs = ports_of(project, block_id)
    do(document, SetBends(Link("n1", "image", instance, inputs[0].id), ((50.0, 50.0),)))
    before = drawn(project)
    do(document, Remove((inputs[0].id, outputs[0].id, "n1")))
    assert project.graph.incoming(instance) == project.graph.outgoing(instance) == []
    assert from_text(to_text(project)) == project
    document.undo()
    assert drawn(project) == before


def test_frames_and_notes_go_into_the_block_and_out_again() -> None:
    document = net()
    do(
        document,
        AddFrame(Frame("f7", "inner", "blue", frozenset({"n2", "n3"}))),
        AddFrame(Frame("f8", "all", "green", frozenset({"n1", "n2", "n3", "n4", "n5"}))),
        AddFrame(Frame("f9", "elsewhere", "red", frozenset({"n6"}))),
        AddNote(Note("t10", "*why*", (210.0, 0.0))),
    )
    start = drawn(document.project)
    do(document, *group(document.project, ["n2", "n3", "n4", "t10"], "Encoder"))
    project = document.project
    (block_id,) = project.blocks
    (instance,) = project.instances(block_id)
    assert project.frames["f7"].scope == project.notes_on_canvas["t10"].scope == block_id
    assert project.frames["f8"].members == {"n1", "n5", instance}
    packed = drawn(project)
    do(document, *ungroup(project, instance))
    assert drawn(project) == start
    document.undo()
    assert drawn(project) == packed
    document.undo()
    assert drawn(project) == start


def test_a_muted_block_leaves_muted_nodes() -> None:
    document = net()
    instance = grouped(document, "n2", "n3")
    do(document, SetMuted((instance,), True))
    do(document, *ungroup(document.project, instance))
    assert [node.id for node in document.project.graph.nodes.values() if node.muted] == ["n2", "n3"]


@pytest.mark.parametrize(
    ("name", "value", "words"), [("times", 3, "is repeated"), ("scan", True, "along the sequence")]
)
def test_what_nodes_alone_cannot_do_stays_a_block(name: str, value: object, words: str) -> None:
    document = net()
    instance = grouped(document, "n2", "n3")
    do(document, SetParam(instance, name, value))  # type: ignore[arg-type]
    with pytest.raises(GraphError, match=words):
        ungroup(document.project, instance)
    with pytest.raises(GraphError, match="is no block"):
        ungroup(document.project, "n5")


def test_an_independent_copy_changes_alone_at_every_depth_and_keeps_its_wires() -> None:
    document = net()
    inner = grouped(document, "n2", "n3", name="Inner")
    outer = grouped(document, inner, "n4", name="Outer")
    project = document.project
    old = project.node(outer).block
    twin = Node(project.new_id(), "Block", "twin", {"block": old})
    do(document, AddNodes((twin,), (Link("n1", "image", twin.id, ports_of(project, old)[0][0].id),)))
    before = drawn(project)
    do(document, *copy_independent(project, twin.id), label="Independent")
    new = project.node(twin.id).block
    assert new != old and project.instances(new) == [twin.id] and project.instances(old) == [outer]
    assert project.contents(new).isdisjoint(project.contents(old))
    assert sorted(block.name for block in project.blocks.values()) == ["Inner", "Inner1", "Outer", "Outer1"]
    assert project.graph.incoming(twin.id) == [Link("n1", "image", twin.id, ports_of(project, new)[0][0].id)]
    nested = next(node for node in project.graph_of(new).nodes.values() if node.block)
    ports = project.graph_of(nested.block).nodes
    assert {link.target_port for link in project.graph_of(new).incoming(nested.id)} <= ports.keys()
    assert {link.source_port for link in project.graph_of(new).outgoing(nested.id)} <= ports.keys()
    kept = drawn(Project(graph=project.blocks[old].graph))
    for id in project.blocks[new].graph.nodes:
        do(document, SetParam(id, "changed", True))
    assert drawn(Project(graph=project.blocks[old].graph)) == kept
    assert from_text(to_text(project)) == project
    while document.undo() != "Independent":
        pass
    assert drawn(project) == before


def test_names_of_blocks_are_told_apart() -> None:
    project = Project(blocks={"b1": Block("b1", "Encoder"), "b2": Block("b2", "Encoder1")})
    assert block_name(project, "Encoder") == "Encoder2"
    assert block_name(project, "Decoder") == "Decoder"
    assert block_name(project, "") == "Block1"


@pytest.mark.parametrize(
    ("wanted", "taken", "expected"),
    [
        ("conv1", {"conv2"}, "conv1"),
        ("Conv (1)", {"Conv (1)"}, "Conv (2)"),
        ("12", {"12", "13"}, "14"),
        ("resnet18", {"resnet18"}, "resnet19"),
        ("layer 09", {"layer 09"}, "layer 10"),
        ("relu", {"relu", "relu1"}, "relu2"),
        ("9" * 5000, {"9" * 5000}, "9" * 4991 + "1000000000"),
    ],
)
def test_a_name_that_is_taken_is_counted_on(wanted: str, taken: set[str], expected: str) -> None:
    assert free_name(wanted, taken) == expected


def _block(*nodes: Node, links: tuple[Link, ...] = ()) -> Document:
    """Two layers with an instance of a block of these nodes between them."""
    block = Block(
        "b9", "inside", Graph((Node("n91", "BlockInput"), *nodes, Node("n92", "BlockOutput")), links)
    )
    outer = (Node("n1", "Linear"), Node("n2", "Block", params={"block": "b9"}), Node("n3", "Linear"))
    wires = (Link("n1", "output", "n2", "n91"), Link("n2", "n92", "n3", "x"))
    return Document(Project(graph=Graph(outer, wires), blocks={"b9": block}))


def test_a_wire_at_a_port_that_an_output_lacks_is_not_put_together_with_those_outside() -> None:
    """Two of them would feed one input."""
    layers = Node("n93", "Linear"), Node("n94", "Linear")
    links = (
        Link("n91", "output", "n93", "x"),
        Link("n91", "odd", "n94", "x"),
        Link("n93", "output", "n92", "x"),
        Link("n94", "output", "n92", "odd"),
    )
    document = _block(*layers, links=links)
    do(document, *ungroup(document.project, "n2"))
    assert set(document.project.graph.links) == {
        Link("n1", "output", "n93", "x"),
        Link("n93", "output", "n3", "x"),
    }


@pytest.mark.parametrize("several", [False, True], ids=["only", "several"])
def test_wires_into_an_input_or_out_of_an_output_go_with_the_ports(several: bool) -> None:
    """Inputs fed from inside, outputs that lead on, and a value that goes straight through."""
    links = (
        Link("n91", "output", "n92", "x"),
        Link("n91", "output", "n94", "x"),
        Link("n92", "x", "n95", "x"),
        Link("n92", "output", "n96", "x"),
        Link("n95", "output", "n97", "x"),
        Link("n93", "output", "n91", "x"),
        Link("n93", "output", "n91", "output"),
    )
    layers = Node("n93", "Linear"), Node("n94", "Linear"), Node("n96", "Linear")
    document = _block(*layers, Node("n95", "BlockInput"), Node("n97", "BlockOutput"), links=links)
    if several:
        do(document, AddNodes((Node("n4", "Block", params={"block": "b9"}),)))
    start = drawn(document.project)
    do(document, *ungroup(document.project, "n2"), label="Ungroup")
    graph = document.project.graph
    (inside,) = (link.target for link in graph.outgoing("n1") if link.target != "n3")
    assert set(graph.links) == {Link("n1", "output", "n3", "x"), Link("n1", "output", inside, "x")}
    assert sum(node.type == "Linear" for node in graph.nodes.values()) == 5
    assert ("b9" in document.project.blocks) is several
    if several:
        assert set(document.project.graph_of("b9").links) == set(links)
    assert document.undo() == "Ungroup"
    assert drawn(document.project) == start


def test_a_layer_that_shared_the_weights_of_a_port_shares_those_behind_it_or_none() -> None:
    ports = Node("n95", "BlockInput", shares="n93")
    layers = Node("n93", "Linear"), Node("n94", "Linear", shares="n95"), Node("n96", "Linear", shares="n91")
    document = _block(ports, *layers)
    do(document, *ungroup(document.project, "n2"))
    nodes = document.project.graph.nodes
    assert (nodes["n94"].shares, nodes["n96"].shares) == ("n93", "")
