"""Inner maximisation: examples moved a little, so that a loss is large (Madry et al. 2018)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn


def worst_near(
    model: nn.Module | None,
    batch: dict[str, Tensor],
    objective: Callable[[Any, dict[str, Tensor]], dict[str, Tensor]],
    column: str,
    reach: float,
    steps: int,
    rate: float,
    low: float,
    high: float,
    start: Tensor | None = None,
) -> dict[str, Tensor]:
    """The batch with each number of a column at most `reach` away, where the loss is larger.

    Projected gradient ascent: from a random place within reach, or from `start` of it in -1..1, it takes
    `steps` steps of `rate` along the sign of the slope, each put back into reach and between `low` and
    `high`. One step of `rate` = `reach` is the fast gradient sign method from a random start (Wong et al.
    2020).
    """
    clean = batch[column].detach()
    moved = clean + reach * (2 * torch.rand_like(clean) - 1 if start is None else start)
    for _ in range(steps):
        moved = moved.clamp(low, high).requires_grad_()
        (slope,) = torch.autograd.grad(objective(model, {**batch, column: moved})["loss"], moved)
        moved = (moved.detach() + rate * slope.sign()).clamp(clean - reach, clean + reach)
    return {**batch, column: moved.clamp(low, high)}
