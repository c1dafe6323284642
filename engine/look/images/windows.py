"""What the window of a convolution or a pool sees, and which pixels a unit sees in the end."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.catalogue import Layer
from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look.asking import array
from engine.look.images.receptive import Reach, effective, reach
from engine.look.images.window_steps import Window
from engine.look.inputs import answered_by, arriving_at, drawn, input_column, value_of
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look, evaluating

MOST_CELLS = 256 * 256
ROWS = 32


@probe_kind("window", every=0.5)
def window(look: Look, probe: Probe) -> Taken | None:
    """What a convolution or a pool makes of one channel of the pinned example: the channel `(H, W)`.

    `detail` is (filter, channel). For a convolution `kernel` `(h, w)` is that of the channel, `others`
    `(h, w)` what the other channels of the filter add to each sum, `bias` its bias; `plain` are the sums and
    `made` what the node gives of them through `activation`. A pool has no kernel, and `made` alone. `window`
    are the fields of `engine.look.images.window_steps.Window`.
    """
    filter_, channel = (int(value) for value in (*probe.detail, 0, 0)[:2])
    module = look.module(probe.node_id)
    if not isinstance(module, nn.Conv1d | nn.Conv2d) and _pool(look, probe) is None:
        raise NeuroloomError("This node moves no window over its input.", node_id=probe.node_id)
    batch = look.batch(look.example, 1)
    with torch.no_grad():
        x, made = arriving_at(look, probe.node_id, batch), value_of(look, probe.node_id, batch)
    x, made = _as_map(x[0].detach().float()), _as_map(made[0].detach().float())
    if x.shape[1] * x.shape[2] > MOST_CELLS:
        raise NeuroloomError("These maps are too large to step through.", node_id=probe.node_id)
    if isinstance(module, nn.Conv1d | nn.Conv2d):
        return _convolved(look, probe, module, x, made, (filter_, channel))
    return _pooled(look, probe, x, made, channel)


def _convolved(
    look: Look, probe: Probe, module: nn.Conv1d | nn.Conv2d, x: Tensor, made: Tensor, chosen: tuple[int, int]
) -> Taken:
    weight = module.weight.detach().float()
    weight = weight[:, :, None] if weight.dim() == 3 else weight
    filter_ = min(max(0, chosen[0]), len(weight) - 1)
    each, group = weight.shape[1], filter_ // (len(weight) // module.groups)
    channel = min(max(0, chosen[1]), each - 1)
    at = window_of(module).fitted(_two(x), _two(made))
    seen = F.pad(
        x[group * each : (group + 1) * each], (at.before[1], at.behind[1], at.before[0], at.behind[0])
    )
    with torch.no_grad(), evaluating(look.model):
        parts = F.conv2d(seen[None], weight[filter_][:, None], None, at.stride, 0, at.dilation, groups=each)[
            0
        ]
        bias = 0.0 if module.bias is None else module.bias[filter_].item()
        others = parts.sum(0) - parts[channel]
    made_here = look.program.book.types.get(probe.node_id)
    facts: dict[str, Any] = {
        "kind": "convolution",
        "kernel": array(weight[filter_, channel]),
        "others": array(others),
        "bias": bias,
        "plain": array(parts.sum(0) + bias),
        "made": array(made[filter_]),
        "activation": str(getattr(made_here, "activation", "none")),
        "filter": filter_,
        "channel": channel,
        "filters": len(weight),
        "channels": each,
    }
    return array(x[group * each + channel]), {**facts, **_about(look, at)}


def _pooled(look: Look, probe: Probe, x: Tensor, made: Tensor, channel: int) -> Taken:
    pool = _pool(look, probe)
    assert pool is not None
    stride, size = getattr(pool, "stride", None), _pair(pool.size)  # type: ignore[attr-defined]
    if pool.traits.channels_first:
        size = (1, size[1])
    at = Window(size, size if stride is None else _pair(stride)).fitted(_two(x), _two(made))
    channel = min(max(0, channel), len(x) - 1)
    facts = {
        "kind": pool.traits.pools,
        "made": array(made[channel]),
        "channel": channel,
        "channels": len(x),
        "filters": 0,
    }
    return array(x[channel]), {**facts, "filter": 0, **_about(look, at)}


def _pool(look: Look, probe: Probe) -> Layer | None:
    made = look.program.book.types.get(probe.node_id)
    return made if isinstance(made, Layer) and made.traits.pools is not None else None


def _about(look: Look, at: Window) -> dict[str, Any]:
    return {"window": astuple(at), "example": look.example, "split": look.split}


def window_of(module: nn.Conv1d | nn.Conv2d) -> Window:
    """The window of a convolution; one over a sequence is one row high."""
    flat = len(module.kernel_size) == 1

    def two(value: Any, alone: int) -> tuple[int, int]:
        return (alone, int(value[0])) if flat else (int(value[0]), int(value[1]))

    kernel, dilation = two(module.kernel_size, 1), two(module.dilation, 1)
    if isinstance(module.padding, str):
        totals = [dilation[a] * (kernel[a] - 1) if module.padding == "same" else 0 for a in (0, 1)]
        before = (totals[0] // 2, totals[1] // 2)
        behind = (totals[0] - before[0], totals[1] - before[1])
    else:
        before = behind = two(module.padding, 0)
    return Window(kernel, two(module.stride, 1), before, behind, dilation)


@probe_kind("receptive_field", every=2.0, apart=True)
def receptive_field(look: Look, probe: Probe) -> Taken | None:
    """How much a unit listens to each pixel, the mean size of its gradient over 32 examples: `(H, W)`.

    `detail` is (channel, row, column), with -1 for all channels and for the middle. `seen` `(H, W)` are the
    pixels that can reach the unit at all, `size` and `stride` are those of the fields of the node, `map` the
    size of its map, `values` the map itself for the pinned example.
    """
    channel, row, column_at = (int(value) for value in (*probe.detail, -1, -1, -1)[:3])
    column = input_column(look, probe.node_id)
    x = look.batch(look.example, 1)[column]
    found = _reach(look, probe.node_id, column, x)
    rows = look.batch(0, ROWS)[column].clone().requires_grad_(True)
    look.check()
    with torch.enable_grad():
        maps = _as_maps(value_of(look, probe.node_id, _batch(look, column, rows)))
        high, wide = int(maps.shape[2]), int(maps.shape[3])
        row = row if 0 <= row < high else high // 2
        column_at = column_at if 0 <= column_at < wide else wide // 2
        channel = min(channel, maps.shape[1] - 1)
        unit = maps[:, :, row, column_at].sum(1) if channel < 0 else maps[:, channel, row, column_at]
        try:
            heat = effective(unit, rows)
        except RuntimeError as error:
            raise NeuroloomError("This node has no gradient to the image.", node_id=probe.node_id) from error
    with torch.no_grad():
        shown = _as_maps(value_of(look, probe.node_id, look.batch(look.example, 1)))[0]
    facts: dict[str, Any] = {
        "seen": found.of(min(row, len(found.rows) - 1), min(column_at, len(found.columns) - 1)).numpy(),
        "size": found.size(),
        "stride": found.stride(),
        "unit": (channel, row, column_at),
        "channels": int(maps.shape[1]),
        "map": (high, wide),
        "values": array(shown.mean(0) if channel < 0 else shown[channel]),
        "image": drawn(x[0]),
        "example": look.example,
        "split": look.split,
    }
    return array(heat), facts


def _reach(look: Look, node_id: str, column: str, x: Tensor) -> Reach:
    """What the units see, which is found once for each shape: weights do not change it."""
    key = f"receptive field of {node_id}"
    known: tuple[Any, Reach] | None = look.memory.get(key)
    about = (look.program.source.text if hasattr(look.program, "source") else "", tuple(x.shape))
    if known is None or known[0] != about:
        found = reach(answered_by(look, node_id, column), x, look.check)
        known = look.memory[key] = (about, found)
    return known[1]


def _batch(look: Look, column: str, rows: Tensor) -> dict[str, Tensor]:
    batch = dict(look.batch(0, len(rows)))
    batch[column] = rows
    return batch


def _as_maps(value: Tensor) -> Tensor:
    """`(N, C, h, w)` of maps, sequences `(N, C, L)` or units `(N, k)`."""
    if value.dim() == 4:
        return value
    return value[:, :, None] if value.dim() == 3 else value.reshape(len(value), -1, 1, 1)


def _as_map(value: Tensor) -> Tensor:
    return value if value.dim() == 3 else value[:, None]


def _two(value: Tensor) -> tuple[int, int]:
    return int(value.shape[1]), int(value.shape[2])


def _pair(value: Any) -> tuple[int, int]:
    return (int(value), int(value)) if isinstance(value, int | np.integer) else (int(value[0]), int(value[1]))
