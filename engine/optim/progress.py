"""How far training has come: what stop rules look at."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def gradient_norm(weights: list[nn.Parameter]) -> float:
    """The Euclidean norm of the last gradients; infinite where there are none yet."""
    gradients = [weight.grad for weight in weights if weight.grad is not None]
    return nn.utils.get_total_norm(gradients).item() if gradients else math.inf


@torch.no_grad()
def largest_move(model: nn.Module, before: dict[str, Tensor]) -> float:
    """The largest change of a weight or buffer since `before`, a copy of the model's state."""
    moves = [
        (value.double() - before[name].double()).abs().max()
        for name, value in model.state_dict().items()
        if value.numel()
    ]
    return float(max(moves, default=torch.zeros(())))
