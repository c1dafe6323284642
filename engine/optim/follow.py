"""Lets the weights of a layer follow those of another. Portable: exports carry this source."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class Follow:
    """Moves the weights of `layer` to those of `leader` by a fraction `rate` of the way; 1 copies them.

    What it returns is how far they were apart: the root of the mean of the squared differences. Source:
    copied now and then: Mnih et al., 2015; a little each time: Lillicrap et al., 2016.
    """

    def __init__(self, layer: nn.Module, leader: nn.Module, rate: float = 1.0) -> None:
        self.layer, self.leader, self.rate = layer, leader, rate

    def __call__(self, *_: Any) -> dict[str, Tensor]:
        pairs = list(zip(self.layer.parameters(), self.leader.parameters(), strict=True))
        apart = torch.cat([(mine - other).flatten() for mine, other in pairs]).square().mean().sqrt()
        for mine, other in pairs:
            mine.lerp_(other, self.rate)
        for kept, seen in zip(self.layer.buffers(), self.leader.buffers(), strict=True):
            kept.copy_(seen)
        return {"loss": apart}
