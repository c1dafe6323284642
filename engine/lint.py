"""Rules on the structure of a graph that shapes alone don't see, each with the step that mends it.

The rules come from the guidance of the notes (seed 000 §9): softmax before cross-entropy, a stack of linear
layers that collapses into one, an image fed to a dense layer, nothing to minimise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from engine.catalogue import Data, Loss, Metric
from engine.edits import AddNodes, Connect, Disconnect, Edit, Move, SetParam
from engine.graph import Graph, Link, Node, Project
from engine.problems import Fix, Problem

if TYPE_CHECKING:
    from engine.shapes import ShapeBook

PASSING = ("Dropout", "Flatten", "Reshape", "BatchNorm", "LayerNorm")


def lint(project: Project, book: ShapeBook, failed: set[str | None]) -> Iterator[Problem]:
    """The structural problems of a project; nodes in `failed` have a problem of their own already."""
    graph = project.graph
    if not graph.nodes:
        return
    sources = [one for one, found in book.types.items() if isinstance(found, Data)]
    feeding = [one for one in sources if graph.outgoing(one)]
    for extra in feeding[1:]:
        yield Problem(
            extra,
            "Two data sources feed this graph, and their rows cannot be paired.",
            code="two-sources",
        )
    losses = [one for one, found in book.types.items() if isinstance(found, Loss)]
    if feeding and not losses:
        yield Problem(
            None,
            "There is nothing to make small: connect a loss to the last layer and the target.",
            severity="warning",
            code="no-loss",
        )
    learned = any(book.parameters(one) for one in graph.nodes)
    if losses and not learned and not failed:
        yield Problem(losses[0], "No node here learns anything: add a layer with weights.", code="no-weights")
    for node_id in graph.nodes:
        if node_id in failed or node_id not in book.types:
            continue
        yield from _about(graph, graph.node(node_id), book)


def _about(graph: Graph, node: Node, book: ShapeBook) -> Iterator[Problem]:
    if node.type == "CrossEntropy":
        yield from _doubled(graph, node, "Softmax", "softmax", book)
    elif node.type == "BCEWithLogits":
        yield from _doubled(graph, node, "Sigmoid", "sigmoid", book)
    elif node.type == "Linear":
        yield from _collapsing(graph, node, book)
        yield from _image_into_dense(graph, node, book)
    if isinstance(book.types[node.id], (Loss, Metric)):
        yield from _column_mix_up(graph, node, book)


def _doubled(graph: Graph, node: Node, type_id: str, word: str, book: ShapeBook) -> Iterator[Problem]:
    """A softmax or sigmoid right before the loss that contains it."""
    link = graph.feeding(node.id, "prediction")
    if link is None:
        return
    before = graph.node(link.source)
    title = book.types[node.id].title
    message = f"{title} contains the {word} already; applied twice, it learns slowly."
    if before.type == type_id:
        feed = graph.feeding(before.id, "x")
        if feed is None:
            return
        direct = Link(feed.source, feed.source_port, node.id, "prediction")
        fix = Fix(f"Connect past the {word}", lambda _: (Disconnect(link), Connect(direct)))
        yield Problem(node.id, message, "prediction", "warning", fix, f"{word}-twice")
    elif getattr(book.types.get(before.id), "activation", None) == word:
        fix = Fix(f"Remove the {word}", lambda _: (SetParam(before.id, "activation", "none"),))
        yield Problem(node.id, message, "prediction", "warning", fix, f"{word}-twice")


def _collapsing(graph: Graph, node: Node, book: ShapeBook) -> Iterator[Problem]:
    link = graph.feeding(node.id, "x")
    before = graph.node(link.source) if link else None
    while before is not None and before.type in ("Dropout", "Flatten"):
        link = graph.feeding(before.id, "x")
        before = graph.node(link.source) if link else None
    if (
        before is None
        or before.type != "Linear"
        or getattr(book.types.get(before.id), "activation", "") != "none"
    ):
        return
    first = before.id
    yield Problem(
        node.id,
        f"{before.name} and {node.name} have nothing between them: together they are one linear layer.",
        "x",
        "warning",
        Fix(f"Give {before.name} a ReLU", lambda _: (SetParam(first, "activation", "ReLU"),)),
        "linear-stack",
    )


def _image_into_dense(graph: Graph, node: Node, book: ShapeBook) -> Iterator[Problem]:
    arriving = book.input_signature(node.id, "x")
    link = graph.feeding(node.id, "x")
    if arriving is None or link is None or len(arriving.shape) < 3:
        return

    def flatten(project: Project) -> tuple[Edit, ...]:
        return insert(project, link, "Flatten", "flatten")

    yield Problem(
        node.id,
        f"A dense layer reads the last axis only, but {arriving} comes in.",
        "x",
        "warning",
        Fix("Insert a flatten", flatten),
        "image-into-dense",
    )


def _column_mix_up(graph: Graph, node: Node, book: ShapeBook) -> Iterator[Problem]:
    prediction, target = graph.feeding(node.id, "prediction"), graph.feeding(node.id, "target")
    if prediction and isinstance(book.types.get(prediction.source), Data):
        yield Problem(
            node.id,
            "The prediction comes straight from the data; connect the last layer there.",
            "prediction",
            "warning",
            code="mixed-up",
        )
    if (
        prediction
        and target
        and (prediction.source, prediction.source_port) == (target.source, target.source_port)
    ):
        yield Problem(
            node.id, "Prediction and target are the same wire.", "target", "warning", code="mixed-up"
        )


def insert(project: Project, link: Link, type_id: str, title: str) -> tuple[Edit, ...]:
    """The edits that put a new node ("x" in, "output" out) into a wire, making room for it."""
    graph = project.graph
    source, target = graph.node(link.source), graph.node(link.target)
    there = ((source.position[0] + target.position[0]) / 2, (source.position[1] + target.position[1]) / 2)
    added = Node(project.new_id(), type_id, title, {}, there)
    edits: list[Edit] = [
        Disconnect(link),
        AddNodes(
            (added,),
            (
                Link(link.source, link.source_port, added.id, "x"),
                Link(added.id, "output", link.target, link.target_port),
            ),
        ),
    ]
    if abs(target.position[0] - source.position[0]) < 2 * ROOM:
        pushed = {link.target} | graph.descendants(link.target)
        edits.append(
            Move(
                {
                    one: (graph.node(one).position[0] + ROOM, graph.node(one).position[1])
                    for one in sorted(pushed)
                }
            )
        )
    return tuple(edits)


ROOM = 190.0  # scene units from one node to the next in a row
