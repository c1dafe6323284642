"""Plain ways to write down where a step stands, and how each fails. Portable: exports carry this source."""

from __future__ import annotations

import torch

from engine.layers.encodings import Placed


class PlainPositions(Placed):
    """The place of each step of a sequence (N, T, F) as plain numbers, added, or joined as `size` more.

    `kind` is "number" (t, which grows without bound and drowns what it is added to), "fraction" (t / (T - 1),
    which depends on the length: neighbours are closer in a longer text) or "binary" (the bits of t, lowest
    first, where one step may turn all of them over).
    """

    def __init__(self, steps: int, size: int, kind: str, joined: bool = False) -> None:
        super().__init__(joined)
        place = torch.arange(steps)[:, None]
        if kind == "number":
            table = place.expand(steps, size).float()
        elif kind == "fraction":
            table = (place / max(1, steps - 1)).expand(steps, size)
        else:
            table = (place >> torch.arange(size).clamp(max=62) & 1).float()
        self.register_buffer("positions", table.contiguous(), persistent=False)
