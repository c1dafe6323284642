"""Averages of weights over training: exponential (EMA; Polyak 1992) or stochastic (SWA; Izmailov 2018)."""

from __future__ import annotations

import torch
from torch import nn


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
