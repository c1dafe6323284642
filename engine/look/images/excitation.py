"""What excites a unit most: an input computed for it, and the examples that do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look.asking import array, rows_of, spread_over
from engine.look.images.excite import excite
from engine.look.inputs import answered_by, drawn, input_column, of_unit, type_of, value_of
from engine.look.pixels import units_of
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look
from engine.procedures.excitation import first_noise

STEPS, STAGES = 16, 8
MOST_ROWS, ROWS_AT_ONCE, SHOWN = 2048, 64, 12
SAMPLE = 256
UNIT_ROWS = 64
MOST_VALUES = 8192


@dataclass(frozen=True, slots=True)
class _Stage:
    number: int
    x: Tensor
    scores: tuple[float, ...]
    random: Tensor


@probe_kind("excitation", every=0.05, apart=True, once=True)
def excitation(look: Look, probe: Probe) -> Taken | None:
    """An input that excites a unit, found from noise by steps up its gradient: `(H, W)` or `(H, W, 3)`.

    `detail` is (unit, stage from 1 to 8, number of the try). A stage is 16 steps and goes on from the one
    before. `scores` are the mean values of the unit on the way, `natural` its largest on 64 examples.
    """
    unit, number, attempt = (int(value) for value in probe.detail[:3])
    column = input_column(look, probe.node_id)
    forward = answered_by(look, probe.node_id, column)
    rows = look.batch(0, SAMPLE)[column].float()
    mean, spread = rows.mean().item(), rows.std().item() or 1.0
    own = torch.Generator(look.device).manual_seed(attempt)
    key = f"excitation of {probe.node_id}"
    known: tuple[int, int, _Stage] | None = look.memory.get(key)
    done = known[2] if known is not None and known[:2] == (unit, attempt) else None
    if done is None or done.number != number - 1:
        done = _Stage(0, first_noise(tuple(rows.shape[1:]), mean, spread, own), (), own.get_state())
    own.set_state(done.random)

    try:
        x, scores = excite(
            lambda x: _mean(of_unit(look, probe.node_id, forward(x), unit)),
            done.x,
            STEPS * (number - done.number),
            own,
            mean=mean,
            spread=spread,
            bounds=(rows.min().item(), rows.max().item()),
            check=look.check,
        )
    except RuntimeError as error:
        raise NeuroloomError("This unit has no gradient to the image.", node_id=probe.node_id) from error
    made = _Stage(number, x.detach(), (*done.scores, *scores), own.get_state())
    look.memory[key] = (unit, attempt, made)
    with torch.no_grad():
        natural = (
            _mean(
                of_unit(look, probe.node_id, value_of(look, probe.node_id, look.batch(0, ROWS_AT_ONCE)), unit)
            )
            .max()
            .item()
        )
        now = _mean(of_unit(look, probe.node_id, forward(made.x), unit)).item()
    facts = {
        "scores": (*made.scores, now),
        "natural": natural,
        "stage": number,
        "stages": STAGES,
        "unit": unit,
    }
    return drawn(made.x[0]), facts


@probe_kind("strongest", every=3.0, apart=True)
def strongest(look: Look, probe: Probe) -> Taken | None:
    """The 12 examples that excite a unit most, the most first: `(n, H, W)` or `(n, H, W, 3)`.

    `detail` is (unit,). A channel counts by its largest value. `rows` are the numbers of the examples,
    `values` those of the unit, `places` (row, column) where it is largest in its map, `looked_at` how many
    examples were sent through.
    """
    unit = int(probe.detail[0])
    column = input_column(look, probe.node_id)
    known = spread_over(look.rows(), MOST_ROWS)
    found: list[Tensor] = []
    places: list[Tensor] = []
    shape: tuple[int, ...] = ()
    with torch.no_grad():
        for start in range(0, len(known), ROWS_AT_ONCE):
            look.check()
            value = value_of(look, probe.node_id, rows_of(look, known[start : start + ROWS_AT_ONCE]))
            one = of_unit(look, probe.node_id, value, unit).float()
            shape = tuple(one.shape[1:])
            best = one.flatten(1).max(1) if one.dim() > 1 else one[:, None].max(1)
            found.append(best.values)
            places.append(best.indices)
    values = torch.cat(found)
    order = values.argsort(descending=True, stable=True)[:SHOWN]
    rows = [known[int(index)] for index in order]
    at = torch.cat(places)[order].cpu().numpy()
    images = rows_of(look, rows)[column]
    facts: dict[str, Any] = {
        "rows": tuple(rows),
        "values": array(values[order]),
        "places": tuple(zip(*np.unravel_index(at, shape), strict=True)) if len(shape) == 2 else (),
        "mean": values.mean().item(),
        "looked_at": len(known),
        "split": look.split,
        "unit": unit,
    }
    return np.stack([drawn(image) for image in images]), facts


@probe_kind("unit", every=0.5)
def unit(look: Look, probe: Probe) -> Taken | None:
    """One unit: its map `(h, w)` for the pinned example, or its value `(1,)`.

    `detail` is (unit,). `weights` are its own, `(in, h, w)`, `(in,)` or None, `bias` a number or None.
    `values` are what it gives for 64 examples, thinned out, and `gradients` how the loss of each example
    changes with them, None where no loss hangs on it. `units` counts those of the node.
    """
    number = int(probe.detail[0]) if probe.detail else 0
    batch = look.batch(0, UNIT_ROWS)
    with torch.no_grad():
        shown = value_of(look, probe.node_id, look.batch(look.example, 1))
    count = units_of(type_of(look, probe.node_id), tuple(shown.shape[1:]))
    number = min(max(0, number), count - 1)
    mine = of_unit(look, probe.node_id, shown, number)[0]
    losses = [head.node_id for head in look.heads]
    seen = look.values({probe.node_id, *losses}, batch, gradients=True)
    value = next(iter(seen.get(probe.node_id, {}).values()))
    lost = [next(iter(seen[one].values())).float().sum() for one in losses if seen.get(one)]
    gradient: Tensor | None = None
    if lost and value.requires_grad:
        (gradient,) = torch.autograd.grad(torch.stack(lost).sum(), value, allow_unused=True)
    rows = len(value)
    facts: dict[str, Any] = {
        "unit": number,
        "units": count,
        "values": _thinned(of_unit(look, probe.node_id, value.detach(), number)),
        "gradients": None
        if gradient is None
        else _thinned(of_unit(look, probe.node_id, gradient, number) * rows),
        "rows": rows,
        "example": look.example,
        "split": look.split,
        **_own_weights(look, probe.node_id, number),
    }
    return array(mine if mine.dim() else mine[None]), facts


def _own_weights(look: Look, node_id: str, number: int) -> dict[str, Any]:
    weights = look.weights(node_id)
    matrix, bias = weights.get("weight"), weights.get("bias")
    if matrix is None or matrix.dim() < 2:
        return {"weights": None, "bias": None}
    turned = matrix.transpose(0, 1) if getattr(look.module(node_id), "transposed", False) else matrix
    if not 0 <= number < len(turned):
        return {"weights": None, "bias": None}
    return {
        "weights": array(turned[number]),
        "bias": None if bias is None or number >= len(bias) else bias[number].item(),
    }


def _thinned(values: Tensor) -> Any:
    flat = values.flatten()
    return array(flat[:: max(1, -(-flat.numel() // MOST_VALUES))])


def _mean(values: Tensor) -> Tensor:
    return values.flatten(1).mean(1) if values.dim() > 1 else values
