"""Tokens beside those of a text, and which steps come later. Portable: exports carry this source."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.layers.ragged import places_there


class ClassToken(nn.Module):
    """A learned step before each sequence: (N, T, F) gives (N, T + 1, F).

    Source: Devlin, Chang, Lee and Toutanova, 2018.
    """

    def __init__(self, features: int) -> None:
        super().__init__()
        self.token = nn.Parameter(0.02 * torch.randn(features))

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat((self.token.expand(len(x), 1, -1), x), 1)


class Pointer(nn.Module):
    """Scores (N, `steps`) of which step of a sequence (N, T, F) is meant; -10⁹ behind its end.

    Source: Vinyals, Fortunato and Jaitly, 2015.
    """

    def __init__(self, features: int, steps: int) -> None:
        super().__init__()
        self.steps = steps
        self.score = nn.Linear(features, 1)

    def forward(self, x: Tensor, lengths: Tensor | None = None) -> Tensor:
        scores: Tensor = self.score(x).squeeze(2)
        if lengths is not None:
            scores = scores.masked_fill(filled_up(x, lengths), -1e9)
        return F.pad(scores, (0, self.steps - x.shape[1]), value=-1e9)


def later_steps(x: Tensor) -> Tensor:
    """Which steps of a sequence (N, T, F) come later than each, (T, T): those that it may not read."""
    steps = x.shape[1]
    return torch.ones(steps, steps, dtype=torch.bool, device=x.device).triu(1)


def filled_up(x: Tensor, lengths: Tensor) -> Tensor:
    """Which steps of rows (N, T, F) of these lengths (N,) fill them up, (N, T); never the first."""
    return ~places_there(lengths.clamp(min=1), x.shape[1])
