"""An input that excites a unit most, found from noise in so many steps."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.look.landscape.loss_slices import nothing
from engine.procedures.excitation import climbed

Score = Callable[[Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class Rules:
    """What keeps the input like a natural image, as in `climbed`."""

    rate: float = 0.1
    decay: float = 0.005
    jitter: int = 1
    blur: float = 0.04


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
    """`x` `(1, ...)` after so many steps up the gradient of `score`, and the scores on the way."""
    rules = rules or Rules()
    scores: list[float] = []
    way = climbed(
        score,
        x,
        generator,
        mean=mean,
        spread=spread,
        bounds=bounds,
        rate=rules.rate,
        decay=rules.decay,
        jitter=rules.jitter,
        blur=rules.blur,
    )
    for moved, value in itertools.islice(way, steps):
        check()
        x = moved
        scores.append(value)
    return x, scores
