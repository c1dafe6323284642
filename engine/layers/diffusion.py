"""Examples that dissolve in noise. Portable: exports carry this source."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class Diffusion(nn.Module):
    """Mixes examples with noise: all example at time 0, almost all noise at time 1.

    x, noise (N, ...) and time (N, 1) in 0..1 -> √a x + √(1 - a) noise, with a of the time. "cosine" falls
    evenly (Nichol and Dhariwal 2021), "linear" is the limit of a thousand steps whose variance grows evenly
    (Ho, Jain and Abbeel 2020; Song et al. 2021).
    """

    def __init__(self, schedule: str = "cosine") -> None:
        super().__init__()
        self.schedule = schedule

    def kept(self, time: Tensor) -> Tensor:
        """The fraction of the variance that is the example's."""
        if self.schedule == "cosine":
            found = (
                torch.cos((time + 0.008) / 1.008 * math.pi / 2).square()
                / math.cos(0.008 / 1.008 * math.pi / 2) ** 2
            )
        else:
            found = torch.exp(-0.1 * time - 0.5 * (20 - 0.1) * time.square())
        return found.clamp(1e-4, 1.0)

    def forward(self, x: Tensor, noise: Tensor, time: Tensor) -> Tensor:
        kept = self.kept(time).reshape(len(x), *[1] * (x.dim() - 1))
        return kept.sqrt() * x + (1 - kept).sqrt() * noise
