"""Images of bars and shifted 1-D digits, made by formulas. Portable: exports carry this source."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from engine.data.splits import columns_of, stratified_split


def load_bars(
    folder: Path,
    device: str,
    *,
    form: str = "several bars",
    size: int = 8,
    chance: float = 0.125,
    noise: float = 0.0,
    rows: int = 2000,
    validation: float = 0.2,
    test: float = 0.2,
    seed: int = 0,
) -> dict[str, dict[str, Tensor]]:
    """Bars as {split: {"image": (N, 1, size, size), "bars": (N, 2 size), "direction": (N,)}}.

    A pixel is 1 where a bar that is on lies; bars 0..size-1 are rows, the others columns. "several bars" are
    on with probability `chance` each, "one bar" is one alone, "stripes" are rows or columns, each on by 1/2.
    The direction is 0 where rows are more than columns, else 1. `noise` is the fraction of pixels inverted.
    """
    draw = torch.Generator().manual_seed(seed)
    on = torch.rand(rows, 2 * size, generator=draw)
    which = torch.randint(2 * size, (rows,), generator=draw)
    if form == "one bar":
        bars = torch.nn.functional.one_hot(which, 2 * size).float()
    elif form == "stripes":
        upright = (which >= size)[:, None] == (torch.arange(2 * size) >= size)
        bars = ((on < 0.5) & upright).float()
    else:
        bars = (on < chance).float()
    across, down = bars[:, :size], bars[:, size:]
    image = torch.maximum(across[:, :, None], down[:, None, :])
    turned = torch.rand(rows, size, size, generator=draw) < noise
    image = torch.where(turned, 1 - image, image)[:, None]
    direction = (across.sum(1) <= down.sum(1)).long()
    columns = {"image": image, "bars": bars, "direction": direction}
    return columns_of(
        columns, stratified_split(direction, validation=validation, test=test, seed=seed), device
    )


def digit_templates() -> Tensor:
    """The ten digits as curves (10, 12), mean 0 and deviation 1 before each is moved to begin at 0."""
    heights = (
        (5, 6, 6.5, 6.75, 7, 7, 7, 7, 6.75, 6.5, 6, 5),
        (5, 3, 3, 3.4, 3.8, 4.2, 4.6, 5, 5.4, 5.8, 5, 5),
        (5, 6, 6.5, 6.5, 6, 5.25, 4.75, 4, 3.5, 3.5, 4, 5),
        (5, 6, 6.5, 6.5, 6, 5, 5, 6, 6.5, 6.5, 6, 5),
        (5, 4.4, 3.8, 3.2, 2.6, 2.6, 5, 5, 5, 5, 5, 5),
        (5, 3, 3, 3, 3, 5, 6, 6.5, 6.5, 6, 4.5, 5),
        (5, 4, 3.5, 3.25, 3, 3, 3, 3, 3.25, 3.5, 4, 5),
        (5, 7, 7, 6.6, 6.2, 5.8, 5.4, 5, 4.6, 4.2, 5, 5),
        (5, 4, 3.5, 3.5, 4, 5, 5, 4, 3.5, 3.5, 4, 5),
        (5, 4, 3.5, 3.5, 4, 5, 5, 5, 5, 4.7, 4.3, 5),
    )
    curves = torch.tensor(heights)
    curves = (curves - curves.mean(1, keepdim=True)) / curves.std(1, keepdim=True, correction=0)
    return curves - curves[:, :1]


def at_places(rows: Tensor, places: Tensor) -> Tensor:
    """The values of rows (N, L) at places (N, M) in 0..L-1, on straight lines between neighbours."""
    before = places.floor().long().clamp(0, rows.shape[1] - 2)
    fraction = places - before
    return rows.gather(1, before) * (1 - fraction) + rows.gather(1, before + 1) * fraction


def load_shifted_digits(
    folder: Path,
    device: str,
    *,
    shift: int = 48,
    stretch: float = 0.4,
    noise: float = 0.25,
    shear: float = 0.75,
    rows: int = 4000,
    validation: float = 0.2,
    test: float = 0.2,
    seed: int = 0,
) -> dict[str, dict[str, Tensor]]:
    """Digits as curves of 40 numbers, as {split: {"signal": (N, 1, 40), "digit": (N,)}}.

    A curve of 12 numbers is padded with 36 to 60 zeros, brought to 72, made higher or lower by up to half of
    `stretch`, moved to the right by less than `shift`, laid into smooth noise, tilted by up to half of
    `shear`, and brought to 40. Source of the recipe: MNIST-1D, Greydanus, 2020.
    """
    draw = torch.Generator().manual_seed(seed)
    label = torch.arange(rows) % 10
    padded = torch.cat([digit_templates()[label], torch.zeros(rows, 60)], 1)
    length = 12 + torch.randint(36, 61, (rows, 1), generator=draw)
    signal = at_places(padded, torch.arange(72) * (length - 1) / 71)
    signal = signal * (1 + stretch * (torch.rand(rows, 1, generator=draw) - 0.5))
    moved = torch.randint(shift, (rows, 1), generator=draw)
    signal = signal.gather(1, (torch.arange(72) - moved) % 72)
    kernel = (-(torch.arange(-8.0, 9.0) ** 2) / 8).exp()
    white = torch.randn(rows, 1, 72 + 16, generator=draw)
    smooth = torch.nn.functional.conv1d(white, (kernel / kernel.sum())[None, None])[:, 0]
    signal = torch.where(signal.abs() > 1e-6, signal, noise * smooth)
    signal = signal + 0.08 * noise * torch.randn(rows, 72, generator=draw)
    tilt = shear * (torch.rand(rows, 1, generator=draw) - 0.5)
    signal = signal - tilt * torch.linspace(-0.5, 0.5, 72)
    signal = at_places(signal, torch.linspace(0, 71, 40).expand(rows, 40))
    columns = {"signal": signal[:, None], "digit": label}
    return columns_of(columns, stratified_split(label, validation=validation, test=test, seed=seed), device)
