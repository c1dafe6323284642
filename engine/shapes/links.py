"""Linked nodes: several nodes with one set of weights.

Nodes of one type share their whole layer, as when two images pass through one network. A Linear may take its
weight matrix from an Embedding, as a language model's last layer does.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING

from engine.catalogue import Composite, Layer, NodeType
from engine.catalogue.bypass import origin
from engine.document.edits import SetShares
from engine.document.graph import Node, Project
from engine.shapes.problems import Problem
from engine.shapes.remedies import doing

if TYPE_CHECKING:
    from engine.shapes.shapes import ShapeBook


def ties(made: NodeType | None, other: NodeType | None) -> bool:
    """Whether a layer takes only the weight matrix of the other."""
    if not isinstance(made, Layer) or not isinstance(other, Layer):
        return False
    return made.traits.takes_matrix and other.traits.matrix is not None


def link_problems(project: Project, book: ShapeBook) -> list[Problem]:
    """What keeps nodes from sharing weights; shared weights are counted once."""
    found = []
    graph = project.graph
    for node in graph.nodes.values():
        if not node.shares:
            continue
        other = origin(graph, node)
        message = _refusal(node, other, book)
        if message:
            fix = doing("Give it weights of its own", SetShares(node.id, ""))
            found.append(Problem(node.id, message, fix=fix, code="shares"))
        elif other is not None:
            theirs = book.types.get(other.id)
            book.count_once(node.id, prod(_matrix(theirs)) if ties(book.types.get(node.id), theirs) else None)
    return found


def tied(project: Project, types: Mapping[str, NodeType]) -> list[tuple[str, str]]:
    """(node, the node whose weight matrix it takes), in order."""
    found = []
    for node in project.graph.nodes.values():
        other = origin(project.graph, node) if node.shares else None
        if other is not None and ties(types.get(node.id), types.get(other.id)):
            found.append((node.id, other.id))
    return found


def _refusal(node: Node, other: Node | None, book: ShapeBook) -> str | None:
    if other is None:
        return f"The node whose weights {node.name or 'this one'} uses is gone."
    mine, theirs = book.facts(node.id), book.facts(other.id)
    if mine is None or theirs is None or not mine.outputs or not theirs.outputs:
        return None  # it has a problem of its own
    if ties(book.types[node.id], book.types[other.id]):
        units, (entries, size) = getattr(book.types[node.id], "units", 0), _matrix(book.types[other.id])
        arriving = book.input_signature(node.id, "x")
        if arriving is None or (units, arriving.shape[-1]) == (entries, size):
            return None
        return (
            f"{node.name} has {units:,}×{arriving.shape[-1]} weights and {other.name} {entries:,}×{size}: "
            "they must be alike to be one."
        )
    if node.type != other.type:
        return f"{node.name} and {other.name} are of different kinds and cannot share weights."
    if isinstance(book.types[node.id], Composite):  # its layers follow from what comes in
        own: list[list[object]] = [list(book.inputs(one.id).values()) for one in (node, other)]
    elif mine.constructors:
        own = [list(one.constructors) for one in (mine, theirs)]
    else:
        return f"{node.name} has no weights to share."
    if own[0] != own[1]:
        return (
            f"{node.name} and {other.name} share weights, so the same sizes must come in: "
            f"{_arriving(node, book)} is not {_arriving(other, book)}."
        )
    return None


def _arriving(node: Node, book: ShapeBook) -> str:
    return " and ".join(str(found) for found in book.inputs(node.id).values())


def _matrix(made: NodeType | None) -> tuple[int, ...]:
    """The sizes of the weight matrix that another layer may take."""
    sizes = made.traits.matrix if isinstance(made, Layer) else None
    return tuple(int(getattr(made, size)) for size in sizes or ())
