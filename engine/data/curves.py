"""Lines and curves with noise, to fit. Portable: exports carry this source."""

from __future__ import annotations

import math
from pathlib import Path

import torch
from torch import Tensor

from engine.data.splits import columns_of, three_ways


def load_line(
    folder: Path,
    device: str,
    *,
    slope: float = 2.0,
    intercept: float = 1.0,
    noise: float = 0.3,
    rows: int = 100,
    validation: float = 0.2,
    test: float = 0.2,
    seed: int = 0,
) -> dict[str, dict[str, Tensor]]:
    """A line with noise as {split: {"x": (N, 1), "y": (N, 1)}}: y = slope x + intercept + noise N(0, 1).

    x lies evenly in -1..1.
    """
    draw = torch.Generator().manual_seed(seed)
    x = torch.linspace(-1, 1, rows)[:, None]
    y = slope * x + intercept + noise * torch.randn(rows, 1, generator=draw)
    return columns_of({"x": x, "y": y}, three_ways(torch.zeros(rows), validation, test, seed), device)


def curve(form: str, x: Tensor) -> Tensor:
    """The value of a curve at x in -1..1."""
    if form == "bump":
        return 1 / (1 + 25 * x**2)
    if form == "step":
        return torch.sign(x)
    if form == "cubic":
        return x**3 - x / 2
    if form == "two waves":
        return torch.sin(math.pi * x) + torch.sin(3 * math.pi * x) / 2
    return torch.sin(math.pi * x)


def load_curve(
    folder: Path,
    device: str,
    *,
    form: str = "sine",
    noise: float = 0.25,
    rows: int = 300,
    validation: float = 0.2,
    test: float = 0.2,
    seed: int = 0,
) -> dict[str, dict[str, Tensor]]:
    """A curve with noise as {split: {"x": (N, 1) in -1..1, "y": (N, 1), "clean": (N, 1)}}.

    y = (1 - noise) · curve + noise · N(0, 1), the curve scaled to mean 0 and deviation 1: a noise of 1 leaves
    nothing to learn (seed 000 §1.3.1).
    """
    draw = torch.Generator().manual_seed(seed)
    x = torch.linspace(-1, 1, rows)[:, None]
    value = curve(form, x)
    value = (value - value.mean()) / value.std(correction=0)
    y = (1 - noise) * value + noise * torch.randn(rows, 1, generator=draw)
    columns = {"x": x, "y": y, "clean": (1 - noise) * value}
    return columns_of(columns, three_ways(torch.zeros(rows), validation, test, seed), device)
