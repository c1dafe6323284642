"""Rules on the structure of a graph that shapes alone don't see, each with the step that fixes it.

The rules follow common guidance: a softmax before a loss that contains it, more
classes than scores, nothing to minimise. Those about single types are registered in `node_rules`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from engine.catalogue import Data, Input, Layer, Loss, Metric, NodeType
from engine.catalogue.bypass import keeps_values, meant
from engine.catalogue.foreign_files import agreeing, question
from engine.catalogue.training.checks import check_plan
from engine.catalogue.traits import Answer, ClassCount, Squash
from engine.document.edits import Connect, Disconnect, Edit, Remove, SetParam
from engine.document.graph import Graph, Link, Node, Project
from engine.document.paths import ASK
from engine.document.plan import Rule
from engine.errors import NeuroloomError
from engine.shapes.advice import advice
from engine.shapes.heads import class_axis
from engine.shapes.inside import every_book
from engine.shapes.node_rules import LINT_RULES, network_for
from engine.shapes.plan_problems import plan_problems, split_problems
from engine.shapes.problems import Fix, Problem, Severity
from engine.shapes.ragged import taken_for_data
from engine.shapes.remedies import doing, units_parameter
from engine.shapes.size import size_problems
from engine.shapes.stream_problems import stream_problems

if TYPE_CHECKING:
    from engine.shapes.shapes import ShapeBook


def lint(project: Project, book: ShapeBook, failed: set[str | None]) -> Iterator[Problem]:
    """The structural problems of a project; nodes in `failed` have a problem of their own already."""
    graph = project.graph
    try:
        check_plan(project.plan)
    except NeuroloomError as error:
        yield Problem(None, str(error), code="plan")
    kinds = {one: book.types[one] for one in graph.nodes if one in book.types}
    everywhere = {one: found for inner in every_book(book) for one, found in inner.types.items()}
    yield from plan_problems(project, {**everywhere, **kinds}, None if failed else book.parameters)
    feeding = [one for one, found in kinds.items() if found.kind == "data" and graph.outgoing(one)]
    losses = [one for one, found in kinds.items() if isinstance(found, Loss)]
    yield from split_problems(project, [one for name in feeding if isinstance(one := kinds[name], Data)])
    yield from stream_problems(project, kinds)
    if feeding:
        yield from _unfilled(graph, book)
        yield from _filling(graph, book)
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
    if not failed and book.whole:
        yield from size_problems(project, book)
    for node_id in kinds:
        if node_id not in failed:
            yield from _about(project, graph.node(node_id), book)
    if not failed:
        yield from advice(project, book)


def _nothing_learns(kinds: Mapping[str, NodeType]) -> Iterator[Problem]:
    """Data that no layer reads yet."""
    for one, data in kinds.items():
        if isinstance(data, Data) and data.kind == "data":
            draw = network_for(one, data)
            fix = Fix("Draw a small network", draw, spreads=True) if draw is not None else None
            message = "No layer learns from these data yet."
            yield Problem(one, message, severity="warning", fix=fix, code="no-layer")


def _rules(project: Project) -> bool:
    """Whether a node learns by a rule of its own, which needs no loss."""
    return any(isinstance(one, Rule) for one in project.plan.objectives)


def _unfilled(graph: Graph, book: ShapeBook) -> Iterator[Problem]:
    """Input nodes beside a data source: no column fills them."""
    for one in graph.nodes:
        if isinstance(book.types.get(one), Input) and graph.outgoing(one):
            message = f"Nothing fills {graph.node(one).name or 'this input'} while training."
            yield Problem(one, message + " Connect a column of the data in its place.", code="unfilled")


def _filling(graph: Graph, book: ShapeBook) -> Iterator[Problem]:
    """Layers that compute with what only fills up shorter rows."""
    for one, axes in taken_for_data(book, graph.nodes):
        made = book.types[one]
        if isinstance(made, Layer):
            what = " and ".join(sorted(axis for axis, _ in axes))
            message = (
                f"{graph.node(one).name or made.title} takes what fills up rows with fewer {what} for data. "
            )
            fix = "A layer that reads rows to their end, or a masked pool before it, passes over that."
            yield Problem(one, message + fix, severity="warning", code="filling")


def _learning(graph: Graph, book: ShapeBook) -> set[str]:
    """The nodes whose value depends on something learned."""
    found: set[str] = set()
    for one in graph.order():
        node_type = book.types.get(one)
        ruled = isinstance(node_type, Layer) and node_type.learns_by_rule
        if ruled or book.parameters(one) or any(link.source in found for link in graph.incoming(one)):
            found.add(one)
    return found


def _about(project: Project, node: Node, book: ShapeBook) -> Iterator[Problem]:
    graph, made = project.graph, book.types[node.id]
    if isinstance(made, Loss) and made.traits.contains is not None:
        squash = made.traits.contains
        message = f"{made.title} contains the {squash.word} already; applied twice, it learns slowly."
        yield from _squashed(graph, node, squash, message, book)
    if isinstance(made, Data) and made.reads and graph.outgoing(node.id) and not getattr(made, "path", ""):
        yield Problem(node.id, "No file is chosen yet.", "path", code="no-file")
    for value in node.params.values() if isinstance(made, Data) else ():
        if isinstance(value, str) and value.startswith(ASK):
            fix = Fix("Read it", partial(agreeing, value=value))
            yield Problem(node.id, question(value), "path", fix=fix, code="ask")
    for rule in LINT_RULES:
        yield from rule(project, node, book)
    if isinstance(made, Layer) and made.traits.class_count is not None:
        yield from _table_size(graph, node, made.traits.class_count, book)
    if isinstance(made, (Loss, Metric)):
        if made.traits.answers is Answer.CLASSES and not (made.kind == "metric" and _yes_or_no(node, book)):
            yield from _class_count(graph, node, book)
        yield from _column_mix_up(graph, node, book)


def _yes_or_no(node: Node, book: ShapeBook) -> bool:
    prediction, target = (book.input_signature(node.id, port) for port in ("prediction", "target"))
    return prediction is not None and target is not None and prediction.shape == target.shape


def _before(graph: Graph, node: Node, port: str, book: ShapeBook) -> tuple[Node | None, Link | None]:
    """The node whose numbers arrive at a port, behind layers that change none, and the wire it leaves by."""
    link = graph.feeding(node.id, port)
    while link is not None and keeps_values(book.types.get(link.source)):
        link = graph.feeding(link.source, "x")
    return (graph.node(link.source) if link else None), link


def _squashed(graph: Graph, node: Node, squash: Squash, message: str, book: ShapeBook) -> Iterator[Problem]:
    """A softmax or sigmoid before a loss or metric that wants plain scores."""
    before, _ = _before(graph, node, "prediction", book)
    made = book.types.get(before.id) if before is not None else None
    if before is None or not isinstance(made, Layer) or made.squash() is not squash:
        return
    fix, word = None, squash.word
    if made.traits.squashes is squash:
        feed = graph.feeding(before.id, "x")
        if feed is not None:
            fix = Fix(f"Connect past the {word}", lambda project: _past(project, before.id, feed, book))
    else:
        fix = doing(f"Remove the {word}", SetParam(before.id, "activation", "none"))
    yield Problem(node.id, message, "prediction", "warning", fix, f"{word}-twice")


def _past(project: Project, node_id: str, feed: Link, book: ShapeBook) -> tuple[Edit, ...]:
    """Wire what a softmax or sigmoid feeds to what feeds it; without followers left, the node goes."""
    graph = project.graph
    moved = [link for link in graph.outgoing(node_id) if _wants_scores(book.types.get(link.target))]
    edits: list[Edit] = [Disconnect(link) for link in moved]
    edits += [Connect(Link(feed.source, feed.source_port, link.target, link.target_port)) for link in moved]
    if len(moved) == len(graph.outgoing(node_id)):
        edits.append(Remove((node_id,)))
    return tuple(edits)


def _wants_scores(made: NodeType | None) -> bool:
    """Whether plain scores may come in: to what squashes them itself, measures classes, or passes them on."""
    if isinstance(made, Loss):
        return made.traits.contains is not None
    return keeps_values(made) or (isinstance(made, Metric) and made.traits.answers is Answer.CLASSES)


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
    if scores == classes or (scores > classes and book.types[node.id].kind == "metric"):
        return
    before, _ = _before(graph, node, "prediction", book)
    while before is not None and not units_parameter(book.types.get(before.id)):
        if len(graph.incoming(before.id)) != 1 or book.parameters(before.id):
            before = None
        else:
            before, _ = _before(graph, before, graph.incoming(before.id)[0].target_port, book)
    fix = None
    if before is not None and len(found.shape) == 1:
        label = f"Give {before.name or 'the layer'} {classes} units"
        fix = doing(label, SetParam(before.id, units_parameter(book.types[before.id]), classes))
    message = f"{column.name} has {classes} classes, but {scores} score{'' if scores == 1 else 's'} come in."
    if scores > classes:
        message = message[:-1] + f": {scores - classes} of them can never be right."
    severity: Severity = "error" if scores < classes else "warning"
    yield Problem(node.id, message, "prediction", severity, fix, "class-count")


def _table_size(graph: Graph, node: Node, count: ClassCount, book: ShapeBook) -> Iterator[Problem]:
    """A row in the table, or a place in the code, for each class of the column that is looked up."""
    _, link = _before(graph, node, count.port, book)
    wire = meant(graph, (link.source, link.source_port), book.types, names=True) if link else ("", "")
    data = book.types.get(wire[0])
    column = data.column(wire[1]) if isinstance(data, Data) else None
    entries = int(getattr(book.types[node.id], count.parameter, 0))
    classes = len(column.classes) if column is not None else 0
    if column is None or not classes or classes == entries or (classes < entries and not count.exact):
        return
    whose = count.whose or book.types[node.id].title
    message = f"{column.name} has {classes} classes, but {whose} has {entries} {count.unit}."
    fix = doing(f"Use {classes} {count.unit}", SetParam(node.id, count.parameter, classes))
    yield Problem(node.id, message, count.port, fix=fix, code="table-size")


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
