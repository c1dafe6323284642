"""Numbers written as other numbers, with nothing learned or fitted. Portable: exports carry this source."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn


def one_hot(x: Tensor, classes: int) -> Tensor:
    """Class numbers (N, ...) as (N, ..., classes): 1 at the class, else 0; all 0 for a number outside."""
    return (x[..., None] == torch.arange(classes, device=x.device)).float()


def thermometer(x: Tensor, classes: int) -> Tensor:
    """Ordered class numbers (N, ...) as (N, ..., classes - 1): 1 for every class below, else 0.

    Source: Cheng, Wang and Pollastri, 2008.
    """
    return (x[..., None] > torch.arange(classes - 1, device=x.device)).float()


class Polynomial(nn.Module):
    """All products of 1 to `degree` features, (N, ..., F) to (N, ..., products), those of few first.

    Without `interactions` the powers of each feature alone. The order is that of scikit-learn's.
    """

    def __init__(self, features: int, degree: int, interactions: bool = True) -> None:
        super().__init__()
        self.names: list[str] = []
        single = torch.arange(features, device="cpu")
        for power in range(1, degree + 1):
            if interactions:
                chosen = torch.combinations(single, power, with_replacement=True)
            else:
                chosen = single[:, None].expand(-1, power)
            self.names.append(f"factors_{power}")
            self.register_buffer(self.names[-1], chosen.reshape(-1, power), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x[..., getattr(self, name)].prod(-1) for name in self.names], -1)


def waves(x: Tensor, count: int, period: float, octaves: bool = False) -> Tensor:
    """sin and cos of 2π k x / period for k = 1 to `count`: (N, ..., F) to (N, ..., F · 2 count).

    With `octaves` k = 1, 2, 4, 8 and so on. Source: Rahimi and Recht, 2007; Mildenhall and others, 2020.
    """
    k = torch.arange(count, device=x.device)
    k = 2.0**k if octaves else 1.0 + k
    angle = (2 * math.pi / period) * x[..., None] * k
    return torch.cat((torch.sin(angle), torch.cos(angle)), -1).flatten(-2)


class RandomFourier(nn.Module):
    """√(2/D) cos(W x + b): D features whose products come near exp(-|x - y|² / 2 width²).

    W and b are drawn once, from `seed`, and never learned. Source: Rahimi and Recht, 2007.
    """

    weight: Tensor
    phase: Tensor

    def __init__(self, features: int, count: int, width: float = 1.0, seed: int = 0) -> None:
        super().__init__()
        drawn = np.random.default_rng(seed)  # so that training's random numbers stay as they are
        weight = drawn.normal(0, 1 / width, (count, features))
        phase = drawn.uniform(0, 2 * math.pi, count)
        self.register_buffer("weight", torch.tensor(weight, dtype=torch.float32))
        self.register_buffer("phase", torch.tensor(phase, dtype=torch.float32))
        self.scale = math.sqrt(2 / count)

    def forward(self, x: Tensor) -> Tensor:
        return self.scale * torch.cos(x @ self.weight.T + self.phase)


def bumps(x: Tensor, count: int, low: float, high: float, width: float = 1.0) -> Tensor:
    """exp(-(x - c)² / 2w²) for `count` centres c: (N, ..., F) to (N, ..., F · count).

    Centres lie evenly from `low` to `high`; `width` is w as a multiple of the distance between them.
    Source: Broomhead and Lowe, 1988.
    """
    apart = (high - low) / (count - 1)
    centres = low + apart * torch.arange(count, device=x.device)
    return torch.exp(-(((x[..., None] - centres) / (width * apart)) ** 2) / 2).flatten(-2)


def splines(x: Tensor, intervals: int, degree: int, low: float, high: float) -> Tensor:
    """The B-splines of `degree` over even knots: (N, ..., F) to (N, ..., F · (intervals + degree)).

    Knots divide low..high into `intervals` and go on by `degree` of them at each side, so that the splines
    of any x in low..high sum to 1. Source: de Boor, 1972 (the recursion of Cox and de Boor).
    """
    apart = (high - low) / intervals
    knots = low + apart * torch.arange(-degree, intervals + degree + 1, device=x.device)
    x = x[..., None]
    found = ((x >= knots[:-1]) & (x < knots[1:])).to(x.dtype)
    for k in range(1, degree + 1):
        rising = (x - knots[: -k - 1]) / (k * apart) * found[..., :-1]
        falling = (knots[k + 1 :] - x) / (k * apart) * found[..., 1:]
        found = rising + falling
    return found.flatten(-2)


class Placed(nn.Module):
    """A table of positions, added to each sequence (N, T, F), or joined to it as more features."""

    positions: Tensor

    def __init__(self, joined: bool = False) -> None:
        super().__init__()
        self.joined = joined

    def forward(self, x: Tensor, first: int = 0) -> Tensor:
        """Step 0 is number `first`."""
        positions = self.positions[first : first + x.shape[1]].to(x.dtype)
        return torch.cat((x, positions.expand(len(x), -1, -1)), 2) if self.joined else x + positions

    def read_on(self, x: Tensor, first: int | None) -> tuple[Tensor, int]:
        """The steps that are new (N, t, F) with their places, from `first` on; and where the next begin."""
        first = first or 0
        return Placed.forward(self, x, first), first + x.shape[1]


class Positions(Placed):
    """The place of each step of a sequence (N, T, F) as sines and cosines, added, or joined as `size` more.

    Source: Vaswani and others, 2017; wavelengths from 2π to 2π · 10000.
    """

    def __init__(self, steps: int, size: int, joined: bool = False) -> None:
        super().__init__(joined)
        place = torch.arange(steps)[:, None]
        angle = place * 10000.0 ** (-torch.arange(0, size, 2) / size)
        table = torch.stack((torch.sin(angle), torch.cos(angle)), 2).flatten(1)[:, :size]
        self.register_buffer("positions", table, persistent=False)


class LearnedPositions(Placed):
    """A learned vector for each step of a sequence (N, T, F), added, or joined as `size` more numbers.

    Source: Gehring and others, 2017.
    """

    def __init__(self, steps: int, size: int, joined: bool = False) -> None:
        super().__init__(joined)
        self.positions = nn.Parameter(0.02 * torch.randn(steps, size))


def with_coordinates(x: Tensor, radius: bool = False) -> Tensor:
    """Images (N, C, H, W) with two channels more, row and column from -1 to 1; with `radius` √(r² + c²) too.

    Source: Liu and others, 2018.
    """
    count, _, height, width = x.shape
    rows = torch.linspace(-1, 1, height, device=x.device, dtype=x.dtype)[:, None].expand(height, width)
    columns = torch.linspace(-1, 1, width, device=x.device, dtype=x.dtype).expand(height, width)
    maps = [rows, columns, (rows**2 + columns**2).sqrt()] if radius else [rows, columns]
    return torch.cat((x, torch.stack(maps).expand(count, -1, -1, -1)), 1)
