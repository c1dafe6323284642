"""What recurrent layers do step by step: gates and states, how far gradients reach, eigenvalues.

A layer is seen where it holds an `nn.RNN`, `nn.LSTM` or `nn.GRU`; where it holds a layer of ours, known by
what it has; and where it is a block that runs along a sequence, or holds one, whatever is drawn inside. Of a
block the values of the nodes inside that are as wide as its first state are shown, but for summands and what
only goes into an activation; those that stay between 0 and 1 count as gates.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from engine.catalogue.node_types import Composite, Layer, Output
from engine.document.graph import Graph
from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look import asking
from engine.look.registry import Taken, probe_kind
from engine.look.sequences import cells
from engine.look.sequences.cells import Cell
from engine.look.sight import Look
from engine.shapes.inside import scanned
from engine.shapes.shapes import ShapeBook

MOST_NUMBERS = 50_000
MOST_STEPS = 400
LEAST_UNITS = 8
MOST_FEATURES = 8
MOST_LAGS = 200
WIDEST = 1024  # numbers of a state whose Jacobian is computed
MOST_SLOPES = 10_000_000  # numbers of all Jacobians
AT_A_STEP = "Jacobian of the last step"


@dataclass(frozen=True)
class Recurrence:
    """A cell and what it reads of the pinned example: `inputs` (T, F), from the state `start` (S,) on."""

    cell: Cell
    inputs: Tensor
    start: Tensor
    layers: int = 1
    both: bool = False
    backwards: bool = False

    def read(self) -> tuple[cells.Values, Tensor]:
        """What the cell computes at every step, and the states before them."""
        return cells.read(self.cell, self.inputs, self.start, backwards=self.backwards)


def recurrence(look: Look, probe: Probe) -> Recurrence | None:
    """The recurrence of a node, None where it has none; `detail` begins with (layer, 1 for the way back)."""
    module = look.module(probe.node_id)
    if module is None:
        return None
    found = scanned(look.program.book, probe.node_id)
    if found is not None:
        return _drawn(look, *found)
    part = next((one for one in module.modules() if isinstance(one, nn.RNNBase) or cells.is_own(one)), None)
    if part is None:
        return None
    asked = (*probe.detail, 0, 0)
    if not isinstance(part, nn.RNNBase):
        return _of_ours(look, module, part, int(asked[0]), bool(asked[1]))
    given = _arriving(look, part)
    layer = min(int(asked[0]), part.num_layers - 1)
    backwards = part.bidirectional and bool(asked[1])
    cell = cells.torch_cell(part, layer, backwards=backwards)
    below = cells.through_layers_below(part, given, layer)
    return Recurrence(cell, below, given.new_zeros(cell.size), part.num_layers, part.bidirectional, backwards)


def _of_ours(look: Look, module: nn.Module, first: nn.Module, layer: int, backwards: bool) -> Recurrence:
    """The recurrence of a layer of ours, `first` or one that is stacked on it or reads the other way."""
    lists = [one for one in module.modules() if isinstance(one, nn.ModuleList)]
    ways = next(([*one] for one in lists if first in [*one]), [first])
    stack = next(([*one] for one in lists if one[0] is not first and first in [*one[0].children()]), [ways])
    layer, backwards = min(layer, len(stack) - 1), backwards and len(ways) > 1
    part = [*stack[layer]][backwards]
    given = _arriving(look, part)
    given, cell = given.flip(0) if backwards else given, cells.own_cell(part)
    return Recurrence(cell, given, given.new_zeros(cell.size), len(stack), len(ways) > 1, backwards)


@probe_kind("gates", every=0.5)
def gates(look: Look, probe: Probe) -> Taken | None:
    """Gates and states of a recurrent layer for the pinned example: `(gates, T, units)` float16.

    `detail` is (layer, 1 for the way back); `open` names those between 0 and 1. Of long sequences the last
    400 steps, of wide layers evenly chosen units (`units`). `inputs` are the layer's inputs at these steps,
    at most 8 numbers each.
    """
    of = recurrence(look, probe)
    if of is None:
        return None
    found, _ = of.read()
    values = torch.stack(list(found.values()))
    total, first = values.shape[1], max(0, values.shape[1] - MOST_STEPS)
    values = values[:, first:]
    room = max(LEAST_UNITS, MOST_NUMBERS // (values.shape[0] * values.shape[1]))
    units = asking.spread_over(values.shape[2], room)
    drawn = of.cell.kind == ""
    facts: dict[str, Any] = {
        "gates": tuple(found),
        "open": tuple(name for name, value in found.items() if _is_gate(name, value, drawn)),
        "units": tuple(units),
        "of": values.shape[2],
        "first": first,
        "steps": total,
        "inputs": of.inputs[first:, :MOST_FEATURES].cpu().numpy(),
        **_facts(look, of),
    }
    return values[:, :, units].to(torch.float16).cpu().numpy(), facts


@probe_kind("state_jacobian", every=1.0, apart=True)
def state_jacobian(look: Look, probe: Probe) -> Taken | None:
    """How the last state of a recurrent layer depends on the one k steps before: `(2, lags + 1)` for k = 0...

    The largest singular value of the Jacobian, and the root mean square of all, for the pinned example.
    `detail` as for gates; `rate` is the factor by which the largest changes from step to step, on average.
    """
    of = recurrence(look, probe)
    if of is None:
        return None
    size, steps = _need_narrow(of.cell), len(of.inputs)
    _, before = of.read()
    lags = min(steps, MOST_LAGS, max(1, MOST_SLOPES // size**2))
    read_last = slice(0, lags) if of.backwards else slice(steps - lags, steps)
    jacobians = cells.slopes(of.cell, of.inputs[read_last], before[read_last])
    found = []
    for pair in cells.lag_gains(jacobians.flip(0) if of.backwards else jacobians):
        look.check()
        found.append(pair)
    gains = np.array(found, np.float64).T
    last = gains[0, -1]
    rate = float(last ** (1 / lags)) if np.isfinite(last) else float("inf")
    return gains, {"lags": lags, "steps": steps, "rate": rate, "size": size, **_facts(look, of)}


@probe_kind("recurrent_eigenvalues", every=1.0, apart=True)
def recurrent_eigenvalues(look: Look, probe: Probe) -> Taken | None:
    """Eigenvalues `(n, 2)`, real and imaginary part, of what a recurrent layer multiplies its state by.

    `detail` is (layer, 1 for the way back, which of `parts`): the weights, the factors of an LRU, or the
    Jacobian of the last step of the pinned example. `radius` is the largest modulus, `stretch` the largest
    singular value.
    """
    of = recurrence(look, probe)
    if of is None:
        return None
    cell = of.cell
    parts = ("factors",) if cell.factors is not None else (*cell.matrices, AT_A_STEP)
    which = min(int(probe.detail[2]), len(parts) - 1) if len(probe.detail) > 2 else 0
    if cell.factors is not None:
        values = cell.factors
        stretch = values.abs().max().item()
    else:
        if parts[which] == AT_A_STEP:
            _need_narrow(cell)
            _, before = of.read()
            last = slice(0, 1) if of.backwards else slice(len(before) - 1, len(before))
            matrix = cells.slopes(cell, of.inputs[last], before[last])[0]
        else:
            matrix = cell.matrices[parts[which]]
        matrix = matrix.detach().cpu().double()
        values = torch.linalg.eigvals(matrix)
        stretch = torch.linalg.matrix_norm(matrix, 2).item()
    array = torch.view_as_real(values.cpu().to(torch.complex64)).numpy()
    facts = {"parts": parts, "part": which, "radius": values.abs().max().item(), "stretch": stretch}
    return array, {**facts, **_facts(look, of)}


def _facts(look: Look, of: Recurrence) -> dict[str, Any]:
    facts = {"layers": of.layers, "both": of.both, "mode": of.cell.kind or "drawn"}
    return {**facts, "example": look.example, "split": look.split}


def _is_gate(name: str, value: Tensor, drawn: bool) -> bool:
    return bool((value >= 0).all() and (value <= 1).all()) if drawn else name in cells.OPEN


def _need_narrow(cell: Cell) -> int:
    if cell.size > WIDEST:
        raise NeuroloomError(f"A state of {cell.size:,} numbers is too wide for its Jacobian.")
    return cell.size


def _arriving(look: Look, part: nn.Module) -> Tensor:
    """The sequence (T, features) of the pinned example that reaches a layer."""
    seen: list[Any] = []
    handle = part.register_forward_pre_hook(lambda layer, given: seen.append(given[0]))
    try:
        look.values((), look.batch(look.example, 1))
    finally:
        handle.remove()
    if not seen:
        raise NeuroloomError("Nothing reaches this layer.")
    sequence = seen[0]
    first = getattr(part, "batch_first", True)
    if isinstance(sequence, nn.utils.rnn.PackedSequence):
        sequence, first = nn.utils.rnn.pad_packed_sequence(sequence, batch_first=True)[0], True
    sequence = sequence.detach()
    if sequence.dim() == 3:
        sequence = sequence[0] if first else sequence[:, 0]
    found: Tensor = sequence
    return found


def _drawn(look: Look, node_id: str, made: Composite, book: ShapeBook) -> Recurrence | None:
    """The recurrence of a block that runs along a sequence, whose steps are calls of what is drawn inside."""
    module = look.module(node_id)
    if module is None:
        return None
    calls: list[tuple[Tensor, ...]] = []
    handle = module.register_forward_pre_hook(lambda layer, given: calls.append(given))
    try:
        look.values((), look.batch(look.example, 1))
    finally:
        handle.remove()
    states = made.states()
    if not calls or not states:
        raise NeuroloomError("This block hands no state from step to step.", node_id=node_id)
    count = len(calls[0]) - len(states)
    shapes = [tuple(one.shape[1:]) for one in calls[0]]
    sizes = [prod(shape) for shape in shapes]
    outputs = [port.name for port in made.outputs()]
    fed = [outputs.index(state.fed_by) for state in states.values()]
    graph = look.program.project.block(made.block).graph
    inside = {one: node for one, node in graph.nodes.items() if _told(graph, book, one)}
    labels = [made.label_of(state.fed_by) for state in states.values()]

    def step(x: Tensor, state: Tensor) -> tuple[cells.Values, Tensor]:
        seen: cells.Values = {}

        def watch(inner: str, port: str, value: Tensor) -> None:
            if inner in inside and value.is_floating_point() and value[0].numel() == sizes[count]:
                seen.setdefault(inside[inner].name or inside[inner].type, value.flatten(1))

        rows = torch.split(torch.cat((x, state), 1), sizes, 1)
        given = [one.reshape(-1, *shape) for one, shape in zip(rows, shapes, strict=True)]
        with look.program.tapping(watch):
            results = module(*given)
        results = results if isinstance(results, tuple) else (results,)
        after = [results[index].flatten(1) for index in fed]
        for label, one, size in zip(labels[::-1], after[::-1], sizes[count:][::-1], strict=True):
            if size == sizes[count]:
                seen.pop(label, None)
                seen[label] = one  # the first state last, as layers have it
        return seen, torch.cat(after, 1)

    matrices = {
        name.replace("_", " "): part.weight.detach()
        for name, part in module.named_modules()
        if isinstance(part, nn.Linear) and tuple(part.weight.shape) == (sizes[count],) * 2
    }
    flat = [torch.cat([one[0].detach().flatten() for one in call[:count]]) for call in calls]
    start = torch.cat([one[0].detach().flatten() for one in calls[0][count:]])
    return Recurrence(Cell("", len(start), step, matrices), torch.stack(flat).float(), start)


def _told(graph: Graph, book: ShapeBook, node_id: str) -> bool:
    """Whether the values of a node in a cell are shown: no summands, nor what an output shows anyway."""
    made = book.types.get(node_id)
    after = [book.types.get(link.target) for link in graph.outgoing(node_id)]
    if any(isinstance(one, Output) for one in after):
        return False
    squashes = isinstance(made, Layer) and made.squash() is not None
    by_number = [isinstance(one, Layer) and one.places_from == 1 for one in after]
    return squashes or by_number != [True]
