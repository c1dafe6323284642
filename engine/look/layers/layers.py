"""How well signals get through a model: what leaves its layers, and the gradients that come back to them."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from engine.catalogue import Layer, NodeType
from engine.catalogue.emitter import build
from engine.catalogue.symbols import evaluate
from engine.errors import TrainingError
from engine.feed.feed import Probe
from engine.look import reduce
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look, Values
from engine.shapes.shapes import wires_of

ROWS = 64
UNIT_ROWS = 128
MOST_UNITS = 1024
POINTS = 241  # of a curve of an activation
REACH = 4.0  # a curve of an activation covers at least -REACH to REACH
SATURATED = 0.95  # of the way from the middle of a function's range to its end


@probe_kind("layer_activity", every=1.0)
def layer_activity(look: Look, probe: Probe) -> Taken | None:
    """Mean, standard deviation, dead and saturated fraction of each layer's output `(layers, 4)`, in order.

    A unit is dead when it answers 0 to each of the first 64 examples; a value is saturated in the outer
    twentieth of the range of a sigmoid or tanh, NaN for layers without such an end.
    """
    values = _values_of_layers(look, look.batch(0, ROWS))
    if not values:
        return None
    parts = [torch.stack(_activity(look, node_id, value)) for node_id, value in values.items()]
    return torch.stack(parts).cpu().numpy(), {"nodes": tuple(values), "rows": min(ROWS, look.rows())}


@probe_kind("depth_variance", every=1.0)
def depth_variance(look: Look, probe: Probe) -> Taken | None:
    """Variance of what leaves each layer and of the loss's gradient there `(layers, 2)`, in order.

    With first weights after He both stay level from layer to layer (He et al. 2015);
    the gradient is that of the first loss, NaN where it does not reach. `sizes` are the numbers an example
    that leave each layer: they tell layers of other sizes from signals that vanish.
    """
    head, batch = look.head(), look.batch(0, ROWS)
    with torch.backends.cudnn.flags(enabled=False):  # its recurrent layers have no gradients in evaluation
        values = _values_of_layers(look, batch, *([head.node_id] if head is not None else []))
        loss = values.pop(head.node_id, None) if head is not None else None
        if not values:
            return None
        forward = torch.stack([value.detach().float().var(correction=0) for value in values.values()])
        backward = torch.full_like(forward, math.nan)
        reached = [index for index, value in enumerate(values.values()) if value.requires_grad]
        if loss is not None and loss.requires_grad and reached:
            inputs = [value for value in values.values() if value.requires_grad]
            found = torch.autograd.grad(loss.sum(), inputs, allow_unused=True)
            for index, gradient in zip(reached, found, strict=True):
                if gradient is not None:
                    backward[index] = gradient.float().var(correction=0)
    sizes = tuple(value[0].numel() for value in values.values())
    facts = {"nodes": tuple(values), "rows": min(ROWS, look.rows()), "sizes": sizes}
    return torch.stack([forward, backward], 1).cpu().numpy(), facts


@probe_kind("unit_activity", every=1.0)
def unit_activity(look: Look, probe: Probe) -> Taken | None:
    """For each unit of a node the fraction of values that are 0, and of those saturated `(units, 2)`.

    Over 128 examples, and all places of a feature map or sequence; NaN where nothing can saturate.
    At most 1,024 units; `units` says how many there are.
    """
    value = look.value(probe.node_id, look.batch(0, UNIT_ROWS))
    if value is None or not value.is_floating_point() or value.dim() < 2:
        return None
    zero = _fraction_by_unit(value == 0)
    saturated = torch.full_like(zero, math.nan)
    ends = _range_of(look, probe.node_id)
    if ends is not None:
        saturated = _fraction_by_unit(_saturated(value, ends))
    facts = {"rows": len(value), "units": value.shape[_unit_axis(value)], "range": ends or ()}
    return torch.stack([zero, saturated], 1).cpu().numpy(), facts


@probe_kind("activation_curve", every=1.0)
def activation_curve(look: Look, probe: Probe) -> Taken | None:
    """A node's activation function: `(n, 3)` of x, f(x) and f'(x), and how the inputs that arrive are spread.

    The function is the node's own emitted line. `counts` and `edges` are the histogram of its inputs over
    64 examples; in a layer with an activation of its own the inputs are the weighted sums.
    Errors: `TrainingError` for a function that mixes numbers, such as softmax.
    """
    arriving = given_to_activation(look, probe.node_id, look.batch(0, ROWS))
    counts, facts = reduce.histogram([arriving] if arriving is not None else [])
    low, high = -REACH, REACH
    if counts.any():
        low, high = min(low, facts["min"]), max(high, facts["max"])
    x = torch.linspace(low, high, POINTS, requires_grad=True)
    with torch.enable_grad():
        y = _function(look, probe.node_id, x)
        if y.shape != x.shape or not torch.allclose(_function(look, probe.node_id, x[:1]), y[:1]):
            raise TrainingError("This function mixes its numbers, so it has no curve.", node_id=probe.node_id)
        (slope,) = torch.autograd.grad(y.sum(), x)
    return torch.stack([x, y, slope], 1).detach().numpy(), {**facts, "counts": counts}


def _function(look: Look, node_id: str, x: Tensor) -> Tensor:
    """The node's emitted line on numbers `(n,)`; layers with weights inside hand their input on."""
    node_type: NodeType = look.program.book.types[node_id]
    wires = wires_of(look.program.book.inputs(node_id))
    port, code = next(iter(wires)), build(node_type, "layer", wires)
    if code.unpacks:
        raise TrainingError("This layer has more than one function inside.", node_id=node_id)
    layers = dict.fromkeys(code.modules, _handed_on)
    if not hasattr(node_type, "activation") and (module := look.module(node_id)) is not None:
        layers = dict.fromkeys(code.modules, module)
    variables: dict[str, Any] = {"self": SimpleNamespace(**layers), port: x[None]}
    found: Tensor = evaluate(next(iter(code.ports.values())), variables)
    return found[0]


