"""Which wires may be drawn, and what a student is told when one may not."""

from __future__ import annotations

from typing import ClassVar

import pytest

from engine.catalogue import Catalogue, Column, Composite, Data, Layer, Loss, Port, param
from engine.catalogue.connect import can_connect, free_port, node_type
from engine.document.graph import Block as Definition
from engine.document.graph import Graph, Link, Node, Project


class Image(Data):
    """Gives images with their digits."""

    def columns(self) -> tuple[Column, ...]:
        return Column("image", (1, 28, 28)), Column("digit", (), "int64")


class Dense(Layer):
    """Has one input and one output."""

    units: int = param(64, minimum=1)


class Sum(Layer):
    """Takes many inputs."""

    ports_in: ClassVar[tuple[Port, ...]] = (Port("x", many=True), Port("bias", optional=True))


class Entropy(Loss):
    """Ends a graph."""


TYPES = Catalogue([Image, Dense, Sum, Entropy])


def graph(*links: Link, **types: str) -> Graph:
    return Graph([Node(id, kind, f"the {kind}") for id, kind in types.items()], links)


def chain() -> Graph:
    return graph(
        Link("n1", "image", "n2", "x"),
        Link("n2", "output", "n3", "x"),
        n1="Image",
        n2="Dense",
        n3="Dense",
        n4="Entropy",
        n5="Sum",
        n6="Mystery",
    )


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        (("n3", "output", "n2", "x"), "would close a cycle"),
        (("n2", "output", "n2", "x"), "cannot feed itself"),
        (("n4", "output", "n2", "x"), '"the Entropy" is a loss: nothing can follow it'),
        (("n2", "output", "n1", "x"), "takes nothing in"),
        (("n2", "y", "n3", "x"), 'no output called "y"'),
        (("n2", "output", "n3", "y"), 'no input called "y"'),
        (("n2", "output", "n5", "x1y"), 'no input called "x1y"'),
        (("n2", "output", "n6", "x"), "unknown type"),
        (("n6", "output", "n2", "x"), "unknown type"),
        (("n2", "output", "n3", "x"), "there already"),
        (("n9", "output", "n3", "x"), "is gone"),
        (("n2", "output", "n9", "x"), "is gone"),
    ],
)
def test_a_wire_that_makes_no_sense_is_refused_with_the_reason(
    link: tuple[str, str, str, str], reason: str
) -> None:
    verdict = can_connect(chain(), TYPES, Link(*link))
    assert not verdict.ok
    assert reason in verdict.reason and verdict.reason.endswith(".")
    assert verdict.link is None


def test_a_free_port_takes_a_wire() -> None:
    link = Link("n1", "digit", "n4", "target")
    verdict = can_connect(chain(), TYPES, link)
    assert (verdict.ok, verdict.reason, verdict.replaces, verdict.link) == (True, "", None, link)


def test_a_second_wire_into_one_port_says_which_it_replaces() -> None:
    verdict = can_connect(chain(), TYPES, Link("n1", "digit", "n3", "x"))
    assert verdict.ok
    assert verdict.replaces == Link("n2", "output", "n3", "x")


def test_a_port_of_many_takes_the_next_place() -> None:
    wired = graph(
        Link("n1", "output", "n3", "x1"), Link("n2", "output", "n3", "x3"), n1="Dense", n2="Dense", n3="Sum"
    )
    assert free_port(wired, TYPES, "n3", "x") == "x2"
    assert free_port(wired, TYPES, "n3", "x3") == "x3"
    assert free_port(wired, TYPES, "n3", "bias") == "bias"
    assert free_port(wired, TYPES, "n9", "x") == "x"
    asked = Link("n1", "output", "n3", "x")
    verdict = can_connect(wired, TYPES, asked)
    assert (verdict.ok, verdict.link) == (True, Link("n1", "output", "n3", "x2"))
    taken = can_connect(wired, TYPES, Link("n1", "output", "n3", "x3"))
    assert taken.replaces == Link("n2", "output", "n3", "x3")


