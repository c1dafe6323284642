"""Rules on the structure of a graph that shapes alone don't see, each with the step that mends it.

The rules come from the guidance of the notes (seed 000 §9): softmax before cross-entropy, a stack of linear
layers that collapses into one, an image fed to a dense layer, nothing to minimise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from math import prod
from typing import TYPE_CHECKING

from engine.catalogue import Data, Input, Loss, Metric, NodeType
from engine.catalogue.bypass import meant
from engine.catalogue.questions import class_axis
from engine.catalogue.training.checks import check_plan
from engine.document.edits import Connect, Disconnect, Edit, Remove, SetParam, SetPlan
from engine.document.graph import Graph, Link, Node, Project
from engine.document.plan import Rule
from engine.errors import NeuroloomError
from engine.shapes.advice import advice
from engine.shapes.plan_problems import plan_problems
from engine.shapes.problems import Fix, Problem, Severity
from engine.shapes.remedies import doing, inserting
from engine.shapes.starter import sketched, starter

if TYPE_CHECKING:
    from engine.shapes.shapes import ShapeBook

PASSING = ("Dropout", "Flatten", "Reshape")  # layers that change no number
SQUASHING = {"CrossEntropy": ("Softmax", "softmax"), "BCEWithLogits": ("Sigmoid", "sigmoid")}

# Of layers that take class numbers: the port, the parameter that says how many there are, its unit.
ENTRIES = {
    "Embedding": ("x", "entries", "rows"),
    **dict.fromkeys(("OneHot", "Thermometer", "LabelNoise"), ("x", "classes", "classes")),
    **dict.fromkeys(("MixUp", "CutMix"), ("target", "classes", "classes")),
    "MaskTokens": ("x", "size", "tokens"),
}


def lint(project: Project, book: ShapeBook, failed: set[str | None]) -> Iterator[Problem]:
    """The structural problems of a project; nodes in `failed` have a problem of their own already."""
    graph = project.graph
    try:
        check_plan(project.plan)
    except NeuroloomError as error:
        yield Problem(None, str(error), code="plan")
    kinds = {one: book.types[one] for one in graph.nodes if one in book.types}
    yield from plan_problems(project, kinds, None if failed else book.parameters)
    feeding = [one for one, found in kinds.items() if found.kind == "data" and graph.outgoing(one)]
    losses = [one for one, found in kinds.items() if isinstance(found, Loss)]
    for extra in feeding[1:]:
        message = "Two data sources feed this graph, and their rows cannot be paired."
        yield Problem(extra, message, code="two-sources")
    if feeding:
        yield from _unfilled(graph, book)
    if not any(found.kind == "layer" for found in kinds.values()):
        yield from _nothing_learns(kinds)
    if feeding and not losses and not _rules(project):
        yield Problem(
            None,
            "There is nothing to make small: connect a loss to the last layer and the target.",
            severity="warning",
            code="no-loss",
        )
    if losses and not feeding:
        message = "There is nothing to learn from: connect a data source to the first layer and the loss."
        yield Problem(None, message, severity="warning", code="no-data")
    if losses and not failed and not _learning(graph, book).intersection(losses):
        message = "Nothing that this loss sees can learn: connect it to a layer with weights."
        yield Problem(losses[0], message, code="no-weights")
    if feeding and losses and project.plan.batch == 1:
        yield from _batch_of_one(project, book)
    for node_id in kinds:
        if node_id not in failed:
            yield from _about(graph, graph.node(node_id), book)
    if not failed:
        yield from advice(project, book)


def _nothing_learns(kinds: Mapping[str, NodeType]) -> Iterator[Problem]:
    """Data that no layer reads yet."""
    for one, data in kinds.items():
        if isinstance(data, Data) and data.kind == "data":
            fix = None
            if sketched(one, data) is not None:
                fix = Fix("Draw a small network", partial(starter, data_id=one, data=data), spreads=True)
            message = "No layer learns from these data yet."
            yield Problem(one, message, severity="warning", fix=fix, code="no-layer")


def _rules(project: Project) -> bool:
    """Whether a node learns by a rule of its own, which needs no loss."""
    return any(isinstance(one, Rule) for phase in project.plan.phases for one in phase.objectives)


def _unfilled(graph: Graph, book: ShapeBook) -> Iterator[Problem]:
    """Input nodes beside a data source: no column fills them."""
    for one in graph.nodes:
        if isinstance(book.types.get(one), Input) and graph.outgoing(one):
            message = f"Nothing fills {graph.node(one).name or 'this input'} while training."
            yield Problem(one, message + " Connect a column of the data in its place.", code="unfilled")


def _batch_of_one(project: Project, book: ShapeBook) -> Iterator[Problem]:
    """Batch norm has nothing to compare one number of one example with."""
    for one, node in project.graph.nodes.items():
        arriving = book.input_signature(one, "x")
        if node.type == "BatchNorm" and arriving is not None and prod(arriving.shape[1:]) == 1:
            message = "Batch norm compares the examples of a batch, so a batch of 1 is too small."
            fix = doing("Use batches of 32", SetPlan(project.plan.with_(batch=32)))
            yield Problem(one, message, "x", fix=fix, code="batch-of-one")


def _learning(graph: Graph, book: ShapeBook) -> set[str]:
    """The nodes whose value depends on something learned."""
    found: set[str] = set()
    for one in graph.order():
        if book.parameters(one) or any(link.source in found for link in graph.incoming(one)):
            found.add(one)
    return found


def _about(graph: Graph, node: Node, book: ShapeBook) -> Iterator[Problem]:
    if node.type in SQUASHING:
        type_id, word = SQUASHING[node.type]
        title = book.types[node.id].title
        message = f"{title} contains the {word} already; applied twice, it learns slowly."
        yield from _squashed(graph, node, type_id, word, message, book)
    elif node.type == "Accuracy" and _yes_or_no(node, book):
        message = "Accuracy says yes to a score above 0, and behind a sigmoid every score is."
        yield from _squashed(graph, node, "Sigmoid", "sigmoid", message, book)
    elif node.type == "Linear":
        yield from _collapsing(graph, node, book)
        yield from _image_into_dense(graph, node, book)
    elif node.type in ENTRIES:
        yield from _table_size(graph, node, book)
    if node.type == "CrossEntropy" or (node.type == "Accuracy" and not _yes_or_no(node, book)):
        yield from _class_count(graph, node, book)
    if isinstance(book.types[node.id], (Loss, Metric)):
        yield from _column_mix_up(graph, node, book)


def _yes_or_no(node: Node, book: ShapeBook) -> bool:
    prediction, target = (book.input_signature(node.id, port) for port in ("prediction", "target"))
    return prediction is not None and target is not None and prediction.shape == target.shape


def _before(graph: Graph, node: Node, port: str) -> tuple[Node | None, Link | None]:
    """The node whose numbers arrive at a port, behind layers that change none, and the wire it leaves by."""
    link = graph.feeding(node.id, port)
    while link is not None and graph.node(link.source).type in PASSING:
        link = graph.feeding(link.source, "x")
    return (graph.node(link.source) if link else None), link


def _squashed(
    graph: Graph, node: Node, type_id: str, word: str, message: str, book: ShapeBook
) -> Iterator[Problem]:
    """A softmax or sigmoid before a loss or metric that wants plain scores."""
    before, _ = _before(graph, node, "prediction")
    if before is None:
        return
    fix = None
    if before.type == type_id:
        feed = graph.feeding(before.id, "x")
        if feed is not None:
            fix = Fix(f"Connect past the {word}", lambda project: _past(project, before.id, feed))
    elif getattr(book.types.get(before.id), "activation", None) == word:
        fix = doing(f"Remove the {word}", SetParam(before.id, "activation", "none"))
    else:
        return
    yield Problem(node.id, message, "prediction", "warning", fix, f"{word}-twice")


def _past(project: Project, node_id: str, feed: Link) -> tuple[Edit, ...]:
    """Wire what a softmax or sigmoid feeds to what feeds it; without followers left, the node goes."""
    graph = project.graph
    moved = [
        link
        for link in graph.outgoing(node_id)
        if graph.node(link.target).type in (*SQUASHING, *PASSING, "Accuracy")
    ]
    edits: list[Edit] = [Disconnect(link) for link in moved]
    edits += [Connect(Link(feed.source, feed.source_port, link.target, link.target_port)) for link in moved]
    if len(moved) == len(graph.outgoing(node_id)):
        edits.append(Remove((node_id,)))
    return tuple(edits)


def _class_count(graph: Graph, node: Node, book: ShapeBook) -> Iterator[Problem]:
    """As many scores as the target column has classes."""
    link, found = graph.feeding(node.id, "target"), book.input_signature(node.id, "prediction")
    wire = meant(graph, (link.source, link.source_port), book.types, names=True) if link else ("", "")
    data = book.types.get(wire[0])
    column = data.column(wire[1]) if isinstance(data, Data) else None
    if column is None or not column.classes or found is None or not found.shape:
        return
    right = book.input_signature(node.id, "target")
    last = right is not None and len(found.shape) > 1 and class_axis(found.shape, right.shape) == -1
    classes, scores = len(column.classes), found.shape[-1 if last else 0]
    if scores == classes or (scores > classes and node.type == "Accuracy"):
        return
    before, _ = _before(graph, node, "prediction")
    while before is not None and before.type not in ("Linear", "Conv2d", "LSTM", "GRU", "Data"):
        if len(graph.incoming(before.id)) != 1 or book.parameters(before.id):
            before = None
        else:
            before, _ = _before(graph, before, graph.incoming(before.id)[0].target_port)
    fix = None
    if before is not None and before.type == "Linear" and len(found.shape) == 1:
        label = f"Give {before.name or 'the layer'} {classes} units"
        fix = doing(label, SetParam(before.id, "units", classes))
    message = f"{column.name} has {classes} classes, but {scores} score{'' if scores == 1 else 's'} come in."
    if scores > classes:
        message = message[:-1] + f": {scores - classes} of them can never be right."
    severity: Severity = "error" if scores < classes else "warning"
    yield Problem(node.id, message, "prediction", severity, fix, "class-count")


def _table_size(graph: Graph, node: Node, book: ShapeBook) -> Iterator[Problem]:
    """A row in the table, or a place in the code, for each class of the column that is looked up."""
    port, parameter, unit = ENTRIES[node.type]
    _, link = _before(graph, node, port)
    wire = meant(graph, (link.source, link.source_port), book.types, names=True) if link else ("", "")
    data = book.types.get(wire[0])
    column = data.column(wire[1]) if isinstance(data, Data) else None
    entries = int(getattr(book.types[node.id], parameter, 0))
    classes = len(column.classes) if column is not None else 0
    draws = node.type == "MaskTokens"  # any of its tokens, so none may be too many
    if column is None or not classes or classes == entries or (classes < entries and not draws):
        return
    what = "the table" if node.type == "Embedding" else book.types[node.id].title
    message = f"{column.name} has {classes} classes, but {what} has {entries} {unit}."
    fix = doing(f"Use {classes} {unit}", SetParam(node.id, parameter, classes))
    yield Problem(node.id, message, port, fix=fix, code="table-size")


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
    yield Problem(
        node.id,
        f"{before.name} and {node.name} have nothing between them: together they are one linear layer.",
        "x",
        "warning",
        doing(f"Give {before.name} a ReLU", SetParam(before.id, "activation", "ReLU")),
        "linear-stack",
    )


def _image_into_dense(graph: Graph, node: Node, book: ShapeBook) -> Iterator[Problem]:
    arriving = book.input_signature(node.id, "x")
    link = graph.feeding(node.id, "x")
    if arriving is None or link is None or len(arriving.shape) < 3:
        return
    yield Problem(
        node.id,
        f"A dense layer reads the last axis only, but {arriving} comes in.",
        "x",
        "warning",
        inserting("Insert a flatten", link, "Flatten"),
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
