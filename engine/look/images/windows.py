"""What the window of a convolution or a pool sees, and which pixels a unit sees in the end."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.catalogue import Layer
from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look.asking import array
from engine.look.images.receptive import Reach, effective, reach
from engine.look.images.sliding import Sliding, size_of, sliding
from engine.look.images.window_steps import Window
from engine.look.inputs import answered_by, arriving_at, drawn, input_column, value_of
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look, evaluating

MOST_CELLS = 256 * 256
ROWS = 32


@probe_kind("window", every=0.5)
def window(look: Look, probe: Probe) -> Taken | None:
    """What a convolution or a pool makes of one channel of the pinned example: the channel `(H, W)`.

    `detail` is (filter, channel, slice of a volume that is made). For a convolution `kernel` `(h, w)` is that
    of the channel, or `(rows, columns, h, w)` where each place has its own, `others` `(rows, columns)` what
    the other channels of the filter add to each sum, `bias` its bias or one for each place, and `framed` the
    channel with its padding where that is no zeros; `plain` are the sums and `made` what the node gives of
    them through `activation`. A transposed convolution is given as a plain one over what arrives with
    `stretched` zeros between. A pool has no kernel, and `made` alone; `power` is that of an Lp pool. `window`
    are the fields of `engine.look.images.window_steps.Window`.
    """
    chosen = [int(value) for value in (*probe.detail, 0, 0, 0)[:3]]
    pool = _pool(look, probe)
    batch = look.batch(look.example, 1)
    module = None if pool is not None else look.module(probe.node_id)
    with torch.no_grad():
        x, made = arriving_at(look, probe.node_id, batch), value_of(look, probe.node_id, batch)
    x, made = x[0].detach().float(), made[0].detach().float()
    if x.shape[1:].numel() > MOST_CELLS:
        raise NeuroloomError("These maps are too large to step through.", node_id=probe.node_id)
    if pool is not None and x.dim() < 4:
        return _pooled(look, pool, _as_map(x), _as_map(made), chosen[1])
    with torch.no_grad(), evaluating(look.model):
        found = None if module is None else sliding(module, x, made, chosen[0], chosen[2])
        if found is None:
            raise NeuroloomError("This node moves no window over its input.", node_id=probe.node_id)
        return _slid(look, probe, found, made, chosen)


def _slid(look: Look, probe: Probe, found: Sliding, made: Tensor, chosen: list[int]) -> Taken:
    filter_ = min(max(0, chosen[0]), found.filters - 1)
    channel = min(max(0, chosen[1]), len(found.x) - 1)
    parts = found.parts()
    plain = parts.sum(0) + found.bias
    made = made[filter_]
    made = made[found.depth[0]] if made.dim() == 3 else made[None] if made.dim() == 1 else made
    type_ = look.program.book.types.get(probe.node_id)
    facts: dict[str, Any] = {
        "kind": "convolution",
        "kernel": array(found.kernels(channel)),
        "others": array(parts.sum(0) - parts[channel]),
        "bias": array(found.bias) if isinstance(found.bias, Tensor) else found.bias,
        "plain": array(plain),
        "made": array(made),
        "activation": str(getattr(type_, "activation", "none")),
        "filter": filter_,
        "channel": channel,
        "filters": found.filters,
        "channels": len(found.x),
        "slices": found.slices,
        "depth": found.depth,
        "stretched": found.stretched,
    }
    if found.border != "constant":
        facts["framed"] = array(found.framed()[channel])
    return array(found.x[channel]), {**facts, **_about(look, found.window)}


def _pooled(look: Look, pool: Layer, x: Tensor, made: Tensor, channel: int) -> Taken:
    stride, size = getattr(pool, "stride", None), _pair(pool.size)  # type: ignore[attr-defined]
    if pool.traits.channels_first:
        size = (1, size[1])
    edge = _pair(getattr(pool, "padding", 0))
    at = Window(size, size if stride is None else _pair(stride), edge, edge).fitted(size_of(x), size_of(made))
    channel = min(max(0, channel), len(x) - 1)
    facts = {
        "kind": pool.traits.pools,
        "power": float(getattr(pool, "p", 1.0)),
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


@probe_kind("fields", every=2.0, apart=True)
def fields(look: Look, probe: Probe) -> Taken | None:
    """The pixels that each place of a map depends on: the pinned image `(H, W)` or `(H, W, 3)`.

    `rows` `(h, H)` and `columns` `(w, W)` are true where a row or column of places sees one of the image.
    """
    column = input_column(look, probe.node_id)
    x = look.batch(look.example, 1)[column]
    found = _reach(look, probe.node_id, column, x)
    image = drawn(x[0])
    facts = {"rows": found.rows.numpy(), "columns": found.columns.numpy(), "size": found.size()}
    return np.asarray(image), {**facts, "example": look.example, "split": look.split}


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


def _pair(value: Any) -> tuple[int, int]:
    return (int(value), int(value)) if isinstance(value, int | np.integer) else (int(value[0]), int(value[1]))
