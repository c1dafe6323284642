"""Sign units that learn from their mistakes. Portable: exports carry this source."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Perceptron(nn.Module):
    """Sign units that learn from their mistakes only; a row on the boundary w·x + b = 0 is one.

    x (N, inputs) -> (N, units) of -1 and 1, or of 0 and 1 where `low` is 0. Weights begin at zero.
    `updates` counts the mistakes so far: at most R² / γ² where a boundary with margin γ exists, R the length
    of the longest row, both with the bias as one more input of 1.
    Source: Rosenblatt 1958; the bound: Novikoff 1962.
    """

    updates: Tensor

    def __init__(self, inputs: int, units: int = 1, lr: float = 1.0, low: int = -1) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(units, inputs))
        self.bias = nn.Parameter(torch.zeros(units))
        self.register_buffer("updates", torch.zeros(()))
        self.lr, self.low = lr, low

    def forward(self, x: Tensor) -> Tensor:
        sign = torch.sign(x @ self.weight.T + self.bias)
        return sign if self.low else (sign + 1) / 2

    def update(self, x: Tensor, target: Tensor) -> dict[str, Tensor]:
        """Go through the rows in turn; on a mistake w += y x, b += y. The loss: the fraction of mistakes."""
        wanted = target.reshape(len(x), -1).to(x)
        wanted = wanted if self.low else 2 * wanted - 1
        mistakes = torch.zeros((), device=x.device)
        for row, y in zip(x, wanted, strict=True):
            wrong = y * (self.weight @ row + self.bias) <= 0
            step = self.lr * torch.where(wrong, y, 0.0)
            self.weight.add_(step[:, None] * row)
            self.bias.add_(step)
            mistakes += wrong.sum()
        self.updates += mistakes
        reach = wanted * (x @ self.weight.T + self.bias) / self.weight.norm(dim=1).clamp(min=1e-12)
        return {"loss": mistakes / wanted.numel(), "updates": self.updates.clone(), "margin": reach.min()}
