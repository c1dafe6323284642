"""The linear regions of a network of one input or two, and one of its hidden layers unit by unit."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from engine.catalogue import Layer
from engine.catalogue.traits import pieces_of
from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look import asking
from engine.look.landscape.linear_cells import Bend, Cells, Numbers, linear_cells, most_regions
from engine.look.layers.layers import given_to_activation
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look
from engine.shapes.heads import Feature, Head, heads

MOST_REGIONS = 5000
MOST_UNITS = 64
STEPS = 300  # along the input, where a function before the layer is bent everywhere
STRAIGHT = 1e-6  # of the largest answer: how far an answer in a cell may be from the mean of its corners


@probe_kind("linear_regions", every=0.5, apart=True)
def linear_regions(look: Look, probe: Probe) -> Taken | None:
    """Corners of the cells in which the answer is linear, `(k, inputs + answers)`: inputs, then answers.

    Within the reach of the data, one cell after another; `sizes` has the corners of each and `active` how
    many units are above their first joint there. `cuts` `(m, inputs, inputs)` are the points, or the ends
    of lines, at which units bend, `layers` the nodes of these by `cut_layers`, `widths` their units.
    `at_most` is the bound for functions with one joint, None for others; `parameters` counts the weights
    behind the answer.
    Errors: `NeuroloomError` for an answer that is not made of straight pieces, or of more than 5,000.
    """
    head = asking.asked(look, probe.node_id)
    known = asking.features(look, head)
    if len(known) not in (1, 2):
        raise NeuroloomError("Linear regions are drawn for answers that depend on one number or two.")
    exact, answering = _exact(look), head.prediction[0]
    names = _bending(look, answering)
    layers = [_bend(exact, known, name) for name in names]
    cells = linear_cells([asking.reach(look, one) for one in known], layers, MOST_REGIONS)
    corners = np.concatenate(cells.corners)
    answers = _answers(exact, known, head, corners)
    sizes = np.array([len(one) for one in cells.corners])
    starts = np.cumsum(sizes) - sizes
    middles = cells.middles()
    means = np.add.reduceat(answers, starts, axis=0) / sizes[:, None]
    off = np.abs(_answers(exact, known, head, middles) - means).max()
    if off > STRAIGHT * np.abs(answers).max():
        raise NeuroloomError("Something before this answer is not made of straight pieces.")
    sums = [layer.sums(middles) for layer in layers]
    widths = tuple(one.shape[1] for one in sums)
    facts: dict[str, Any] = {
        "inputs": len(known),
        "names": tuple(one.name for one in known),
        "target": head.column,
        "classes": asking.class_names(head),
        "sizes": sizes,
        "active": sum((one > bend.joints[0]).sum(1) for one, bend in zip(sums, layers, strict=True))
        + np.zeros(len(sizes), int),
        "cuts": np.array([cut.ends for cut in cells.cuts]).reshape(-1, len(known), len(known)),
        "cut_layers": np.array([cut.layer for cut in cells.cuts], int),
        "layers": tuple(names),
        "widths": widths,
        "at_most": most_regions(len(known), widths) if all(len(one.joints) == 1 for one in layers) else None,
        "parameters": sum(
            weight.numel()
            for node_id in {answering, *look.program.project.graph.ancestors(answering)}
            for weight in look.weights(node_id).values()
        ),
    }
    return np.hstack([corners, answers]).astype(np.float32), facts


@probe_kind("unit_steps", every=0.3, apart=True)
def unit_steps(look: Look, probe: Probe) -> Taken | None:
    """The units of a hidden layer along the only input, from their sums to one output of the layer behind it.

    `(n, 2 + 3 units)`: the input, the output; then of each unit what arrives at its function, what leaves it,
    and that times its weight. `detail` is (number of the output,); `outputs` is how many there are, `reads`
    the node they are of, `offset` its bias. `joints` are (unit, input, output) where a unit of this layer
    bends, `earlier` inputs where one of a layer before does; with `straight` the rows are the ends of
    straight pieces.
    Errors: `NeuroloomError` where no dense layer reads the units, or for more than 64 of them.
    """
    project = look.program.project
    behind = (
        one
        for one in heads(project, look.program.book)
        if probe.node_id in project.graph.ancestors(one.prediction[0])
    )
    head = next(behind, None)
    known = () if head is None else asking.features(look, head)
    reading = reader(look, probe.node_id)
    if len(known) != 1 or reading is None:
        raise NeuroloomError("This layer is not seen along one input, on its way to a dense layer.")
    exact, names = _exact(look), _bending(look, probe.node_id)
    span = asking.reach(look, known[0])
    layers = [_bend(exact, known, name) for name in names]
    own = len(names) - 1 if probe.node_id in names else None
    cells = linear_cells([span], layers, MOST_REGIONS)
    straight = own is not None and _is_straight(exact, known, probe.node_id, cells)
    at = np.unique(np.concatenate(cells.corners)) if straight else np.linspace(*span, STEPS)
    batch = _batch(exact, known, at[:, None])
    sums = given_to_activation(exact, probe.node_id, batch)
    active = exact.value(probe.node_id, batch)
    weights: Tensor = reading[1].get_parameter("weight")
    if sums is None or active is None or active.shape[1] > MOST_UNITS:
        raise NeuroloomError(f"Single units are drawn for layers of up to {MOST_UNITS}.")
    output = min(int(probe.detail[0]) if probe.detail else 0, len(weights) - 1)
    bias = dict(reading[1].named_parameters()).get("bias")
    offset = 0.0 if bias is None else bias[output].item()
    weighted = active.double() * weights[output].double().to(active.device)
    total = weighted.sum(1, keepdim=True) + offset
    rows = torch.cat(
        [torch.from_numpy(at)[:, None], *(one.double().cpu() for one in (total, sums, active, weighted))], 1
    )
    joints = [cut for cut in cells.cuts if cut.layer == own and straight]
    places = np.array([float(cut.ends[0, 0]) for cut in joints])
    facts: dict[str, Any] = {
        "units": active.shape[1],
        "outputs": len(weights),
        "output": output,
        "reads": reading[0],
        "offset": offset,
        "name": known[0].name,
        "straight": straight,
        "joints": np.column_stack(
            [[cut.unit for cut in joints], places, np.interp(places, at, rows[:, 1].detach().numpy())]
        ).reshape(-1, 3),
        "earlier": np.array([float(cut.ends[0, 0]) for cut in cells.cuts if cut.layer != own and straight]),
    }
    return rows.detach().numpy().astype(np.float32), facts


def reader(look: Look, node_id: str) -> tuple[str, nn.Module] | None:
    """The first layer with one matrix of weights that reads what leaves a node."""
    graph, types = look.program.project.graph, look.program.book.types
    for link in graph.outgoing(node_id):
        kind, module = types.get(link.target), look.module(link.target)
        dense = isinstance(kind, Layer) and kind.traits.dense
        if dense and module is not None and "weight" in dict(module.named_parameters()):
            return link.target, module
    return None


def _exact(look: Look) -> Look:
    """The same look at a model of double precision: joints that lie side by side stay apart."""
    return replace(look, model=deepcopy(look.model).double())


def _bending(look: Look, node_id: str) -> list[str]:
    """The nodes up to this one whose function has joints, in the order of computing."""
    graph, types = look.program.project.graph, look.program.book.types
    reached = {node_id, *graph.ancestors(node_id)}
    return [one for one in graph.order() if one in reached and pieces_of(types.get(one)) is not None]


def _bend(look: Look, known: tuple[Feature, ...], node_id: str) -> Bend:
    pieces = pieces_of(look.program.book.types[node_id])
    assert pieces is not None

    def sums(points: Numbers) -> Numbers:
        look.check()
        found = given_to_activation(look, node_id, _batch(look, known, points))
        if found is None:
            raise NeuroloomError("What arrives here is not seen.", node_id=node_id)
        return asking.numbers(found.reshape(len(points), -1))

    return Bend(sums, pieces.joints)


def _batch(look: Look, known: tuple[Feature, ...], points: Numbers) -> dict[str, Tensor]:
    """Rows whose features are these points; what else there is, as in the pinned example."""
    made = {
        name: column.double() if column.is_floating_point() else column
        for name, column in look.repeated(len(points)).items()
    }
    values = {one: torch.from_numpy(points[:, at].copy()).to(look.device) for at, one in enumerate(known)}
    return asking.with_features(made, values)


def _answers(look: Look, known: tuple[Feature, ...], head: Head, points: Numbers) -> Numbers:
    found = look.value(head.prediction[0], _batch(look, known, points), head.prediction[1])
    if found is None:
        raise NeuroloomError("Nothing in this plan computes the answer.", node_id=head.prediction[0])
    return asking.numbers(found.reshape(len(points), -1))


def _is_straight(look: Look, known: tuple[Feature, ...], node_id: str, cells: Cells) -> bool:
    """Whether what leaves a node is linear in each cell."""
    ends = np.array(cells.corners)[:, :, 0]
    found = []
    for at in (*ends.T, ends.mean(1)):
        value = look.value(node_id, _batch(look, known, at[:, None]))
        assert value is not None
        found.append(asking.numbers(value.reshape(len(at), -1)))
    left, right, middle = found
    return bool(np.abs((left + right) / 2 - middle).max() <= STRAIGHT * np.abs(middle).max())
