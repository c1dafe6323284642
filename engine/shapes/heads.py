"""Where a network answers: each output head with what it predicts, what is right, and what it depends on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

from engine.catalogue import Column, Data, Layer, Loss, Metric, NodeType
from engine.catalogue.bypass import meant
from engine.catalogue.traits import Answer

if TYPE_CHECKING:
    from torch import Tensor

    from engine.document.graph import Project
    from engine.shapes.shapes import ShapeBook

Wire = tuple[str, str]  # node id, port

CLASSES, YES_NO, VALUES = Answer.CLASSES, Answer.YES_NO, Answer.VALUES
SPREADS = ("variance", "log_variance")  # inputs of losses for a head that says how sure it is
MOST_FEATURES = 256
UNCOUNTED = -100  # the class of a place that has none: losses and metrics leave it out, as torch does


@dataclass(frozen=True, slots=True)
class Feature:
    """One number of each row of data: number `index` of a column, None where the column holds one a row.

    `scaled` says in a word what the data node did to it.
    """

    column: str
    index: int | None
    name: str
    scaled: str = ""

    @property
    def as_seen(self) -> str:
        """What to call its values as the network sees them."""
        return f"{self.name}, {self.scaled}" if self.scaled else self.name


@dataclass(frozen=True, slots=True)
class Head:
    """A loss, a metric or a layer with a rule that compares a prediction with its target.

    `size` counts classes or values. `column` is the data column that the target is, "" where it is computed,
    and `labels` the names of its classes. A head with `places` has a class for each place of a sequence or an
    image; with `last`, the classes are the last axis of its scores. `plain_scores`: a yes-or-no score goes
    through a sigmoid; others are near the two answers themselves. `spread` is the wire that says how sure the
    prediction is, with its port.
    """

    node_id: str
    kind: Answer
    prediction: Wire
    target: Wire
    size: int
    column: str = ""
    labels: tuple[str, ...] = ()
    places: bool = False
    last: bool = False
    plain_scores: bool = False
    spread: tuple[Wire, str] | None = None

    def by_class(self, scores: Tensor) -> Tensor:
        """Scores with the classes along axis 1, after the batch: those of sequences come with them last."""
        return scores.movedim(-1, 1) if self.last else scores


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


def heads(project: Project, book: ShapeBook) -> tuple[Head, ...]:
    """Every head of the network: of losses first, then of metrics, then of rules."""
    found = [
        head
        for node_id in project.graph.nodes
        if node_id in book.types and (head := _head(project, book, node_id)) is not None
    ]
    scored = {one.prediction for one in found if one.plain_scores}
    found = [replace(one, plain_scores=one.prediction in scored) for one in found]
    order = {"loss": 0, "metric": 1}
    return tuple(sorted(found, key=lambda one: order.get(book.types[one.node_id].kind, 2)))


def loss_heads(project: Project, book: ShapeBook) -> tuple[Head, ...]:
    """The heads that training looks at."""
    return tuple(one for one in heads(project, book) if book.types[one.node_id].kind == "loss")


def head_of(project: Project, book: ShapeBook, node_id: str = "") -> Head | None:
    """The head of one answer an example that a node compares or predicts, or whose prediction an output is.

    The first of all for no node.
    """
    known = [one for one in heads(project, book) if not one.places]
    if not node_id:
        return next(iter(known), None)
    fed_by = (
        {link.source for link in project.graph.incoming(node_id)} if node_id in project.graph.nodes else ()
    )
    for head in known:
        if head.node_id == node_id and book.types[node_id].kind in ("loss", "metric"):
            return head
    for head in known:
        if node_id == head.prediction[0]:
            return head
    kind = book.types[node_id].kind if node_id in book.types else ""
    if kind == "output":
        return next((head for head in known if head.prediction[0] in fed_by), None)
    return None


def features_of(project: Project, book: ShapeBook, head: Head) -> tuple[Feature, ...]:
    """The numbers of a row that the answer depends on, in the order of the data.

    Empty where it depends on images, sequences or class numbers, or on more than 256 numbers.
    """
    found: list[Feature] = []
    for column in input_columns(project, book, head.prediction[0]):
        if column.dtype != "float32" or len(column.shape) > 1:
            return ()
        names = names_of(column)
        if column.shape:
            found += [Feature(column.name, index, name, column.scaled) for index, name in enumerate(names)]
        else:
            found.append(Feature(column.name, None, names[0], column.scaled))
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
    """A name for each number of a column: its own, those its doc lists, else the column's with a number."""
    size = column.shape[0] if column.shape else 1
    if size == 1:
        return (column.name,)
    if len(column.names) == size:
        return column.names
    listed = column.doc.partition(";")[0].replace(" and ", ", ").split(",")
    names = tuple(name.strip() for name in listed if name.strip())
    if len(names) == size and max(len(name) for name in names) <= 24:
        return names
    return tuple(f"{column.name} {index + 1}" for index in range(size))


def _head(project: Project, book: ShapeBook, node_id: str) -> Head | None:
    made, graph = book.types[node_id], project.graph
    target = graph.feeding(node_id, "target")
    if target is None:
        return None
    traits = made.traits if isinstance(made, (Loss, Metric)) else None
    if traits is not None:
        link = graph.feeding(node_id, "prediction")
        if link is None or traits.boxes:  # boxes are no answer of one row
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
    if same is not None and (same == right or (isinstance(made, Loss) and made.traits.answers is CLASSES)):
        wire, right = before, same  # such as the classes that were mixed
    if answer is None or right is None:
        return None
    column, named = _column(book, wire), _column(book, meant(graph, wire, book.types, names=True))
    name, labels = column.name if column is not None else "", named.classes if named is not None else ()
    axis = class_axis(answer.shape, right.shape) if right.dtype == "int64" else None
    if axis is not None:
        last = axis == -1 and len(answer.shape) > 1
        size = answer.shape[-1 if last else 0]
        places = bool(right.shape)
        return Head(node_id, CLASSES, prediction, wire, size, name, labels, places, last)
    size = prod(answer.shape)
    if traits is not None and _yes_or_no(made, traits.answers):
        plain = traits.answers is YES_NO
        return Head(node_id, YES_NO, prediction, wire, size, name, labels, plain_scores=plain)
    return Head(node_id, VALUES, prediction, wire, size, name, labels, spread=_spread(project, node_id))


def _yes_or_no(made: NodeType, answers: Answer) -> bool:
    """Whether a score that is not one of several classes' stands for a yes."""
    return answers is YES_NO or (answers is CLASSES and isinstance(made, Metric))


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
