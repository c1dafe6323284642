"""The loss around a point of weight space: slices, directions that are comparable, and the way there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.errors import NeuroloomError

Numbers = NDArray[np.float64]
Loss = Callable[[], float]

PATH_BYTES = 48 * 2**20
MOST_STEPS, LEAST_STEPS = 200, 4


def nothing() -> None:
    """Called between two losses where nobody may lose interest."""


def flat(weights: Sequence[Tensor]) -> Tensor:
    """All weights one after another, a copy (P,)."""
    return torch.cat([weight.detach().reshape(-1).float() for weight in weights])


def random_direction(weights: Sequence[Tensor], seed: int) -> Tensor:
    """A random direction (P,), filter-normalised: each row as long as the row of weights it moves.

    Vectors (biases, the scales of norms) stay. It draws from a generator of its own.
    Source: Li et al. (2018), "Visualizing the loss landscape of neural nets", §4.
    """
    generator = torch.Generator().manual_seed(seed)
    parts = []
    for weight in weights:
        drawn = torch.randn(weight.shape, generator=generator).to(weight.device)
        if weight.dim() <= 1:
            parts.append(torch.zeros_like(drawn).reshape(-1))
            continue
        rows, lengths = drawn.flatten(1), weight.detach().float().flatten(1).norm(dim=1, keepdim=True)
        parts.append((rows / rows.norm(dim=1, keepdim=True).clamp_min(1e-12) * lengths).reshape(-1))
    return torch.cat(parts)


def path_directions(points: Tensor, here: Tensor) -> tuple[Tensor, Tensor, list[float]]:
    """The two orthonormal directions (P,) in which a path `points` (T, P) leaves `here` most.

    Also their fractions of the variance about `here` (Li et al., 2018, §7).
    """
    away = points - here
    found, mixes = torch.linalg.eigh((away @ away.T).cpu().double())
    found, mixes = found.flip(0).clamp_min(0), mixes.flip(1)
    sizes = found.sqrt().clamp_min(1e-12)
    total = found.sum().clamp_min(1e-30)
    one, other = ((mixes[:, index] / sizes[index]).float().to(away.device) @ away for index in (0, 1))
    return one, other, (found[:2] / total).tolist()


def projected(points: Tensor, here: Tensor, one: Tensor, other: Tensor) -> Numbers:
    """Places (T, 2) of `points` (T, P) in the plane through `here`, by least squares."""
    across = torch.stack([one, other])
    square = (across @ across.T).cpu().double()
    shadow = (across @ (points - here).T).cpu().double()
    found: Numbers = torch.linalg.lstsq(square, shadow, driver="gelsd").solution.T.numpy(force=True)
    return found


@torch.no_grad()
def put(weights: Sequence[Tensor], values: Tensor) -> None:
    """Set the weights to `values` (P,)."""
    start = 0
    for weight in weights:
        weight.copy_(values[start : start + weight.numel()].reshape(weight.shape))
        start += weight.numel()


def surface(
    loss: Loss,
    weights: Sequence[Tensor],
    one: Tensor,
    other: Tensor,
    xs: Sequence[float],
    ys: Sequence[float],
    check: Callable[[], None] = nothing,
) -> Numbers:
    """The loss (len(ys), len(xs)) at here + x · one + y · other; the weights are put back afterwards.

    `check` is called before each loss and may raise.
    """
    here = flat(weights)
    found = np.empty((len(ys), len(xs)))
    try:
        for row, y in enumerate(ys):
            line = here + y * other
            for column, x in enumerate(xs):
                check()
                put(weights, line + x * one)
                found[row, column] = loss()
    finally:
        put(weights, here)
    return found


def room_for(weights: Sequence[Tensor]) -> int:
    """How many points of a path may be kept. Errors: `NeuroloomError` where not even four fit."""
    room = min(MOST_STEPS, PATH_BYTES // max(1, 4 * sum(weight.numel() for weight in weights)))
    if room < LEAST_STEPS:
        raise NeuroloomError("This net is too large to keep the way that its weights have come.")
    return room


@dataclass
class Path:
    """Some of the points (P,) that training came through, spread evenly over its steps.

    At most `PATH_BYTES` and 200 points: when there is no room every other point is left out.
    Errors: as for `room_for`.
    """

    steps: list[int] = field(default_factory=list)
    points: list[Tensor] = field(default_factory=list)
    apart: int = 1  # steps between two points at least

    def add(self, step: int, weights: Sequence[Tensor]) -> None:
        """Keep where training is now, unless that is too near to the last point."""
        while self.steps and self.steps[-1] >= step:  # training went back
            if self.steps[-1] == step:
                return
            self.steps.pop()
            self.points.pop()
        if self.steps and step - self.steps[-1] < self.apart:
            return
        room = room_for(weights)
        if len(self.steps) >= room:
            kept = range(0, len(self.steps), 2)
            self.steps, self.points = [self.steps[at] for at in kept], [self.points[at] for at in kept]
            self.apart = max(2 * self.apart, (self.steps[-1] - self.steps[0]) // max(1, len(self.steps) - 1))
        self.steps.append(step)
        self.points.append(flat(weights))

    def stacked(self) -> tuple[list[int], Tensor]:
        """The steps, and the points (T, P)."""
        count = min(len(self.steps), len(self.points))
        return self.steps[:count], torch.stack(self.points[:count])
