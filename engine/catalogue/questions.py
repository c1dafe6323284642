"""What a network is asked: which wire answers, what is right, and which features the answer depends on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.catalogue import Column, Data, Layer
from engine.catalogue.bypass import meant

if TYPE_CHECKING:
    from engine.document.graph import Project
    from engine.shapes.shapes import ShapeBook

Wire = tuple[str, str]  # node id, port

CLASSES, YES_NO, VALUES = "classes", "yes or no", "values"
SPREADS = ("variance", "log_variance")  # inputs of losses for a head that says how sure it is
MOST_FEATURES = 256
UNCOUNTED = -100  # the class of a place that has none: losses and metrics leave it out, as torch does


@dataclass(frozen=True, slots=True)
class Feature:
    """One number of each row of data: number `index` of a column, None where the column holds one a row."""

    column: str
    index: int | None
    name: str


@dataclass(frozen=True, slots=True)
class Question:
    """A loss, a metric or a layer with a rule that compares an answer with what is right.

    `kind` is CLASSES (scores against a class number), YES_NO (one score against 0 and 1, or -1 and 1) or
    VALUES; `size` counts classes or values. `plain_scores`: a yes-or-no score goes through a sigmoid; others
    are near the two answers themselves. `spread` is the wire that says how sure the answer is, with its port.
    """

    node_id: str
    kind: str
    prediction: Wire
    target: Wire
    size: int
    labels: tuple[str, ...] = ()
    target_name: str = ""
    plain_scores: bool = False
    spread: tuple[Wire, str] | None = None


def class_axis(scores: tuple[int, ...], right: tuple[int, ...]) -> int | None:
    """Along which axis of an example scores tell classes: 0, -1 for the last, None where they don't fit.

    Images and single answers have their classes first, `(V, H, W)` against `(H, W)`; sequences have them
    last, `(T, V)` against `(T,)`. Where both fit, `(n, n)` against `(n,)`, they are last, as in sequences.
    """
    if len(scores) == 2 and scores[:-1] == right:
        return -1
    if scores and scores[1:] == right:
        return 0
    return -1 if scores and scores[:-1] == right else None


def questions(project: Project, book: ShapeBook) -> tuple[Question, ...]:
    """Every question of the network, losses first, then metrics, then rules; one an example and node."""
    found = [
        question
        for node_id in project.graph.nodes
        if node_id in book.types and (question := _question(project, book, node_id)) is not None
    ]
    scored = {one.prediction for one in found if one.plain_scores}
    found = [replace(one, plain_scores=one.prediction in scored) for one in found]
    order = {"loss": 0, "metric": 1}
    return tuple(sorted(found, key=lambda one: order.get(book.types[one.node_id].kind, 2)))


def question_of(project: Project, book: ShapeBook, node_id: str = "") -> Question | None:
    """The question that a node asks or answers, or whose answer an output is; the first for no node."""
    asked = questions(project, book)
    if not node_id:
        return next(iter(asked), None)
    fed_by = (
        {link.source for link in project.graph.incoming(node_id)} if node_id in project.graph.nodes else ()
    )
    for ask in asked:
        if ask.node_id == node_id and book.types[node_id].kind in ("loss", "metric"):
            return ask
    for ask in asked:
        if node_id == ask.prediction[0]:
            return ask
    kind = book.types[node_id].kind if node_id in book.types else ""
    if kind == "output":
        return next((ask for ask in asked if ask.prediction[0] in fed_by), None)
    return None


def features_of(project: Project, book: ShapeBook, question: Question) -> tuple[Feature, ...]:
    """The numbers of a row that the answer depends on, in the order of the data.

    Empty where it depends on images, sequences or class numbers, or on more than 256 numbers.
    """
    found: list[Feature] = []
    for column in input_columns(project, book, question.prediction[0]):
        if column.dtype != "float32" or len(column.shape) > 1:
            return ()
        names = names_of(column)
        if column.shape:
            found += [Feature(column.name, index, name) for index, name in enumerate(names)]
        else:
            found.append(Feature(column.name, None, names[0]))
    return tuple(found) if len(found) <= MOST_FEATURES else ()


def input_columns(project: Project, book: ShapeBook, node_id: str) -> tuple[Column, ...]:
    """The columns of data that a node's value is computed from, in the order of the data."""
    used = set(_origins(project, book, node_id))
    found = []
    for data_id in dict.fromkeys(source for source, _ in used):
        made = book.types[data_id]
        if isinstance(made, Data):
            found += [column for column in made.columns() if (data_id, column.name) in used]
    return tuple(found)


