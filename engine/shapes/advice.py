"""Advice on a graph that works: what the notes' guidance would say of it, each with the step that follows it.

Seed 000 §9: depth with sigmoids makes gradients vanish, a bias before batch norm does nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from engine.catalogue import Layer, Loss
from engine.document.edits import AddNodes, Edit, Rename, SetParam
from engine.document.graph import Graph, Link, Node, Project
from engine.document.names import names_of, numbered
from engine.shapes.problems import Fix, Problem
from engine.shapes.remedies import ROOM, doing

if TYPE_CHECKING:
    from engine.shapes.shapes import ShapeBook

FLAT = ("sigmoid", "tanh")  # activations whose slope is near zero away from the middle
DEEP = 5  # of these in a row


def advice(project: Project, book: ShapeBook) -> Iterator[Problem]:
    """Warnings about dead ends, doubled names, biases without effect and gradients that will vanish."""
    graph = project.graph
    trains = any(isinstance(book.types.get(one), Loss) for one in graph.nodes)
    yield from _doubled_names(graph)
    for one, node in graph.nodes.items():
        made = book.types.get(one)
        if not isinstance(made, Layer) or not graph.incoming(one):
            continue
        if trains and not graph.outgoing(one):
            yield _dead_end(node)
        if node.type == "BatchNorm":
            yield from _idle_bias(graph, node, book)
        yield from _vanishing(graph, node, book)


def _doubled_names(graph: Graph) -> Iterator[Problem]:
    first: dict[str, str] = {}
    taken = names_of(graph)
    for one, node in graph.nodes.items():
        if node.name and first.setdefault(node.name, one) != one:
            better = numbered(node.name.rstrip("0123456789 ") or node.name, taken)
            yield Problem(
                one,
                f"Another node is called {node.name} too; in the code this one gets a number.",
                severity="warning",
                fix=doing(f"Call it {better}", Rename(one, better)),
                code="same-name",
            )


def _dead_end(node: Node) -> Problem:
    def naming(project: Project) -> tuple[Edit, ...]:
        x, y = project.graph.node(node.id).position
        added = Node(project.new_id(), "Output", f"{node.name} out", {}, (x + ROOM, y))
        return (AddNodes((added,), (Link(node.id, "output", added.id, "x"),)),)

    simple = node.type not in ("LSTM", "GRU", "Block")
    return Problem(
        node.id,
        f"Nothing uses what {node.name or 'this layer'} gives: it becomes a further result of the model.",
        severity="warning",
        fix=Fix("Name it as an output", naming) if simple else None,
        code="dead-end",
    )


def _idle_bias(graph: Graph, node: Node, book: ShapeBook) -> Iterator[Problem]:
    link = graph.feeding(node.id, "x")
    before = book.types.get(link.source) if link else None
    if link is None or len(graph.outgoing(link.source)) != 1:
        return
    if getattr(before, "bias", False) and getattr(before, "activation", "none") == "none":
        yield Problem(
            link.source,
            "Batch norm takes the mean away, so a bias right before it does nothing.",
            severity="warning",
            fix=doing("Leave the bias out", SetParam(link.source, "bias", False)),
            code="idle-bias",
        )


def _vanishing(graph: Graph, node: Node, book: ShapeBook) -> Iterator[Problem]:
    """A chain of flat activations that ends at this node and reaches the depth at which it matters."""
    chain = _flat_depth(graph, node, book)
    if chain != DEEP:
        return
    fix = None
    if getattr(book.types.get(node.id), "activation", None) in FLAT:
        fix = doing(f"Give {node.name} a ReLU", SetParam(node.id, "activation", "ReLU"))
    yield Problem(
        node.id,
        f"{chain} layers of sigmoid or tanh in a row: gradients shrink at each, so the first learn slowly.",
        severity="warning",
        fix=fix,
        code="vanishing",
    )


def _flat_depth(graph: Graph, node: Node, book: ShapeBook) -> int:
    depth, one = 0, node.id
    while True:
        made = book.types.get(one)
        flat = graph.node(one).type.casefold() in FLAT or getattr(made, "activation", None) in FLAT
        if flat:
            depth += 1
        elif one == node.id or not _plain(graph.node(one)):
            return depth
        if depth > DEEP:
            return depth
        feeding = graph.incoming(one)
        if len(feeding) != 1:
            return depth
        one = feeding[0].source


def _plain(node: Node) -> bool:
    return node.type in ("Linear", "Dropout", "Flatten", "Reshape", "Conv1d", "Conv2d")
