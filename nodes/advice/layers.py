"""What is wrong with layers of single types, and what could be better."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.catalogue import Data, Layer, Loss, NodeType
from engine.catalogue.bypass import keeps_values
from engine.catalogue.traits import Squash
from engine.document.edits import SetParam, SetPlan
from engine.document.graph import Graph, Node, Project
from engine.shapes.node_rules import advice_rule, lint_rule
from engine.shapes.problems import Problem
from engine.shapes.remedies import doing, inserting, replacing
from nodes.activation import Activation, Sigmoid
from nodes.convolution.sliding import Conv1d, Conv2d
from nodes.dense import Linear
from nodes.norm import BatchNorm, Dropout
from nodes.shape import Flatten

if TYPE_CHECKING:
    from engine.shapes.shapes import ShapeBook

FLAT = (Squash.SIGMOID, Squash.TANH)  # whose slope is near zero away from the middle
DEEP = 5  # of these in a row


@lint_rule
def collapsing(project: Project, node: Node, book: ShapeBook) -> Iterator[Problem]:
    """A stack of linear layers collapses into one."""
    if not isinstance(book.types[node.id], Linear):
        return
    graph = project.graph
    link = graph.feeding(node.id, "x")
    while link is not None and isinstance(book.types.get(link.source), (Dropout, Flatten)):
        link = graph.feeding(link.source, "x")
    made = book.types.get(link.source) if link is not None else None
    if link is None or not isinstance(made, Linear) or made.activation != "none":
        return
    before = graph.node(link.source)
    yield Problem(
        node.id,
        f"{before.name} and {node.name} have nothing between them: together they are one linear layer.",
        "x",
        "warning",
        doing(f"Give {before.name} a ReLU", SetParam(before.id, "activation", "ReLU")),
        "linear-stack",
    )


@lint_rule
def image_into_dense(project: Project, node: Node, book: ShapeBook) -> Iterator[Problem]:
    """An image is fed to a dense layer as it is."""
    arriving, link = book.input_signature(node.id, "x"), project.graph.feeding(node.id, "x")
    if not isinstance(book.types[node.id], Linear) or arriving is None or link is None:
        return
    if len(arriving.shape) >= 3:
        yield Problem(
            node.id,
            f"A dense layer reads the last axis only, but {arriving} comes in.",
            "x",
            "warning",
            inserting("Insert a flatten", link, Flatten.type_id),
            "image-into-dense",
        )


@lint_rule
def batch_of_one(project: Project, node: Node, book: ShapeBook) -> Iterator[Problem]:
    """Batch norm has nothing to compare one number of one example with."""
    norm, arriving = book.types[node.id], book.input_signature(node.id, "x")
    plan = project.plan
    alone = 1 in {plan.batch if phase.batch is None else phase.batch for phase in plan.phases}
    if not alone or not isinstance(norm, BatchNorm) or arriving is None:
        return
    trains = all(any(isinstance(one, kind) for one in book.types.values()) for kind in (Data, Loss))
    if trains and norm.least_rows(arriving.shape) > 1:
        message = "Batch norm compares the examples of a batch, so a batch of 1 is too small."
        phases = tuple(replace(phase, batch=32) if phase.batch == 1 else phase for phase in plan.phases)
        batch = 32 if plan.batch == 1 else plan.batch
        fix = doing("Use batches of 32", SetPlan(replace(plan, batch=batch, phases=phases)))
        yield Problem(node.id, message, "x", fix=fix, code="batch-of-one")


@lint_rule
def softmax_of_one(project: Project, node: Node, book: ShapeBook) -> Iterator[Problem]:
    """A softmax over a single value answers 1, whatever comes in."""
    made, arriving = book.types[node.id], book.input_signature(node.id, "x")
    link = project.graph.feeding(node.id, "x")
    if not isinstance(made, Layer) or made.traits.squashes is not Squash.SOFTMAX or link is None:
        return
    axis = int(getattr(made, "axis", -1))
    if arriving is None or axis == 0 or arriving.shape[axis - 1 if axis > 0 else axis] != 1:
        return
    message = "A softmax over one value is always 1, so nothing can be learned: one value wants a sigmoid."
    exchange = replacing("Put a sigmoid in its place", node, link, Sigmoid.type_id)
    yield Problem(node.id, message, "x", "warning", exchange, "softmax-of-one")


@lint_rule
def channels_of_a_sequence(project: Project, node: Node, book: ShapeBook) -> Iterator[Problem]:
    """Batch norm takes the steps of what a 1-D convolution gives for its channels."""
    norm, arriving = book.types[node.id], book.input_signature(node.id, "x")
    if not isinstance(norm, BatchNorm) or arriving is None or not norm.turns(arriving.shape):
        return
    link = project.graph.feeding(node.id, "x")
    while link is not None and (
        keeps_values(made := book.types.get(link.source)) or isinstance(made, (Activation, BatchNorm))
    ):
        link = project.graph.feeding(link.source, "x")
    before = book.types.get(link.source) if link is not None else None
    if link is not None and isinstance(before, Layer) and before.traits.channels_first:
        name = project.graph.node(link.source).name
        yield Problem(
            node.id,
            f"The channels that {name} gives are the first axis, but {node.name} normalises the last.",
            "x",
            "warning",
            doing("Normalise the first axis", SetParam(node.id, "channels", "first")),
            "channels-of-a-sequence",
        )


@advice_rule
def idle_bias(project: Project, node: Node, book: ShapeBook) -> Iterator[Problem]:
    """A bias right before batch norm does nothing."""
    link = project.graph.feeding(node.id, "x")
    if not isinstance(book.types[node.id], BatchNorm) or link is None:
        return
    before = book.types.get(link.source)
    if len(project.graph.outgoing(link.source)) != 1:
        return
    if getattr(before, "bias", False) and getattr(before, "activation", "none") == "none":
        yield Problem(
            link.source,
            "Batch norm takes the mean away, so a bias right before it does nothing.",
            severity="warning",
            fix=doing("Leave the bias out", SetParam(link.source, "bias", False)),
            code="idle-bias",
        )


@advice_rule
def vanishing(project: Project, node: Node, book: ShapeBook) -> Iterator[Problem]:
    """A chain of flat activations that ends at this node and reaches the depth at which it matters."""
    made = book.types[node.id]
    if _flat_depth(project.graph, node, book) != DEEP:
        return
    fix = None
    if isinstance(made, Layer) and made.traits.squashes is None and made.squash() in FLAT:
        fix = doing(f"Give {node.name} a ReLU", SetParam(node.id, "activation", "ReLU"))
    yield Problem(
        node.id,
        f"{DEEP} layers of sigmoid or tanh in a row: gradients shrink at each, so the first learn slowly.",
        severity="warning",
        fix=fix,
        code="vanishing",
    )


def _flat_depth(graph: Graph, node: Node, book: ShapeBook) -> int:
    depth, one = 0, node.id
    while True:
        made = book.types.get(one)
        if isinstance(made, Layer) and made.squash() in FLAT:
            depth += 1
        elif one == node.id or not _plain(made):
            return depth
        feeding = graph.incoming(one)
        if depth > DEEP or len(feeding) != 1:
            return depth
        one = feeding[0].source


def _plain(made: NodeType | None) -> bool:
    return isinstance(made, (Linear, Conv1d, Conv2d)) or keeps_values(made)
