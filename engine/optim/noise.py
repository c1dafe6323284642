"""Gradient noise (Neelakantan et al. 2015): g ← g + N(0, η / (1 + t)^0.55)."""

from __future__ import annotations

import torch
from torch import Tensor


@torch.no_grad()
def add_gradient_noise(weights: list[Tensor], eta: float, step: int) -> None:
    """Add normal noise to each gradient; its variance is eta at step 0 and falls as training goes on."""
    deviation = (eta / (1 + step) ** 0.55) ** 0.5
    for weight in weights:
        if weight.grad is not None:
            weight.grad.add_(torch.randn_like(weight.grad), alpha=deviation)
