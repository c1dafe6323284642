"""Masking of tokens, for networks that learn to predict them. Portable: exports carry this source."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class MaskTokens(nn.Module):
    """Hides a fraction `rate` of the tokens (N, ..., T): gives (tokens, targets), both of that shape.

    Tokens 0 to 4 are special (filling, unknown, begin, end, mask) and never picked. Of the picked ones a
    fraction `hidden` becomes the mask, a fraction `swapped` any token from 5 up to `size`, the rest stays; at
    least one is picked in each row that has any. Targets are the tokens as they were where picked, elsewhere
    -100, which no loss counts.

    While training, torch's random numbers pick again each time; after, the picks depend on nothing but the
    row's own tokens and `seed`, so that every evaluation asks the same, in whatever batches and order.
    Source: Devlin, Chang, Lee and Toutanova, 2018.
    """

    def __init__(
        self, size: int, rate: float = 0.15, hidden: float = 0.8, swapped: float = 0.1, seed: int = 0
    ) -> None:
        super().__init__()
        self.size = size
        self.rate = rate
        self.hidden = hidden
        self.swapped = swapped
        self.seed = seed

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        if self.training:
            drawn, fate, other = torch.rand(3, *tokens.shape, device=tokens.device)
        else:
            drawn, fate, other = fixed_draws(tokens, self.seed)
        drawn = drawn.masked_fill(tokens < 5, 2.0)
        lowest = drawn.amin(-1, keepdim=True).clamp(max=1.0)
        picked = (drawn < self.rate) | (drawn == lowest)
        random = 5 + (other * (self.size - 5)).long()
        masked = torch.where(picked & (fate < self.hidden), 4, tokens)
        swaps = picked & (fate >= self.hidden) & (fate < self.hidden + self.swapped)
        return torch.where(swaps, random, masked), torch.where(picked, tokens, -100)


def fixed_draws(tokens: Tensor, seed: int) -> Tensor:
    """Three numbers in [0, 1) for each token (N, ..., T), as if drawn, from its row's tokens and the seed.

    Returns (3, N, ..., T), the same on every device and however far rows are filled up.
    """
    place = torch.arange(tokens.shape[-1], device=tokens.device)
    row = (scrambled(tokens + scrambled(place + seed)) * (tokens != 0)).sum(-1, keepdim=True)
    drawn = [scrambled(scrambled(row + number) + place) for number in (1, 2, 3)]
    return (torch.stack(drawn) >> 8).float() / 2**24


def scrambled(x: Tensor) -> Tensor:
    """Whole numbers from 0 to 2³² - 1 that look random, by their lower 32 bits (Wellons, 2018)."""
    x = x & 0xFFFFFFFF
    x = (x ^ (x >> 16)) * 0x7FEB352D & 0xFFFFFFFF
    x = (x ^ (x >> 15)) * 0x846CA68B & 0xFFFFFFFF
    return x ^ (x >> 16)
