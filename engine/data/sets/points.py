"""Logic gates and sets of points in the plane, made by a formula. Portable: exports carry this source."""

from __future__ import annotations

import math
from pathlib import Path

import torch
from torch import Tensor

from engine.data.splits import columns_of, stratified_split


def three_copies(columns: dict[str, Tensor], count: int, device: str) -> dict[str, dict[str, Tensor]]:
    """The same `count` rows as every split: of so few, none can be spared."""
    rows = torch.arange(count)
    return columns_of(columns, dict.fromkeys(("train", "validation", "test"), rows), device)


def load_gates(folder: Path, device: str, *, signs: bool = True) -> dict[str, dict[str, Tensor]]:
    """AND, OR and XOR as {split: {"inputs": (4, 2), "both": (4, 1), "either": (4, 1), "differ": (4, 1)}}.

    The numbers are -1 and 1, or 0 and 1.
    """
    inputs = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    ones = inputs.sum(1, keepdim=True)
    columns = {
        "inputs": inputs,
        "both": (ones == 2).float(),
        "either": (ones >= 1).float(),
        "differ": (ones == 1).float(),
    }
    if signs:
        columns = {name: 2 * values - 1 for name, values in columns.items()}
    return three_copies(columns, 4, device)


def load_worked_example(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """Three rows to work through by hand as {split: {"inputs": (3, 2), "target": (3, 1)}}."""
    inputs = torch.tensor([[1.0, 1.0], [0.0, -2.0], [-1.0, 1.0]])
    return three_copies({"inputs": inputs, "target": torch.tensor([[-1.0], [1.0], [1.0]])}, 3, device)


def plane_points(
    form: str,
    rows: int,
    noise: float,
    draw: torch.Generator,
    margin: float = 0.2,
    spread: float = 0.35,
    turns: float = 1.5,
) -> tuple[Tensor, Tensor]:
    """Points (rows, 2), half of them of each class, and their classes (rows,).

    `noise` is a deviation; `margin` is the width of the gap between two halves, with noise too, and of that
    between disc and ring without; `spread` is the deviation of blobs, `turns` how often spirals turn.
    """
    side = torch.arange(rows) % 2
    along = torch.rand(rows, generator=draw)
    across = torch.rand(rows, generator=draw)  # drawn whatever the form
    jitter = noise * torch.randn(rows, 2, generator=draw)
    sign = 2 * side - 1.0
    if form == "two halves":  # on both sides of x + y = 0
        shift = along - across + (jitter[:, 0] - jitter[:, 1]) / 2
        behind = 2 * (along + across) / 5 + sign * jitter.sum(1) / 2
        depth = margin / math.sqrt(8) + behind.abs()  # noise turns back at the gap; √2 depth is the distance
        x, y, jitter = shift + sign * depth, sign * depth - shift, torch.zeros_like(jitter)
    elif form == "blobs":
        away = spread * torch.randn(rows, 2, generator=draw)
        x, y = sign + away[:, 0], sign + away[:, 1]
    elif form == "overlapping":  # no line does better than x + y = 0
        away = 2 * spread * torch.randn(rows, 2, generator=draw)
        x, y = sign / 2 + away[:, 0], sign / 2 + away[:, 1]
    elif form == "disc in ring":  # evenly over the area, about the unit circle
        inner = (1 - margin / 2) * along.sqrt()
        outer = ((1 + margin / 2) ** 2 + (4 - (1 + margin / 2) ** 2) * along).sqrt()
        radius, angle = torch.where(side == 0, inner, outer), 2 * math.pi * across
        x, y = radius * angle.cos(), radius * angle.sin()
    elif form == "XOR":
        corner = torch.where(torch.arange(rows) % 4 < 2, 1.0, -1.0)
        x, y = corner * (0.15 + 0.85 * along), -sign * corner * (0.15 + 0.85 * across)
    elif form == "circles":
        radius, angle = torch.where(side == 0, 0.4, 1.0), 2 * math.pi * along
        x, y = radius * angle.cos(), radius * angle.sin()
    elif form == "moons":
        angle = math.pi * along
        x, y = sign * angle.cos() + 0.5 * sign, sign * angle.sin() - 0.25 * sign
    else:  # spirals: two arms
        radius, angle = 0.1 + 0.9 * along, 2 * math.pi * turns * along + math.pi * side
        x, y = radius * angle.cos(), radius * angle.sin()
    return torch.stack([x, y], 1) + jitter, side


def load_points(
    folder: Path,
    device: str,
    *,
    form: str = "moons",
    rows: int = 400,
    noise: float = 0.1,
    margin: float = 0.2,
    spread: float = 0.35,
    turns: float = 1.5,
    validation: float = 0.2,
    test: float = 0.2,
    seed: int = 0,
) -> dict[str, dict[str, Tensor]]:
    """Two classes in the plane as {split: {"point": (N, 2), "label": (N,), "side": (N, 1) of -1 and 1}}."""
    point, side = plane_points(form, rows, noise, torch.Generator().manual_seed(seed), margin, spread, turns)
    columns = {"point": point, "label": side, "side": 2 * side[:, None] - 1.0}
    return columns_of(columns, stratified_split(side, validation=validation, test=test, seed=seed), device)
