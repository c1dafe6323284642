"""A network unit by unit, number by number, and the time of each of its nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from engine.catalogue import Layer, NodeType
from engine.document.graph import Graph, Link, Project
from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look.asking import array
from engine.look.layers.scalars import Tracer, taken_apart
from engine.look.layers.timing import times
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look, evaluating

MOST_UNITS = 32
MOST_LINES = 1500
MOST_SCALARS = 90
TIMED_ROWS = 32


@probe_kind("node_times", every=20.0, apart=True)
def node_times(look: Look, probe: Probe) -> Taken | None:
    """Seconds (n,) that each of `nodes` takes for a batch of `rows` examples, the median of seven passes."""
    batch = look.batch(0, TIMED_ROWS)
    project = look.program.project
    depth = {
        node_id: level
        for scope, level in depths(project).items()
        for node_id in project.graph_of(scope).nodes
    }
    with evaluating(look.model):
        found = times(
            lambda: look.program.measure(look.model, batch),
            look.program.tapping,
            device=look.device,
            depth=depth,
            check=look.check,
        )
    facts = {"nodes": tuple(found), "rows": min(TIMED_ROWS, look.rows()), "device": look.device}
    return np.array(list(found.values())), facts


def depths(project: Project) -> dict[str, int]:
    """How many blocks are around each graph of a project, by its scope; the outermost is ""."""
    found = {"": 0}
    waiting = [""]
    while waiting:
        scope = waiting.pop()
        for node in project.graph_of(scope).nodes.values():
            if node.block in project.blocks and found.get(node.block, -1) < found[scope] + 1:
                found[node.block] = found[scope] + 1
                waiting.append(node.block)
    return found


@dataclass
class _Column:
    """Units that stand one above the other, and the matrix that made them of another column's.

    A layer of several matrices gives as many columns: `part` counts them, and -1 stands for all others.
    """

    node_id: str
    before: int = -1
    weight: Tensor | None = None
    bias: Tensor | None = None
    part: int = -1


@probe_kind("neurons", every=0.25)
def neurons(look: Look, probe: Probe) -> Taken | None:
    """The dense layers of a small net: `columns` has for each its node, the place of the column it is fed by
    (-1 for none), and its units' values for the pinned example; `weights` and `biases` belong to the columns.

    The array is all weights in one row. Errors: `NeuroloomError` for nets that are too large, or not dense.
    """
    columns = _columns(look)
    found: list[dict[str, Any]] = []
    for column, values in zip(columns, _units(look, columns), strict=True):
        if len(values) > MOST_UNITS:
            raise NeuroloomError(
                f"{_named(look, column.node_id)} has {len(values):,} units; "
                f"single units are drawn for layers of up to {MOST_UNITS}.",
                node_id=column.node_id,
            )
        found.append(
            {
                "node": column.node_id,
                "from": column.before,
                "values": array(values),
                "weights": None if column.weight is None else array(column.weight),
                "biases": None if column.bias is None else array(column.bias),
            }
        )
    weights = [column["weights"].reshape(-1) for column in found if column["weights"] is not None]
    lines = sum(part.size for part in weights)
    if lines > MOST_LINES:
        raise NeuroloomError(f"This net has {lines:,} connections; up to {MOST_LINES:,} are drawn.")
    facts = {"columns": tuple(found), "example": look.example, "split": look.split}
    return np.concatenate(weights), facts


@probe_kind("scalars", every=0.5)
def scalars(look: Look, probe: Probe) -> Taken | None:
    """The loss of the pinned example as a graph of single numbers: `(n, 2)` value and derivative of the loss.

    In the order of computing; `labels`, `roles`, `nodes` and `parents` ((place, local derivative), ...)
    belong to the rows. The last number is the node's, the loss's, or the first that a batch has one of.
    Errors: `NeuroloomError` for more than 90 numbers, or operations that cannot be taken apart.
    """
    head = look.head(probe.node_id) or look.head()
    wanted = probe.node_id or (head.node_id if head is not None else "")
    batch = look.batch(look.example, 1)
    names = _column_names(batch) + _weight_names(look)
    tracer = Tracer()
    results: list[Tensor] = []

    def watch(node_id: str, port: str, value: Tensor) -> None:
        tracer.claim(node_id)
        if node_id == wanted or (not wanted and value.dim() == 0 and tracer.depends(value)):
            results.append(value)

    def compute() -> Tensor:
        with look.program.tapping(watch):
            look.program.measure(look.model, batch)
        if not results:
            raise NeuroloomError("There is no loss whose numbers could be shown.", node_id=wanted or None)
        return results[0]

    with evaluating(look.model):
        taken = taken_apart(compute, names, tracer)
    numbers = taken.numbers
    if len(numbers) > MOST_SCALARS:
        raise NeuroloomError(
            f"One example takes {len(numbers)} numbers to compute; up to {MOST_SCALARS} are drawn.",
            fix="A net of two or three units fits.",
        )
    facts = {
        "labels": tuple(number.label for number in numbers),
        "roles": tuple(number.role for number in numbers),
        "nodes": tuple(number.node_id for number in numbers),
        "parents": tuple(number.parents for number in numbers),
        "example": look.example,
        "split": look.split,
    }
    return np.array([(number.value, number.derivative) for number in numbers]), facts


Names = list[tuple[Tensor, str, str, str]]


def _column_names(batch: dict[str, Tensor]) -> Names:
    """The columns of numbers by their names; the one with several numbers an example is x."""
    small = {
        name: column
        for name, column in batch.items()
        if column.is_floating_point() and column.numel() <= MOST_SCALARS
    }
    wide = [name for name, column in small.items() if column.numel() > 1]
    return [(column, "x" if [name] == wide else name, "input", "") for name, column in small.items()]


def _weight_names(look: Look) -> Names:
    """The weights as w1, b1, w2 ... in the order of the layers; other parameters by their own names."""
    order = [node_id for node_id in look.program.project.graph.order() if look.weights(node_id)]
    found: Names = []
    for number, node_id in enumerate(order, start=1):
        layer = [str(number)] if len(order) > 1 else []
        for name, weight in look.weights(node_id).items():
            last, *holders = reversed(name.split("."))
            inner = [str(int(last) + 1)] if last.isdecimal() else []
            plain = holders[0] if inner and holders else last
            letter = plain[0] if plain in ("weight", "weights", "bias") else plain
            found.append((weight, letter + ".".join(layer + inner), "weight", node_id))
    return found


def _columns(look: Look) -> list[_Column]:
    """The columns from the inputs to the outputs. Errors: `NeuroloomError` where the net is not dense."""
    graph = look.program.project.graph
    layers = {one: layer for one in graph.order() if (layer := look.module(one)) is not None}
    types = look.program.book.types
    dense = {one: layer for one, layer in layers.items() if _is_dense(types.get(one))}
    if not dense:
        raise NeuroloomError("This diagram shows dense layers, and this net has none.")
    if any(len(_read(graph, one)) > 1 for one in dense):
        raise NeuroloomError("This diagram shows dense layers, and this net has layers along edges, too.")
    columns: list[_Column] = []
    last: dict[str, int] = {}  # the place of each node's last column
    for node_id, layer in dense.items():
        feeding = _fed_by(graph, node_id, set(dense))
        if feeding not in last:
            last[feeding] = len(columns)
            columns.append(_Column(feeding))
        before = last[feeding]
        for part, (weight, bias) in enumerate(_matrices(layer)):
            columns.append(_Column(node_id, before, weight, bias, part if _several(layer) else -1))
            before = last[node_id] = len(columns) - 1
    return columns


def _is_dense(made: NodeType | None) -> bool:
    return isinstance(made, Layer) and made.traits.dense


def _matrices(layer: nn.Module) -> list[tuple[Tensor, Tensor | None]]:
    """The weights (outputs, inputs) and biases of a layer, one after the other."""
    if _several(layer):  # the biases stand in the first column of its matrices
        return [(weight[:, 1:], weight[:, 0]) for weight in layer.parameters()]
    weight, bias = layer.weight, getattr(layer, "bias", None)
    assert isinstance(weight, Tensor)
    return [(weight, bias if isinstance(bias, Tensor) else None)]


def _several(layer: nn.Module) -> bool:
    """Whether the layer is a net of its own, of one or two matrices."""
    return hasattr(layer, "signals")


def _fed_by(graph: Graph, node_id: str, dense: set[str]) -> str:
    """The node whose units a dense layer reads: behind nodes that have one input and change no sizes."""
    here = node_id
    while True:
        links = _read(graph, here)
        if len(links) != 1:
            return here
        here = links[0].source
        if here in dense or not graph.incoming(here):
            return here


def _read(graph: Graph, node_id: str) -> list[Link]:
    """What a node makes its output of: a rule's targets are no part of it."""
    return [link for link in graph.incoming(node_id) if link.target_port != "target"]


