"""Recurrent layers that torch lacks. Portable: exports carry their source."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class PeepholeLSTM(nn.Module):
    """An LSTM whose gates see the memory cell: (N, T, F) gives outputs and memory cells, (N, T, H) each.

    Source: Gers and Schmidhuber, 2000; the gates in and forget see the cell before the step, out after it.
    """

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.into = nn.Linear(features, 4 * hidden)
        self.back = nn.Linear(hidden, 4 * hidden, bias=False)
        bound = 1 / math.sqrt(hidden)
        self.peepholes = nn.Parameter(torch.empty(3, hidden).uniform_(-bound, bound))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        seen, forgotten, shown = self.peepholes
        h = c = x.new_zeros(len(x), len(seen))
        steps, cells = [], []
        for step in self.into(x).unbind(1):
            entry, forget, new, out = (step + self.back(h)).chunk(4, 1)
            c = torch.sigmoid(forget + forgotten * c) * c + torch.sigmoid(entry + seen * c) * torch.tanh(new)
            h = torch.sigmoid(out + shown * c) * torch.tanh(c)
            steps.append(h)
            cells.append(c)
        return torch.stack(steps, 1), torch.stack(cells, 1)


def remembering(lstm: nn.LSTM, steps: int) -> nn.LSTM:
    """An LSTM whose cells begin to keep what they hold for 2 to `steps` steps, each for as long as another.

    The bias of a forget gate is ln u with u even in 1..`steps` - 1, that of the input gate -ln u: the cell
    loses 1 / (1 + u) at each step. Source: Tallec and Ollivier, 2018.
    """
    with torch.no_grad():
        for name, bias in lstm.named_parameters():
            if name.startswith("bias"):
                enter, forget = bias[: 2 * lstm.hidden_size].view(2, -1)
                open_for = torch.rand_like(forget) * (steps - 2) + 1
                forget.copy_(open_for.log() if "_ih_" in name else 0 * forget)
                enter.copy_(-forget)
    return lstm


class MinGRU(nn.Module):
    """A gated recurrence whose gates see the input alone, so that all steps are computed at once.

    (N, T, F) gives outputs (N, T, H): h ← (1 - z) h + z V x, z = σ(W x). Source: Feng and others, 2024.
    """

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.gate = nn.Linear(features, hidden)
        self.new = nn.Linear(features, hidden)

    def forward(self, x: Tensor) -> Tensor:
        gate = torch.sigmoid(self.gate(x))
        return linear_scan(1 - gate, gate * self.new(x))


class LRU(nn.Module):
    """A linear recurrence of complex numbers, each turned and shrunk by a factor inside the unit disc.

    (N, T, F) gives outputs (N, T, F): z ← λ z + γ B x, y = Re(C z) + D x, with λ = exp(-exp(ν) + i θ) and
    γ = √(1 - |λ|²). Moduli begin between `least` and `most`, with as much area in each ring.
    Source: Orvieto and others, 2023.
    """

    def __init__(self, features: int, hidden: int, least: float = 0.0, most: float = 1.0) -> None:
        super().__init__()
        squares = least**2 + torch.rand(hidden) * (most**2 - least**2)
        self.nu = nn.Parameter((-0.5 * squares.clamp(1e-8, 1 - 1e-6).log()).log())
        self.theta = nn.Parameter(2 * math.pi * torch.rand(hidden))
        self.into = nn.Parameter(torch.randn(2, hidden, features) / math.sqrt(2 * features))
        self.out = nn.Parameter(torch.randn(2, features, hidden) / math.sqrt(hidden))
        self.skip = nn.Parameter(torch.randn(features))

    def eigenvalues(self) -> Tensor:
        """The factors λ, (H,) complex."""
        return torch.polar((-self.nu.exp()).exp(), self.theta)

    def forward(self, x: Tensor) -> Tensor:
        factor = self.eigenvalues()
        scale = (1 - factor.abs().square()).sqrt()
        into = torch.complex(x @ self.into[0].T, x @ self.into[1].T) * scale
        states = linear_scan(factor.expand(into.shape), into)
        return states.real @ self.out[0].T - states.imag @ self.out[1].T + self.skip * x


def linear_scan(factor: Tensor, added: Tensor) -> Tensor:
    """The states of h[t] = factor[t] · h[t-1] + added[t] from h = 0, all (N, T, H), in log2 T rounds.

    Each round joins neighbours twice as far apart. Source: Hillis and Steele, 1986; Blelloch, 1990.
    """
    apart = 1
    while apart < added.shape[1]:
        joined = added[:, apart:] + factor[:, apart:] * added[:, :-apart]
        added = torch.cat((added[:, :apart], joined), 1)
        if 2 * apart < added.shape[1]:
            factor = torch.cat((factor[:, :apart], factor[:, apart:] * factor[:, :-apart]), 1)
        apart *= 2
    return added
