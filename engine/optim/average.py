"""Averages of weights over training: exponential (EMA; Polyak 1992) or stochastic (SWA; Izmailov 2018)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm


class Average:
    """The average of some weights; evaluated in their place, and kept at the end of the phase.

    With `decay` the past counts for so much at each step; without, all epochs from `start` on count alike.
    """

    def __init__(self, weights: list[nn.Parameter], decay: float | None = None, start: int = 0) -> None:
        self.weights, self.decay, self.start = weights, decay, start
        self.values = [weight.detach().clone() for weight in weights]
        self.count = 0

    @torch.no_grad()
    def update(self, epoch: int | None = None) -> None:
        """Take the weights in: after a step, or after an epoch of the phase, counted from 0."""
        if (epoch is None) != (self.decay is not None) or (epoch is not None and epoch < self.start):
            return
        self.count += 1
        fraction = 1 - self.decay if self.decay is not None else 1 / self.count
        for value, weight in zip(self.values, self.weights, strict=True):
            value.lerp_(weight, fraction)

    @torch.no_grad()
    def swap(self) -> None:
        """Let weights and averages change places; nothing before the first average."""
        if self.count:
            for value, weight in zip(self.values, self.weights, strict=True):
                kept = weight.clone()
                weight.copy_(value)
                value.copy_(kept)


def statistics(model: nn.Module) -> dict[str, Tensor]:
    """What batch norms keep, as part of the model's state."""
    found: dict[str, Tensor] = {}
    for name, layer in model.named_modules():
        if isinstance(layer, _BatchNorm):
            found |= {f"{name}.{key}": value.clone() for key, value in layer.named_buffers()}
    return found


@torch.no_grad()
def refresh_statistics(
    model: nn.Module,
    measure: Callable[[nn.Module, dict[str, Tensor]], object],
    batches: Iterator[dict[str, Tensor]],
) -> None:
    """Give batch norms in training mode the statistics of all these batches under the weights as they are.

    Averaged weights were never trained with, so nothing else has seen what they give. Source: Izmailov et al.
    2018, algorithm 1.
    """
    norms = [one for one in model.modules() if isinstance(one, _BatchNorm) and one.training]
    usual = [norm.momentum for norm in norms]
    model.eval()
    rows = 0
    try:
        for batch in batches:
            size = len(next(iter(batch.values())))
            rows += size
            for norm in norms:
                norm.train()
                norm.momentum = size / rows  # a mean over rows, whatever came before
            measure(model, batch)
    finally:
        for norm, momentum in zip(norms, usual, strict=True):
            norm.momentum = momentum
