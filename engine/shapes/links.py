"""Linked nodes: several nodes with one set of weights.

Nodes of one type share their whole layer, as when two images pass through one network. A Linear may take its
weight matrix from an Embedding, as a language model's last layer does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from engine.catalogue import Composite, NodeType
from engine.catalogue.bypass import origin
from engine.document.edits import SetShares
from engine.document.graph import Node, Project
from engine.shapes.problems import Problem
from engine.shapes.remedies import doing

if TYPE_CHECKING:
    from engine.shapes.shapes import ShapeBook


def ties(node: Node, other: Node) -> bool:
    """Whether a node takes only the weight matrix of the other."""
    return node.type == "Linear" and other.type == "Embedding"


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
            book.count_once(node.id, _matrix(book.types[other.id]) if ties(node, other) else None)
    return found


def tied(project: Project, types: Mapping[str, NodeType]) -> list[tuple[str, str]]:
    """(node, the node whose weight matrix it takes), in order."""
    found = []
    for node in project.graph.nodes.values():
        other = origin(project.graph, node) if node.shares else None
        if other is not None and ties(node, other) and node.id in types:
            found.append((node.id, other.id))
    return found


def _refusal(node: Node, other: Node | None, book: ShapeBook) -> str | None:
    if other is None:
        return f"The node whose weights {node.name or 'this one'} uses is gone."
    mine, theirs = book.facts(node.id), book.facts(other.id)
    if mine is None or theirs is None or not mine.outputs or not theirs.outputs:
        return None  # it has a problem of its own
    if ties(node, other):
        units, entries = getattr(book.types[node.id], "units", 0), getattr(book.types[other.id], "entries", 0)
        arriving, size = book.input_signature(node.id, "x"), getattr(book.types[other.id], "size", 0)
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


def _matrix(embedding: NodeType) -> int:
    return int(getattr(embedding, "entries", 0)) * int(getattr(embedding, "size", 0))
