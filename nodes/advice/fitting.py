"""Layers that make what comes in fit: put before a layer, or set so that two inputs of a join agree."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import isqrt
from typing import TYPE_CHECKING, Any

from engine.catalogue import Layer
from engine.catalogue.axes import confused, in_words, swapped
from engine.document.edits import SetParam
from engine.document.graph import Graph, Node, Project
from engine.shapes.node_rules import lint_rule, remedy_for_shapes
from engine.shapes.problems import Fix, Problem
from engine.shapes.remedies import count_of_units, doing, fits, inserting
from nodes.convolution.sliding import Conv2d
from nodes.dense import Embedding, Linear
from nodes.shape import Flatten, Reshape, Transpose

if TYPE_CHECKING:
    from engine.shapes.shapes import ShapeBook, Signature


@remedy_for_shapes
def inserted(graph: Graph, node: Node, book: ShapeBook) -> Fix | None:
    """Put a layer into the wire that brings the values into the form the node needs."""
    link, found = graph.feeding(node.id, "x"), book.input_signature(node.id, "x")
    if link is None or found is None:
        return None
    for type_id, params in _forms(found, book.types[node.id].family):
        facts = book.trial(type_id, params, {"x": found})
        after = facts.outputs.get("output")
        if after is not None and fits(book, node, {"x": after}):
            form = f" to {after}" if params else ""
            return inserting(f"Insert {_article(type_id)} {type_id.lower()}{form}", link, type_id, params)
    return None


def _forms(found: Signature, family: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Layers that could stand before one of that family, the likeliest first."""
    shape = found.shape
    if found.dtype == "int64":
        yield Embedding.type_id, {}
    if len(shape) == 1:
        side = isqrt(shape[0])
        if side * side == shape[0] and side > 1:
            yield Reshape.type_id, {"shape": (1, side, side)}
        sequence = (shape[0], 1) if family == "recurrent" else (1, shape[0])
        yield Reshape.type_id, {"shape": sequence}
    if len(shape) == 2:
        yield Transpose.type_id, {}
        yield Reshape.type_id, {"shape": (1, *shape)}
    if len(shape) == 3 and shape[0] == 1:
        yield Reshape.type_id, {"shape": shape[1:]}
    if len(shape) > 1:
        yield Flatten.type_id, {}


@remedy_for_shapes
def padded(graph: Graph, node: Node, book: ShapeBook) -> Fix | None:
    """Let a convolution before a join keep the size of its image."""
    arriving = book.inputs(node.id)
    for link in graph.incoming(node.id):
        before = graph.node(link.source)
        if not isinstance(book.types.get(before.id), Conv2d):
            continue
        facts = book.trial(before.type, {**before.params, "padding": "same"}, book.inputs(before.id))
        after = facts.outputs.get(link.source_port)
        if after is not None and fits(book, node, {**arriving, link.target_port: after}):
            label = f"Let {before.name or 'the convolution'} keep its size"
            return doing(label, SetParam(before.id, "padding", "same"))
    return None


@remedy_for_shapes
def projected(graph: Graph, node: Node, book: ShapeBook) -> Fix | None:
    """Bring the second input of a join to the size of the first with a layer of its own."""
    links, arriving = graph.incoming(node.id), book.inputs(node.id)
    if len(links) < 2 or any(link.target_port not in arriving for link in links):
        return None
    wanted = arriving[links[0].target_port]
    for link in links[1:]:
        found = arriving[link.target_port]
        if found.shape == wanted.shape or len(found.shape) != len(wanted.shape):
            continue
        size = wanted.shape[0]
        if len(found.shape) == 1:
            type_id, params, what = Linear.type_id, {"units": size}, f"dense layer of {count_of_units(size)}"
        else:
            type_id, params, what = Conv2d.type_id, {"filters": size, "kernel": 1}, "1×1 convolution"
        after = book.trial(type_id, params, {"x": found}).outputs.get("output")
        if after is not None and fits(book, node, {**arriving, link.target_port: after}):
            return inserting(f"Insert a {what}", link, type_id, params)
    return None


@lint_rule
def confused_axes(project: Project, node: Node, book: ShapeBook) -> Iterator[Problem]:
    """A layer computes along places what it is meant for quantities, or the other way round."""
    made, link = book.types[node.id], project.graph.feeding(node.id, "x")
    found = book.input_signature(node.id, "x")
    if link is None or found is None or not isinstance(made, Layer):
        return
    if not confused(made.takes_axes, found.axes):
        return
    fix = None
    for first, second in combinations(range(len(found.axes)), 2):
        if fix is None and not confused(made.takes_axes, swapped(found.axes, first, second)):
            params = {"first": first + 1, "second": second + 1}
            fix = inserting("Insert a transpose", link, Transpose.type_id, params)
    taken, axes = in_words(made.takes_axes), in_words(tuple(one or "?" for one in found.axes))
    message = f"{made.title} takes {taken}, but {axes} come in, which only happen to fit."
    yield Problem(node.id, message, "x", "warning", fix, "axes")


def _article(word: str) -> str:
    return "an" if word[0] in "AEIOU" else "a"