def test_a_node_with_a_wrong_value_can_still_be_wired() -> None:
    nodes = [Node("n1", "Dense", params={"units": -3, "odd": 1}), Node("n2", "Dense")]
    assert can_connect(Graph(nodes), TYPES, Link("n1", "output", "n2", "x")).ok


def test_the_reason_names_a_nameless_node_by_its_id_and_keeps_long_names_short() -> None:
    nodes = [Node("n1", "Dense", ""), Node("n2", "Mystery", "m" * 300)]
    graph = Graph([*nodes, Node("n3", "Dense")])
    assert can_connect(graph, TYPES, Link("n1", "y", "n3", "x")).reason.startswith('"n1" has no output')
    verdict = can_connect(Graph(nodes), TYPES, Link("n1", "output", "n2", "x"))
    assert len(verdict.reason) < 120


class Block(Composite):
    """Stands for a definition."""

    block: str = param("")
    times: int = param(1, minimum=1)
    scan: bool = param(False)


WITH_BLOCKS = Catalogue([Image, Dense, Sum, Entropy, Block])


def with_a_block() -> Project:
    inside = Graph(
        [
            Node("n10", "BlockInput", "second", {"order": 1}),
            Node("n11", "BlockInput", "first"),
            Node("n12", "Sum"),
            Node("n13", "BlockOutput", "result"),
        ],
        [Link("n11", "output", "n12", "x1"), Link("n12", "output", "n13", "x")],
    )
    outside = [
        Node("n1", "Image"),
        Node("n2", "Block", "cell", {"block": "b9", "times": -1}),
        Node("n3", "Dense"),
    ]
    return Project(graph=Graph(outside), blocks={"b9": Definition("b9", "Cell", inside)})


def test_an_instance_has_the_ports_of_its_definition_whatever_its_other_values() -> None:
    project = with_a_block()
    found = node_type(WITH_BLOCKS, project.node("n2"), project)
    assert found is not None
    assert [(port.name, port.title) for port in found.inputs()] == [("n11", "first"), ("n10", "second")]
    assert [port.name for port in found.outputs()] == ["n13"]
    for link, ok in (
        (Link("n1", "image", "n2", "n10"), True),
        (Link("n2", "n13", "n3", "x"), True),
        (Link("n2", "output", "n3", "x"), False),
        (Link("n1", "image", "n2", "n13"), False),
    ):
        assert can_connect(project.graph, WITH_BLOCKS, link, project).ok is ok


def test_an_instance_of_nothing_has_no_ports_and_asking_raises_nothing() -> None:
    project = Project(graph=Graph([Node("n1", "Block"), Node("n2", "Dense")]))
    assert not can_connect(project.graph, WITH_BLOCKS, Link("n1", "output", "n2", "x"), project).ok
    assert not can_connect(project.graph, WITH_BLOCKS, Link("n2", "output", "n1", "x"), project).ok


def test_a_wire_across_the_edge_of_a_block_is_refused_with_the_reason() -> None:
    project = with_a_block()
    inside = project.graph_of("b9")
    across = Link("n1", "image", "n12", "x2")
    for graph in (project.graph, inside):
        assert "cross the edge of a block" in can_connect(graph, WITH_BLOCKS, across, project).reason
    gone = Link("n1", "image", "n99", "x")
    assert can_connect(project.graph, WITH_BLOCKS, gone, project).reason == "One end of the wire is gone."


def test_wires_are_drawn_inside_a_block_as_anywhere() -> None:
    nodes = [Node("n10", "Dense"), Node("n11", "Sum")]
    project = Project(blocks={"b9": Definition("b9", "", Graph(nodes, [Link("n10", "output", "n11", "x1")]))})
    inside = project.graph_of("b9")
    verdict = can_connect(inside, WITH_BLOCKS, Link("n10", "output", "n11", "x"), project)
    assert verdict.link == Link("n10", "output", "n11", "x2")
    assert "cycle" in can_connect(inside, WITH_BLOCKS, Link("n11", "output", "n10", "x"), project).reason
