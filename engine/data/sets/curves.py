"""Lines and curves with noise, to fit. Portable: exports carry this source."""

from __future__ import annotations

import math
from pathlib import Path

import torch
from torch import Tensor

from engine.data.splits import columns_of, stratified_split


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
    return columns_of(
        {"x": x, "y": y},
        stratified_split(torch.zeros(rows), validation=validation, test=test, seed=seed),
        device,
    )


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
    if form == "staircase":
        return (2.5 * (x + 1)).floor().clamp(0, 4) / 2 - 1
    if form == "sinc":
        return torch.sinc(5 * x)
    if form == "three bumps":
        places = ((1.0, -0.6, 0.1), (-0.7, 0.0, 0.15), (0.5, 0.5, 0.08))
        return torch.stack([high * (-(((x - at) / wide) ** 2) / 2).exp() for high, at, wide in places]).sum(0)
    if form == "quintic":
        return 16 * x**5 - 20 * x**3 + 5 * x
    if form == "hinges":
        return (x + 0.5).abs() - 2 * x.abs() + (x - 0.5).abs()
    return torch.sin(math.pi * x)


def noise_over(spread: str, x: Tensor) -> Tensor:
    """How strong noise is at x in -1..1, 1 in the mean: alike everywhere, or as `spread` says."""
    if spread == "growing":
        return x + 1
    if spread == "in the middle":
        return 2 - 2 * x.abs()
    if spread == "at the ends":
        return 2 * x.abs()
    return torch.ones_like(x)


def around_gap(fraction: Tensor, gap_from: float, gap_to: float) -> Tensor:
    """Fractions 0..1 as places in -1..1 outside the gap, as evenly as they came."""
    if gap_from >= gap_to:
        return 2 * fraction - 1
    at = fraction * (2 - (gap_to - gap_from)) - 1
    return torch.where(at < gap_from, at, at + (gap_to - gap_from))


def load_curve(
    folder: Path,
    device: str,
    *,
    form: str = "sine",
    noise: float = 0.25,
    noise_as: str = "share",
    spread: str = "even",
    placing: str = "evenly",
    gap_from: float = 0.0,
    gap_to: float = 0.0,
    rows: int = 300,
    validation: float = 0.2,
    test: float = 0.2,
    seed: int = 0,
) -> dict[str, dict[str, Tensor]]:
    """A curve with noise as {split: {"x", "y", "clean", "deviation"}}, each (N, 1), x in -1..1.

    With `noise_as` "share", y = (1 - noise) · curve + noise · N(0, 1), the curve scaled to mean 0 and
    deviation 1: a noise of 1 leaves nothing to learn. With "deviation", y = curve + noise · N(0, 1).
    `spread` says where noise is stronger; nothing lies between `gap_from` and `gap_to`.
    Errors: `ValueError` where the gap leaves no room.
    """
    if gap_to - gap_from >= 2:
        raise ValueError("The gap spans all of -1 to 1: make it narrower.")
    draw = torch.Generator().manual_seed(seed)
    drawn = torch.randn(rows, 1, generator=draw)
    if placing == "evenly":
        x = torch.linspace(-1, 1, rows)[:, None]
    else:
        x = 2 * torch.rand(rows, 1, generator=draw) - 1
    if gap_from < gap_to:
        x = around_gap((x + 1) / 2, gap_from, gap_to)
    clean = curve(form, x)
    if noise_as == "share":
        clean = (1 - noise) * ((clean - clean.mean()) / clean.std(correction=0))
    strength = noise_over(spread, x)
    deviation = noise * strength
    columns = {"x": x, "y": clean + deviation * drawn, "clean": clean, "deviation": deviation}
    return columns_of(
        columns, stratified_split(torch.zeros(rows), validation=validation, test=test, seed=seed), device
    )
