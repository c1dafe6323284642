"""Layers that mix the examples of a batch, and their targets. Portable: exports carry this source."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from engine.layers.encodings import one_hot
from engine.layers.random_images import rectangles


class Mixing(nn.Module):
    """What MixUp and CutMix have in common: partners, weights, and targets as numbers that can be mixed.

    Targets are class numbers (N,) where there are `classes`, and become (N, classes); else numbers (N, ...).
    After training each example stands for itself, and its target has the same form.
    """

    def __init__(self, alpha: float, classes: int = 0) -> None:
        super().__init__()
        self.alpha = alpha
        self.classes = classes

    def soft(self, target: Tensor) -> Tensor:
        return one_hot(target, self.classes) if self.classes else target

    def weights(self, x: Tensor) -> Tensor:
        """How much of each example is its own: (N,), drawn from Beta(alpha, alpha)."""
        drawn = torch._standard_gamma(torch.full((2, len(x)), self.alpha, device=x.device))
        return drawn[0] / drawn.sum(0)


def blended(x: Tensor, other: Tensor, weight: Tensor) -> Tensor:
    """weight · x + (1 - weight) · other, with a `weight` (N,) for each example (N, ...)."""
    weight = weight.reshape(-1, *(1,) * (x.dim() - 1)).to(x.dtype)
    return other + weight * (x - other)


class MixUp(Mixing):
    """While training, blends each example (N, ...) and its target with those of another of the batch."""

    def forward(self, x: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        target = self.soft(target)
        if not self.training:
            return x, target
        partner = torch.randperm(len(x), device=x.device)
        weight = self.weights(x)
        return blended(x, x[partner], weight), blended(target, target[partner], weight)


class CutMix(Mixing):
    """While training, pastes a rectangle of another image (N, C, H, W) into each; targets by their area."""

    def forward(self, x: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        target = self.soft(target)
        if not self.training:
            return x, target
        partner = torch.randperm(len(x), device=x.device)
        weight = self.weights(x)
        pasted = rectangles(x, 1 - weight, torch.ones_like(weight))
        kept = 1 - pasted.float().mean((1, 2, 3))
        return torch.where(pasted, x[partner], x), blended(target, target[partner], kept)
