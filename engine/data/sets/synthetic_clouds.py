"""Classes, mixtures and sheets of points, made by formulas. Portable: exports carry this source."""

from __future__ import annotations

import math
from pathlib import Path

import torch
from torch import Tensor

from engine.data.splits import columns_of, stratified_split


def blob_centres(classes: int, dimensions: int, placing: str, draw: torch.Generator) -> Tensor:
    """Centres (classes, dimensions): on the unit circle of the first two, or anywhere in -1..1."""
    drawn = torch.rand(classes, dimensions, generator=draw)  # wherever they are
    centres = torch.zeros(classes, dimensions)
    if placing == "at random":
        centres = 2 * drawn - 1
    elif dimensions == 1:
        centres[:, 0] = torch.linspace(-1, 1, classes)
    else:
        angle = 2 * math.pi * torch.arange(classes) / classes
        centres[:, 0], centres[:, 1] = angle.cos(), angle.sin()
    return centres


def load_blobs(
    folder: Path,
    device: str,
    *,
    classes: int = 4,
    dimensions: int = 2,
    placing: str = "on a circle",
    noise: float = 0.25,
    rows: int = 400,
    validation: float = 0.2,
    test: float = 0.2,
    seed: int = 0,
) -> dict[str, dict[str, Tensor]]:
    """Classes about a centre each, as {split: {"point": (N, dimensions), "label": (N,)}}.

    `noise` is the deviation from the centre in every direction; classes have the same number of rows.
    """
    draw = torch.Generator().manual_seed(seed)
    label = torch.arange(rows) % classes
    centres = blob_centres(classes, dimensions, placing, draw)
    point = centres[label] + noise * torch.randn(rows, dimensions, generator=draw)
    return columns_of(
        {"point": point, "label": label},
        stratified_split(label, validation=validation, test=test, seed=seed),
        device,
    )


def load_mixture(
    folder: Path,
    device: str,
    *,
    dimensions: str = "1-D",
    weights: tuple[float, ...] = (0.5, 0.3, 0.2),
    x: tuple[float, ...] = (-2.0, 0.0, 2.0),
    y: tuple[float, ...] = (0.0, 1.0, 0.0),
    deviations: tuple[float, ...] = (0.5, 0.3, 0.8),
    rows: int = 1000,
    validation: float = 0.2,
    test: float = 0.2,
    seed: int = 0,
) -> dict[str, dict[str, Tensor]]:
    """A Gaussian mixture as {split: {"point": (N, 1 or 2), "component": (N,), "density": (N, 1)}}.

    `weights` are in proportion; `x` and, in 2-D, `y` are the means. The density is the mixture's own.
    Components are drawn at random, so a rare one may be absent of a small set.
    """
    draw = torch.Generator().manual_seed(seed)
    fraction = torch.tensor(weights, dtype=torch.float64) / sum(weights)
    means = torch.tensor([x] if dimensions == "1-D" else [x, y], dtype=torch.float64).T
    deviation = torch.tensor(deviations, dtype=torch.float64)
    component = torch.multinomial(fraction, rows, replacement=True, generator=draw)
    moved = torch.randn(rows, means.shape[1], generator=draw, dtype=torch.float64)
    point = means[component] + deviation[component][:, None] * moved
    far = ((point[:, None] - means) ** 2).sum(2) / deviation**2
    height = fraction / (deviation * math.sqrt(2 * math.pi)) ** means.shape[1]
    density = (height * (-far / 2).exp()).sum(1, keepdim=True)
    columns = {"point": point.float(), "component": component, "density": density.float()}
    return columns_of(
        columns, stratified_split(component, validation=validation, test=test, seed=seed), device
    )


def load_sheet(
    folder: Path,
    device: str,
    *,
    form: str = "Swiss roll",
    noise: float = 0.0,
    rows: int = 1000,
    validation: float = 0.2,
    test: float = 0.2,
    seed: int = 0,
) -> dict[str, dict[str, Tensor]]:
    """Points in space that two numbers tell, as {split: {"point": (N, 3), "place": (N, 2)}}.

    The Swiss roll is (t cos t, h, t sin t) for t in 1.5 π..4.5 π and h in 0..21. The plane is (a, a, b)
    within the unit ball; normal numbers have mean (1, 1, -1), x2 = x1 + N(0, 1).
    """
    draw = torch.Generator().manual_seed(seed)
    along = torch.rand(rows, generator=draw)
    across = torch.rand(rows, generator=draw)
    if form == "S curve":
        t, h = 3 * math.pi * (along - 0.5), 2 * across
        point = torch.stack([t.sin(), h, t.sign() * (t.cos() - 1)], 1)
    elif form == "plane in a ball":
        radius, angle = along.sqrt(), 2 * math.pi * across
        t, h = radius * angle.cos() / math.sqrt(2), radius * angle.sin()
        point = torch.stack([t, t, h], 1)
    elif form == "normal numbers":
        normal = torch.randn(rows, 3, generator=draw)
        t, h = 1 + math.sqrt(2) * normal[:, 0], normal[:, 2] - 1
        point = torch.stack([t, t + normal[:, 1], h], 1)
    else:
        t, h = 1.5 * math.pi * (1 + 2 * along), 21 * across
        point = torch.stack([t * t.cos(), h, t * t.sin()], 1)
    point = point + noise * torch.randn(rows, 3, generator=draw)
    columns = {"point": point, "place": torch.stack([t, h], 1)}
    return columns_of(
        columns, stratified_split(torch.zeros(rows), validation=validation, test=test, seed=seed), device
    )
