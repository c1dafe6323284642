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
    """x · N(1, p / (1 - p)) while training, x after: as much variance as dropout at rate p brings."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.deviation = (rate / (1 - rate)) ** 0.5

    def forward(self, x: Tensor) -> Tensor:
        return x * (1 + self.deviation * torch.randn_like(x)) if self.training else x


class UniformDropout(nn.Dropout):
    """Dropout with masks from uniform numbers, thrice as fast where torch draws masks one by one.

    Rate, scale and shapes are those of `nn.Dropout`; other numbers are dropped from the same seed.
    """

    def forward(self, input: Tensor) -> Tensor:
        if not self.training:
            return input
        mask = torch.rand(input.shape, device=input.device).ge_(self.p).div_(1 - self.p)
        return input * mask.to(input.dtype)


class DropConnect(nn.Linear):
    """A linear layer that drops a random fraction of its weights for each batch, and scales up the rest."""

    def __init__(self, inputs: int, outputs: int, rate: float, bias: bool = True) -> None:
        super().__init__(inputs, outputs, bias=bias)
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, F.dropout(self.weight, self.rate, self.training), self.bias)


class NoisyLinear(nn.Linear):
    """A linear layer whose weights have normal noise of `deviation` added, drawn again for each batch."""

    def __init__(self, inputs: int, outputs: int, deviation: float, bias: bool = True) -> None:
        super().__init__(inputs, outputs, bias=bias)
        self.deviation = deviation

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return F.linear(x, self.weight, self.bias)
        return F.linear(x, self.weight + self.deviation * torch.randn_like(self.weight), self.bias)


class SaltAndPepper(nn.Module):
    """While training, sets a random fraction of the numbers (N, ...) to `low` or to `high`, each as often."""

    def __init__(self, rate: float, low: float = 0.0, high: float = 1.0) -> None:
        super().__init__()
        self.rate = rate
        self.low = low
        self.high = high

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return x
        drawn = torch.rand(x.shape, device=x.device)
        x = x.masked_fill(drawn < self.rate / 2, self.low)
        return x.masked_fill(drawn > 1 - self.rate / 2, self.high)


class MaskingNoise(nn.Module):
    """While training, sets a random fraction of the inputs to `value` and leaves the others as they are.

    With a `block` above 1, squares of so many pixels a side are masked in all channels of images
    (N, C, H, W).
    """

    def __init__(self, rate: float, value: float = 0.0, block: int = 1) -> None:
        super().__init__()
        self.rate = rate
        self.value = value
        self.block = block

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return x
        if self.block == 1:
            return x.masked_fill(torch.rand(x.shape, device=x.device) < self.rate, self.value)
        height, width = x.shape[2:]
        rows, columns = -(-height // self.block), -(-width // self.block)
        masked = torch.rand(len(x), 1, rows, columns, device=x.device) < self.rate
        masked = masked.repeat_interleave(self.block, 2).repeat_interleave(self.block, 3)
        return x.masked_fill(masked[:, :, :height, :width], self.value)


class LabelNoise(nn.Module):
    """While training, replaces a random fraction of class numbers (N, ...) by others, all as likely."""

    def __init__(self, rate: float, classes: int) -> None:
        super().__init__()
        self.rate = rate
        self.classes = classes

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return x
        other = (x + torch.randint(1, self.classes, x.shape, device=x.device)) % self.classes
        return torch.where(torch.rand(x.shape, device=x.device) < self.rate, other, x)