def _handed_on(x: Tensor) -> Tensor:
    return x


def given_to_activation(look: Look, node_id: str, batch: dict[str, Tensor]) -> Tensor | None:
    """What a node's activation function is given: what its layer computes, else what comes in."""
    module = look.module(node_id)
    if module is not None and hasattr(look.program.book.types[node_id], "activation"):
        seen: list[Tensor] = []
        handle = module.register_forward_hook(lambda module, given, value: seen.append(value))
        try:
            look.values((), batch)
        finally:
            handle.remove()
        return seen[0] if seen and isinstance(seen[0], Tensor) else None
    link = next(iter(look.program.project.graph.incoming(node_id)), None)
    return None if link is None else look.value(link.source, batch, link.source_port)


def _values_of_layers(look: Look, batch: dict[str, Tensor], *others: str) -> dict[str, Tensor]:
    """What leaves each layer (its first port), in the order of the computation."""
    types = look.program.book.types
    layers = {node_id for node_id, found in types.items() if found.kind == "layer"}
    seen: Values = look.values({*layers, *others}, batch, gradients=bool(others))
    first = {node_id: next(iter(ports.values())) for node_id, ports in seen.items()}
    return {
        node_id: value
        for node_id, value in first.items()
        if value.is_floating_point() and (value.dim() > 1 or node_id in others)
    }


def _activity(look: Look, node_id: str, value: Tensor) -> list[Tensor]:
    value = value.detach().float()
    variance, mean = torch.var_mean(value, correction=0)
    dead = 1 - (value != 0).any(_places(value)).float().mean()
    ends = _range_of(look, node_id)
    saturated = (
        _saturated(value, ends).float().mean() if ends is not None else torch.full_like(mean, math.nan)
    )
    return [mean, variance.sqrt(), dead, saturated]


def _saturated(value: Tensor, ends: tuple[float, float]) -> Tensor:
    middle, half = (ends[0] + ends[1]) / 2, (ends[1] - ends[0]) / 2
    return (value - middle).abs() > SATURATED * half


def _range_of(look: Look, node_id: str) -> tuple[float, float] | None:
    """Where the node's function ends on both sides, None where it does not."""
    made = look.program.book.types[node_id]
    squash = made.squash() if isinstance(made, Layer) else None
    return None if squash is None else squash.ends


def _unit_axis(value: Tensor) -> int:
    """Channels of images `(N, C, H, W)`, features of sequences `(N, T, F)`."""
    return value.dim() - 1 if value.dim() <= 3 else 1


def _places(value: Tensor) -> tuple[int, ...]:
    """All axes but that of the units: examples, and places of a map or sequence."""
    return tuple(axis for axis in range(value.dim()) if axis != _unit_axis(value))


def _fraction_by_unit(where: Tensor) -> Tensor:
    """The fraction of examples and places at which something holds, for each unit."""
    return where.float().mean(_places(where))[:MOST_UNITS]
