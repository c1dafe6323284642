"""Cuts the smallest weights of a network (Han et al. 2015; in rounds: Frankle and Carbin 2019)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class Prune:
    """Sets the smallest weights of layers to zero, until `fraction` of all of theirs are, and holds them.

    Biases and norms (fewer than two axes) stay. Called after each step; what it returns is the fraction of
    weights that are left. A model that has as many zeros is left as it is, so that a run can go on.
    """

    @torch.no_grad()
    def __init__(self, layers: list[nn.Module], fraction: float) -> None:
        weights = [weight for layer in layers for weight in layer.parameters() if weight.ndim >= 2]
        self.weights = list(dict.fromkeys(weights))
        sizes = torch.cat([weight.abs().flatten() for weight in self.weights])
        count = round(fraction * len(sizes))
        bound = sizes.kthvalue(count).values if count else sizes.new_tensor(-1.0)
        self.masks = [weight.abs() > bound for weight in self.weights]
        self.left = sum(int(mask.sum()) for mask in self.masks) / len(sizes)
        self.hold()

    @torch.no_grad()
    def hold(self) -> None:
        for weight, mask in zip(self.weights, self.masks, strict=True):
            weight.mul_(mask)

    def __call__(self, *_: Any) -> dict[str, Tensor]:
        self.hold()
        return {"loss": torch.tensor(self.left)}
