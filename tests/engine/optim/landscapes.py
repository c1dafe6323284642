"""Losses with known answers, and closures of each kind over them."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

Loss = Callable[[], Tensor]


def weight(*numbers: float) -> nn.Parameter:
    return nn.Parameter(torch.tensor(numbers, dtype=torch.float64))


def quadratic(size: int = 5, seed: int = 0) -> tuple[nn.Parameter, Tensor, Tensor, Loss]:
    """(w, A, w*, loss) of ½ (w − w*)ᵀ A (w − w*), A positive definite, w at zero."""
    draw = torch.Generator().manual_seed(seed)
    root = torch.randn(size, size, generator=draw, dtype=torch.float64)
    matrix = root @ root.T + torch.eye(size, dtype=torch.float64)
    best = torch.randn(size, generator=draw, dtype=torch.float64)
    w = nn.Parameter(torch.zeros(size, dtype=torch.float64))
    return w, matrix, best, lambda: (w - best) @ matrix @ (w - best) / 2


def rosenbrock() -> tuple[nn.Parameter, Loss]:
    """The curved valley from (−1.2, 1); its bottom is 0 at (1, 1)."""
    w = weight(-1.2, 1.0)
    return w, lambda: (1 - w[0]) ** 2 + 100 * (w[1] - w[0] ** 2) ** 2


def backward(optimiser: torch.optim.Optimizer, loss: Loss) -> Loss:
    """The closure of kind "gradient"."""

    def closure() -> Tensor:
        optimiser.zero_grad()
        found = loss()
        found.backward()
        return found.detach()

    return closure


def network(seed: int = 0) -> tuple[nn.Module, Tensor, Tensor]:
    """A small tanh network in float32 with inputs (20, 3) and targets (20, 2)."""
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))
    return model, torch.randn(20, 3), torch.randn(20, 2)
