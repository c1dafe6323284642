"""Which wires may be drawn, and what a student is told when one may not."""

from __future__ import annotations

from typing import ClassVar

import pytest

from engine.catalogue import Catalogue, Column, Data, Layer, Loss, Port, param
from engine.connect import can_connect, free_port
from engine.graph import Graph, Link, Node


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