def names_of(column: Column) -> tuple[str, ...]:
    """A name for each number of a column: those its doc lists, else the column's name and a number."""
    size = column.shape[0] if column.shape else 1
    if size == 1:
        return (column.name,)
    listed = column.doc.partition(";")[0].replace(" and ", ", ").split(",")
    names = tuple(name.strip() for name in listed if name.strip())
    if len(names) == size and max(len(name) for name in names) <= 24:
        return names
    return tuple(f"{column.name} {index + 1}" for index in range(size))


def _question(project: Project, book: ShapeBook, node_id: str) -> Question | None:
    made, graph = book.types[node_id], project.graph
    target = graph.feeding(node_id, "target")
    if target is None:
        return None
    if made.kind in ("loss", "metric"):
        link = graph.feeding(node_id, "prediction")
        if link is None:
            return None
        prediction = (link.source, link.source_port)
    elif isinstance(made, Layer) and made.learns_by_rule:
        prediction = (node_id, "output")
    else:
        return None
    wire = (target.source, target.source_port)
    answer, right = book.signature(*prediction), book.signature(*wire)
    before = meant(graph, wire, book.types)
    same = book.signature(*before)
    if same is not None and (same == right or "classification" in made.aliases):
        wire, right = before, same  # such as the classes that were mixed
    if answer is None or right is None:
        return None
    column = _column(book, wire)
    labels = column.classes if column is not None else ()
    name = column.name if column is not None else ""
    if answer.shape and right.dtype == "int64" and class_axis(answer.shape, right.shape) is not None:
        if right.shape:
            return None  # a class for each place: no single answer an example
        return Question(node_id, CLASSES, prediction, wire, answer.shape[0], labels, name)
    size = 1
    for extent in answer.shape:
        size *= extent
    if made.kind == "loss" and "bce" in made.aliases:
        return Question(node_id, YES_NO, prediction, wire, size, labels, name, plain_scores=True)
    if made.kind == "metric" and not getattr(made, "lower_is_better", True):
        return Question(node_id, YES_NO, prediction, wire, size, labels, name)
    return Question(node_id, VALUES, prediction, wire, size, labels, name, spread=_spread(project, node_id))


def _spread(project: Project, node_id: str) -> tuple[Wire, str] | None:
    for port in SPREADS:
        link = project.graph.feeding(node_id, port)
        if link is not None:
            return (link.source, link.source_port), port
    return None


def _column(book: ShapeBook, wire: Wire) -> Column | None:
    made = book.types.get(wire[0])
    return made.column(wire[1]) if isinstance(made, Data) else None


def _origins(project: Project, book: ShapeBook, node_id: str) -> Iterator[Wire]:
    """The wires that leave data and lead to a node; what only a rule reads is left out."""
    graph, waiting, seen = project.graph, [node_id], {node_id}
    while waiting:
        here = waiting.pop()
        made = book.types.get(here)
        for_rule = {port.name for port in made.rule_ports} if isinstance(made, Layer) else set()
        for link in graph.incoming(here):
            if link.target_port in for_rule:
                continue
            if isinstance(book.types.get(link.source), Data):
                yield link.source, link.source_port
            elif link.source not in seen:
                seen.add(link.source)
                waiting.append(link.source)
