"""Oja's rule: principal components by a Hebbian rule that forgets. Portable: exports carry this source."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Oja(nn.Module):
    """Linear units y = W x that turn towards the principal components of their inputs.

    One unit learns by Oja's rule, several by Sanger's: each unit learns from what those before it leave.
    x (N, inputs), centred -> (N, units). Source: Oja 1982; Sanger 1989.
    """

    def __init__(self, inputs: int, units: int = 1, lr: float = 0.01) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(units, inputs) / inputs**0.5)
        self.lr = lr

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight.T

    def update(self, x: Tensor) -> dict[str, Tensor]:
        """W += lr · (y xᵀ - lower(y yᵀ) W), the mean over the batch. The loss is what W does not explain."""
        y = self(x)
        loss = (x - y @ self.weight).square().sum(1).mean()
        self.weight.add_(y.T @ x - torch.tril(y.T @ y) @ self.weight, alpha=self.lr / len(x))
        return {"loss": loss}
