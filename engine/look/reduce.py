"""Makes small arrays out of large tensors: tiles, kernels, histograms."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Array = NDArray[Any]

BINS = 64
MOST_CHANNELS = 64
MOST_KERNELS = 256
MOST_PIXELS = 128
MOST_VALUES = 1024
MOST_LISTED = 4096


def maps(value: Tensor) -> Array:
    """One example `(C, H, W)`, `(T, F)`, `(D,)` or a scalar as float32 with at most 64 maps of 128×128.

    A map that is larger is thinned out evenly; a vector is cut at 1024 values.
    """
    value = value.detach()
    if value.dim() == 0:
        value = value[None]
    if value.dim() == 1:
        return _array(value[:MOST_VALUES])
    if value.dim() > 3:
        value = value.flatten(0, -3)
    if value.dim() == 3:
        value = value[:MOST_CHANNELS]
    high, wide = (max(1, math.ceil(size / MOST_PIXELS)) for size in value.shape[-2:])
    return _array(value[..., ::high, ::wide])


def listed(value: Tensor) -> Array:
    """The edges of one graph `(e, 2)` as float32: a list that is thinned out would be another graph.

    Of more than 4,096 none is given.
    """
    return _array(value.detach()[: MOST_LISTED if len(value) <= MOST_LISTED else 0])


def kernels(weight: Tensor) -> tuple[Array, dict[str, Any]]:
    """The kernels of a weight and what they are.

    A convolution `(out, in, *kernel)` gives `(n, H, W)`, n <= 256, output by output; a matrix `(out, in)`
    gives one image of at most 256 × 1024.
    """
    weight = weight.detach()
    facts: dict[str, Any] = {"shape": tuple(weight.shape)}
    if weight.dim() <= 2:
        matrix = weight if weight.dim() == 2 else weight.reshape(1, -1)
        return _array(matrix[:MOST_KERNELS, :MOST_VALUES]), {**facts, "kind": "matrix"}
    out, into = weight.shape[:2]
    tiles = weight.flatten(0, 1)
    tiles = tiles[:, None, :] if tiles.dim() == 2 else tiles.flatten(1, -3) if tiles.dim() > 3 else tiles
    facts |= {"kind": "kernels", "out": out, "in": into, "shown": min(len(tiles), MOST_KERNELS)}
    return _array(tiles[:MOST_KERNELS]), facts


def histogram(values: Iterable[Tensor]) -> tuple[Array, dict[str, Any]]:
    """Counts in 64 equal bins, int64, and `edges` (65), mean, std, min, max, fractions zeros and not_finite.

    `zeros` is the fraction of exact zeros (dead units, sparse weights).
    """
    parts = [value.detach().reshape(-1).float() for value in values]
    flat = parts[0] if len(parts) == 1 else torch.cat(parts) if parts else torch.empty(0)
    total = flat.numel()
    low, high = (bound.item() for bound in torch.aminmax(flat)) if total else (math.nan, math.nan)
    if total and not (math.isfinite(low) and math.isfinite(high)):
        flat = flat[torch.isfinite(flat)]
        low, high = (bound.item() for bound in torch.aminmax(flat)) if flat.numel() else (math.nan, math.nan)
    if not flat.numel():
        nothing = {"mean": math.nan, "std": math.nan, "min": math.nan, "max": math.nan, "zeros": 0.0}
        edges = np.linspace(0, 1, BINS + 1)
        fraction = 1.0 if total else 0.0
        return np.zeros(BINS, np.int64), {**nothing, "edges": edges, "not_finite": fraction, "count": total}
    left, right = (low, high) if high > low else (low - 0.5, high + 0.5)
    counts = torch.histc(flat, BINS, left, right)
    facts = {
        "edges": np.linspace(left, right, BINS + 1),
        "mean": flat.mean().item(),
        "std": flat.std(correction=0).item(),
        "min": low,
        "max": high,
        "zeros": (flat == 0).sum().item() / total,
        "not_finite": 1 - flat.numel() / total,
        "count": total,
    }
    return _array(counts).astype(np.int64), facts


def norms(tensors: Mapping[str, Sequence[Tensor]]) -> list[float]:
    """The Euclidean norm of each group of tensors, read from the device at once."""
    found = [
        torch.linalg.vector_norm(torch.stack(torch._foreach_norm(list(group)))) if group else None
        for group in tensors.values()
    ]
    real = [norm for norm in found if norm is not None]
    numbers = iter(torch.stack(real).tolist() if real else [])
    return [math.nan if norm is None else next(numbers) for norm in found]


def _array(value: Tensor) -> Array:
    """A float32 copy on the CPU that shares nothing with the model."""
    found: Array = value.to("cpu", torch.float32, copy=True).contiguous().numpy()
    return found
