"""Advice on a graph that works, as the notes' guidance gives it, each with the step that follows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from engine.catalogue import Layer, Loss, Output
from engine.document.edits import AddNodes, Edit, RemoveBlock, Rename
from engine.document.graph import Graph, Link, Node, Project
from engine.document.names import free_name, names_of
from engine.shapes.node_rules import ADVICE_RULES
from engine.shapes.problems import Fix, Problem
from engine.shapes.remedies import ROOM, doing

if TYPE_CHECKING:
    from engine.shapes.shapes import ShapeBook


def advice(project: Project, book: ShapeBook) -> Iterator[Problem]:
    """Warnings about dead ends, doubled names, and whatever node packages have advice on."""
    graph = project.graph
    trains = any(isinstance(book.types.get(one), Loss) for one in graph.nodes)
    yield from _doubled_names(graph)
    for one, node in graph.nodes.items():
        made = book.types.get(one)
        if not isinstance(made, Layer) or not graph.incoming(one):
            continue
        if trains and not graph.outgoing(one):
            yield _dead_end(node, made, book)
        for rule in ADVICE_RULES:
            yield from rule(project, node, book)


def _doubled_names(graph: Graph) -> Iterator[Problem]:
    first: dict[str, str] = {}
    taken = names_of(graph)
    for one, node in graph.nodes.items():
        if node.name and first.setdefault(node.name, one) != one:
            better = free_name(node.name, taken)
            yield Problem(
                one,
                f"Another node is called {node.name} too; in the code this one gets a number.",
                severity="warning",
                fix=doing(f"Call it {better}", Rename(one, better)),
                code="same-name",
            )


def unused_blocks(project: Project) -> Iterator[Problem]:
    """Warnings about blocks without an instance; none for a project that is the inside of a block."""
    if not project.blocks or any(block.graph is project.graph for block in project.blocks.values()):
        return
    used = {node.block for _, graph in project.graphs() for node in graph.nodes.values()}
    for block in project.blocks.values():
        if block.id not in used:
            yield Problem(
                None,
                f"The block {block.name or block.id} is used nowhere.",
                severity="warning",
                fix=doing("Delete it", RemoveBlock(block.id)),
                code="unused-block",
            )


def _dead_end(node: Node, made: Layer, book: ShapeBook) -> Problem:
    output = next((found for found in book.catalogue if issubclass(found, Output)), None)

    def naming(project: Project) -> tuple[Edit, ...]:
        assert output is not None
        x, y = project.graph.node(node.id).position
        added = Node(project.new_id(), output.type_id, f"{node.name} out", {}, (x + ROOM, y))
        return (AddNodes((added,), (Link(node.id, "output", added.id, "x"),)),)

    simple = output is not None and [port.name for port in made.outputs()] == ["output"]
    return Problem(
        node.id,
        f"Nothing uses what {node.name or 'this layer'} gives: it becomes a further result of the model.",
        severity="warning",
        fix=Fix("Name it as an output", naming) if simple else None,
        code="dead-end",
    )
