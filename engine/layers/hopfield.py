"""Hopfield networks: patterns stored in one step. Portable: exports carry this source."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Hopfield(nn.Module):
    """Remembers patterns: a start (N, units) falls towards one of them; gives (state, energy (N, 1)).

    One step is x <- a(W x + b) with a saturating line or a sign, for all units at once or one after another.
    Designs: "Hebbian" W = Σ s sᵀ, without its diagonal unless that is kept, "pseudo-inverse" W = S S⁺
    (projection onto the patterns), "saturating" (Li, Michel and Porod: no unwanted stable states among few
    patterns). Source: Hopfield 1982; saturating units: Hopfield 1984.
    """

    def __init__(
        self,
        units: int,
        steps: int = 20,
        design: str = "Hebbian",
        diagonal: bool = False,
        activation: str = "saturating",
        in_turn: bool = False,
    ) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(units, units))
        self.bias = nn.Parameter(torch.zeros(units))
        self.steps, self.design, self.diagonal = steps, design, diagonal
        self.activation, self.in_turn = activation, in_turn

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        for _ in range(self.steps):
            x = self.step(x)
        return x, self.energy(x)

    def step(self, x: Tensor) -> Tensor:
        """One step of every unit. A unit whose sum is 0 keeps its state where units are signs."""
        if not self.in_turn:
            return self.settle(x @ self.weight.T + self.bias, x)
        columns = list(x.unbind(1))
        for unit in range(len(columns)):
            total = torch.stack(columns, 1) @ self.weight[unit] + self.bias[unit]
            columns[unit] = self.settle(total, columns[unit])
        return torch.stack(columns, 1)

    def settle(self, total: Tensor, before: Tensor) -> Tensor:
        if self.activation == "saturating":
            return F.hardtanh(total)
        return torch.where(total == 0, before, torch.sign(total))

    def energy(self, x: Tensor) -> Tensor:
        """-½ xᵀWx - bᵀx + Σ ∫ a⁻¹, (N, 1): the integral is 0 for signs, ½ x² for a line up to its ends.

        A saturating unit never leaves -1 to 1; beyond, the integral is infinite.
        """
        energies = -x * (x @ self.weight.T / 2 + self.bias)
        if self.activation == "saturating":
            energies = energies + torch.where(x.abs() <= 1, x.square() / 2, math.inf)
        return energies.sum(1, keepdim=True)

    def update(self, x: Tensor) -> dict[str, Tensor]:
        """Store the rows of the batch, in place of what was stored; the loss is how far a step moves them."""
        patterns = x.cpu().double()
        bias = torch.zeros(patterns.shape[1], dtype=patterns.dtype)
        if self.design == "Hebbian":
            weight = patterns.T @ patterns
            if not self.diagonal:
                weight -= torch.diag(weight.diagonal())
        elif self.design == "pseudo-inverse":
            weight = torch.linalg.pinv(patterns) @ patterns
        else:
            weight, bias = self.saturating(patterns)
        self.weight.copy_(weight)
        self.bias.copy_(bias)
        return {"loss": F.mse_loss(self.step(x), x), "energy": self.energy(x).mean()}

    def saturating(self, patterns: Tensor, tau: float = 10.0, h: float = 0.15) -> tuple[Tensor, Tensor]:
        """Weight and bias by which the cube's corners at `patterns` attract what is near."""
        last = patterns[-1]
        _, sizes, axes = torch.linalg.svd(patterns[:-1] - last, full_matrices=False)
        axes = axes[sizes > 1e-9 * sizes.max()] if len(sizes) else axes
        inside = axes.T @ axes
        outside = torch.eye(len(last), dtype=last.dtype) - inside
        drive = last - (inside - tau * outside) @ last
        grown, shrunk = math.exp(h), math.exp(-tau * h)
        weight = grown * inside + shrunk * outside
        return weight, ((grown - 1) * inside + (1 - shrunk) / tau * outside) @ drive