def _units(look: Look, columns: list[_Column]) -> list[Tensor]:
    """The values (n,) of each column for the pinned example: as the next dense layer reads them."""
    graph = look.program.project.graph
    taps = []
    for place, column in enumerate(columns):
        reader = next((one for one in columns if one.before == place and one.node_id != column.node_id), None)
        feeding = None if reader is None else next(iter(_read(graph, reader.node_id)), None)
        taps.append((column.node_id, "") if feeding is None else (feeding.source, feeding.source_port))
    inputs = [link.source for column in columns for link in _read(graph, column.node_id)]
    seen = look.values({*(node_id for node_id, _ in taps), *inputs}, look.batch(look.example, 1))
    found = []
    for column, (node_id, port) in zip(columns, taps, strict=True):
        layer = look.module(column.node_id)
        if column.part >= 0 and layer is not None:
            link = _read(graph, column.node_id)[0]
            with torch.no_grad():
                _, made = layer.signals(seen[link.source][link.source_port])  # type: ignore[operator]
            value: Tensor | None = made[column.part]
        else:
            ports = seen.get(node_id, {})
            value = ports.get(port) if port else next(iter(ports.values()), None)
        if value is None:
            raise NeuroloomError("Not every layer of this net has been computed.", node_id=column.node_id)
        found.append(value[0].detach().float().reshape(-1))
    return found


def _named(look: Look, node_id: str) -> str:
    node = look.program.project.graph.nodes[node_id]
    return node.name or node.type
