"""A dense layer whose weights are typed. Portable: exports carry this source."""

from __future__ import annotations

import torch
from torch import nn


class TypedLinear(nn.Linear):
    """A dense layer that begins with typed units, each its bias and then a weight for each input.

    x (N, inputs) -> (N, units). A semicolon stands between units.
    """

    def __init__(self, units: str) -> None:
        rows = torch.tensor(
            [[float(one) for one in unit.split()] for unit in units.replace(",", " ").split(";")]
        )
        super().__init__(rows.shape[1] - 1, len(rows))
        with torch.no_grad():
            self.bias.copy_(rows[:, 0])
            self.weight.copy_(rows[:, 1:])
