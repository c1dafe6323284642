"""An input that excites a unit most, found from noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.look.landscape.loss_slices import nothing

SEARCH = 0.5  # standard deviations of a step in search of a gradient

Score = Callable[[Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class Rules:
    """What keeps the input like a natural image (Yosinski, Clune, Nguyen, Fuchs and Lipson, 2015).

    `rate` is the length of a step in standard deviations of the data, `decay` the fraction of the distance
    from the data's mean that is lost at each step, `jitter` pixels by which the image is shifted to and fro,
    `blur` the fraction of a 3 × 3 mean that is mixed in.
    """

    rate: float = 0.1
    decay: float = 0.005
    jitter: int = 1
    blur: float = 0.04


def noise(shape: tuple[int, ...], mean: float, spread: float, generator: torch.Generator) -> Tensor:
    """Where to begin: faint noise about the data's mean, `(1, ...)`."""
    drawn = torch.randn(1, *shape, generator=generator, device=generator.device)
    return mean + 0.1 * spread * drawn


def excite(
    score: Score,
    x: Tensor,
    steps: int,
    generator: torch.Generator,
    *,
    mean: float = 0.0,
    spread: float = 1.0,
    bounds: tuple[float, float] = (-float("inf"), float("inf")),
    rules: Rules | None = None,
    check: Callable[[], None] = nothing,
) -> tuple[Tensor, list[float]]:
    """`x` `(1, ...)` after so many steps up the gradient of `score`, and the scores on the way.

    A step goes along the gradient divided by its root mean square, anywhere where there is none; the values
    stay between `bounds`.
    """
    rules = rules or Rules()
    image = x.dim() == 4
    scores: list[float] = []
    for _ in range(steps):
        check()
        shift = _shift(rules.jitter if image else 0, generator)
        with torch.enable_grad():
            here = x.roll(shift, (2, 3)) if image else x
            here = here.detach().requires_grad_(True)
            value = score(here).sum()
            (gradient,) = torch.autograd.grad(value, here)
        scores.append(value.item())
        size = gradient.square().mean().sqrt()
        if not torch.isfinite(size) or size == 0:
            # A unit behind a ReLU may be silent: look for a place where it is not.
            gradient = torch.randn(x.shape, generator=generator, device=x.device)
            size = size.new_tensor(rules.rate / SEARCH)
        moved = here.detach() + rules.rate * spread * gradient / size
        moved = mean + (1 - rules.decay) * (moved - mean)
        if image:
            moved = moved.roll((-shift[0], -shift[1]), (2, 3))
            if min(moved.shape[2:]) > 2 and rules.blur:
                padded = F.pad(moved, (1, 1, 1, 1), mode="replicate")
                moved = (1 - rules.blur) * moved + rules.blur * F.avg_pool2d(padded, 3, 1)
        x = moved.clamp(*bounds)
    return x, scores


def _shift(most: int, generator: torch.Generator) -> tuple[int, int]:
    if not most:
        return 0, 0
    drawn = torch.randint(-most, most + 1, (2,), generator=generator, device=generator.device)
    down, across = drawn.tolist()
    return down, across
