"""A first network for a data source: what its columns call for, small enough to train at once.

Dense layers for numbers, convolutions for images, an LSTM for sequences, which reads both ways where labels
stand along them (Graves and others, 2006), a shared layer and the largest for sets of points (Qi and others,
2017), graph convolutions for graphs (Kipf and Welling, 2017).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from engine.catalogue import Data
from engine.catalogue.training.sizing import sized
from engine.catalogue.wires import Column
from engine.document.edits import AddNodes, Edit, SetPlan
from engine.document.graph import Link, Node, Project
from engine.document.names import free_name, names_of
from engine.document.plan import Plan
from engine.shapes.node_rules import first_network
from engine.shapes.remedies import ROOM

LAST = 8  # pixels of a side at which convolutions hand over to a dense layer, at most
FILTERS = (16, 32, 64, 64, 64)
MASKS = "mask"


@dataclass
class Step:
    """A node to be, fed by the one before; `beside` names the columns of the data for its other ports.

    `out` is the port that goes on.
    """

    type_id: str
    name: str
    params: dict[str, Any]
    beside: dict[str, str]
    out: str = "output"


@dataclass
class Sketch:
    """The layers behind a data node, left to right."""

    data: str
    steps: list[Step] = field(default_factory=list)

    def add(self, type_id: str, name: str, params: dict[str, Any] | None = None, **beside: str) -> None:
        """One more layer."""
        self.steps.append(Step(type_id, name, params or {}, beside))


@first_network
def starter(data_id: str, data: Data) -> Callable[[Project], tuple[Edit, ...]] | None:
    """What adds a network, a loss and a metric behind a data node; None where no target is known.

    A training plan that nobody has touched yet is sized to the data.
    """
    found = sketched(data_id, data)
    if found is None:
        return None
    sketch, entry, target = found

    def draw(project: Project) -> tuple[Edit, ...]:
        edits: tuple[Edit, ...] = (_drawn(project, sketch, entry, target),)
        plan = sized(data)
        return edits if project.plan != Plan() or plan == Plan() else (*edits, SetPlan(plan))

    return draw


def sketched(data_id: str, data: Data) -> tuple[Sketch, Column, Column] | None:
    """The layers that data call for, the column that enters them and the one that they predict."""
    columns = data.columns()
    target = target_of(columns)
    sketch = Sketch(data_id)
    entry = _body(sketch, data, target) if target is not None else None
    return (sketch, entry, target) if entry is not None and target is not None else None


def target_of(columns: Sequence[Column]) -> Column | None:
    """The column to predict: classes first, of which each example or each of its places has one."""
    rows = [one for one in columns if not one.rows]
    for column in rows[1:]:
        if column.dtype == "int64" and column.classes:
            return column
    for column in rows[1:]:
        if column.dtype == "float32" and column.name not in (MASKS, "clock", "weight"):
            return column
    return None


def _body(sketch: Sketch, data: Data, target: Column) -> Column | None:
    """Layers from the inputs to scores or numbers; returns the column that enters them."""
    columns = data.columns()
    known = {column.name: column for column in columns}
    units = len(target.classes) if target.classes else prod(target.shape)
    if "edges" in known and "nodes" in known:
        _graph(sketch, units, edges="edges", pooled=("GraphReadout", {"sizes": "sizes"}))
        return known["nodes"]
    if "adjacency" in known:
        if target.shape:
            return None  # one graph whose nodes are told apart by a mask: not for a first try
        _graph(sketch, units, edges="adjacency", pooled=("MaskedPool", {"mask": MASKS}))
        return known["nodes"]
    entry = next((one for one in columns if one is not target and not one.rows and one.name != MASKS), None)
    if entry is None:
        return None
    mask = known.get(MASKS)
    if entry.dtype == "int64" and len(entry.shape) == 1:
        if len(data.token_columns) > 1 and target.shape:
            return None  # another text, whose words do not stand where those of the first do
        _tokens(sketch, entry, target, units, mask)
    elif entry.dtype == "int64":
        return None
    elif len(entry.shape) == 3:
        _images(sketch, entry, target, units)
    elif len(entry.shape) == 2 and mask is not None and mask.shape == entry.shape[:1]:
        _points(sketch, units)
    elif len(entry.shape) == 2:
        _series(sketch, units, each=_aligned(entry, target))
    else:
        _dense(sketch, entry, units)
    if not target.classes and len(target.shape) > 1 and sketch.steps[-1].type_id == "Linear":
        sketch.add("Reshape", "shape", {"shape": target.shape})
    return entry


def _dense(sketch: Sketch, entry: Column, units: int) -> None:
    wide = 32 if prod(entry.shape) < 200 else 128
    for number in (1, 2):
        sketch.add("Linear", f"hidden{number}", {"units": wide, "activation": "ReLU"})
    sketch.add("Linear", "out", {"units": units})


def _images(sketch: Sketch, entry: Column, target: Column, units: int) -> None:
    if target.classes and target.shape == entry.shape[1:]:
        for number in (1, 2):
            sketch.add(
                "Conv2d",
                f"conv{number}",
                {"filters": 16, "kernel": 5, "padding": "same", "activation": "ReLU"},
            )
        sketch.add("Conv2d", "out", {"filters": units, "kernel": 1})
        return
    side = min(entry.shape[1:])
    for number, filters in enumerate(FILTERS, start=1):
        if side < 4 or (number > 1 and side <= LAST):
            break
        sketch.add(
            "Conv2d",
            f"conv{number}",
            {"filters": filters, "kernel": 3, "padding": "same", "activation": "ReLU"},
        )
        sketch.add("MaxPool2d", f"pool{number}")
        side //= 2
    if max(entry.shape[1:]) > LAST * 2 ** len(FILTERS):
        sketch.add("AdaptiveAvgPool2d", "mean")
    sketch.add("Flatten", "flatten")
    sketch.add("Linear", "out", {"units": units})


def _tokens(sketch: Sketch, entry: Column, target: Column, units: int, mask: Column | None) -> None:
    entries = len(entry.classes) or 1000
    sketch.add("Embedding", "embedding", {"entries": entries, "size": 32})
    sketch.add("LSTM", "lstm", {"hidden": 64})
    if target.shape != entry.shape and mask is not None:
        sketch.add("MaskedPool", "mean", mask=mask.name)
    elif target.shape != entry.shape:
        sketch.steps[-1].out = "h"
    sketch.add("Linear", "out", {"units": units})


def _series(sketch: Sketch, units: int, each: bool) -> None:
    """An answer behind the last step, or at `each`, which then reads both ways."""
    sketch.add("LSTM", "lstm", {"hidden": 32, "both_ways": True} if each else {"hidden": 32})
    sketch.steps[-1].out = "output" if each else "h"
    sketch.add("Linear", "out", {"units": units})


def _aligned(entry: Column, target: Column) -> bool:
    """Whether the target is labels along a sequence at places that nobody has marked."""
    return bool(target.classes and target.ragged and entry.ragged) and entry.ragged != target.ragged


def _points(sketch: Sketch, units: int) -> None:
    sketch.add("Linear", "point1", {"units": 32, "activation": "ReLU"})
    sketch.add("Linear", "point2", {"units": 64, "activation": "ReLU"})
    sketch.add("MaskedPool", "largest", {"how": "maximum"}, mask=MASKS)
    sketch.add("Linear", "out", {"units": units})


def _graph(sketch: Sketch, units: int, edges: str, pooled: tuple[str, dict[str, str]]) -> None:
    for number in (1, 2):
        params = {"units": 32, "how": "sum", "activation": "ReLU"}
        sketch.add("GraphConvolution", f"conv{number}", params, edges=edges)
    sketch.add(pooled[0], "read-out", {"how": "mean"}, **pooled[1])
    sketch.add("Linear", "out", {"units": units})


def _drawn(project: Project, sketch: Sketch, entry: Column, target: Column) -> AddNodes:
    graph = project.graph
    x, y = graph.node(sketch.data).position
    taken = set(names_of(graph))
    nodes: list[Node] = []
    links: list[Link] = []

    def place(type_id: str, name: str, params: dict[str, Any], column: int, row: int = 0) -> Node:
        own = free_name(name, taken)
        taken.add(own)
        made = Node(project.new_id(), type_id, own, params, (x + ROOM * column, y + 104.0 * row))
        nodes.append(made)
        return made

    before, port = sketch.data, entry.name
    for at, step in enumerate(sketch.steps, start=1):
        own = target.name if at == len(sketch.steps) and step.name == "out" else step.name
        node = place(step.type_id, own, step.params, at)
        first = "nodes" if step.type_id in ("GraphConvolution", "GraphReadout") else "x"
        links.append(Link(before, port, node.id, first))
        links += [Link(sketch.data, column, node.id, into) for into, column in step.beside.items()]
        before, port = node.id, step.out
    ends, words = ("MSE", "MeanAbsoluteError"), ("squared error", "absolute error")
    if target.classes or target.yes_no:
        ends = ("BCEWithLogits" if target.yes_no else "CrossEntropy", "Accuracy")
        words = ("cross-entropy", "accuracy")
    ports = ("prediction", "target")
    if _aligned(entry, target):
        ends, words, ports = ("CTC", "LabelErrorRate"), ("ctc", "label errors"), ("scores", "labels")
    for row, (type_id, name) in enumerate(zip(ends, words, strict=True)):
        node = place(type_id, name, {}, len(sketch.steps) + 1, row)
        links.append(Link(before, port, node.id, ports[0]))
        links.append(Link(sketch.data, target.name, node.id, ports[1]))
    return AddNodes(tuple(nodes), tuple(links))
