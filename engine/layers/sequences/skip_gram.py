"""Pairs of words that stand near each other, and others that do not. Portable: exports carry this source."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from engine.layers.text_masking import scrambled


class SkipGram(nn.Module):
    """Draws pairs of words from rows of tokens (N, T), and `negatives` other words K for each pair.

    Gives the words (N, P, 1), their neighbours followed by the others (N, P, 1 + K), and which of these are
    neighbours (N, P, 1, 1 + K), P pairs a row. A neighbour at a distance d of at most `window` is drawn with
    a weight of `window` + 1 - d; both words with the square root of `often` over their frequency where that
    is below 1; the others with their frequency to the power of 3/4. Tokens 0 to 4 are special and not drawn.

    Frequencies are those of the tokens that came in while training. Then torch's random numbers draw again
    each time; after, the draws depend on nothing but the row's own tokens and `seed`.
    Source: Mikolov, Sutskever, Chen, Corrado and Dean, 2013.
    """

    def __init__(
        self,
        size: int,
        window: int = 5,
        pairs: int = 32,
        negatives: int = 5,
        often: float = 1e-3,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.window = window
        self.pairs = pairs
        self.negatives = negatives
        self.often = often
        self.seed = seed
        self.counts: Tensor
        self.register_buffer("counts", torch.ones(size))  # so that every word can be drawn
        self.counts[:5] = 0

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        size = (self.pairs, 2 + self.negatives)
        if self.training:
            words = (tokens >= 5).flatten().to(self.counts)
            self.counts.index_add_(0, tokens.flatten(), words)
            drawn = torch.rand(len(tokens), *size, device=tokens.device)
        else:
            drawn = row_draws(tokens, self.pairs * (2 + self.negatives), self.seed).reshape(-1, *size)
        frequency = self.counts / self.counts.sum()
        kept = (self.often / frequency.clamp(min=1e-12)).sqrt().clamp(max=1)[tokens] * (tokens >= 5)
        at = picked(kept[:, None].expand(-1, self.pairs, -1), drawn[:, :, 0])[:, :, None]
        away = (torch.arange(tokens.shape[1], device=tokens.device) - at).abs()
        near = (self.window + 1 - away).clamp(min=0) * (away > 0) * kept[:, None]
        beside = picked(near, drawn[:, :, 1])
        upto = self.counts.pow(0.75).cumsum(0)
        others = torch.searchsorted(upto, drawn[:, :, 2:] * upto[-1], right=True).clamp(max=len(upto) - 1)
        word, neighbour = tokens.gather(1, at[:, :, 0])[:, :, None], tokens.gather(1, beside)[:, :, None]
        real = torch.zeros(*drawn.shape[:2], 1, 1 + self.negatives, device=tokens.device)
        real[..., 0] = 1
        return word, torch.cat((neighbour, others), 2), real


def picked(weights: Tensor, drawn: Tensor) -> Tensor:
    """Places (N, P) by weights (N, P, M), for even numbers in [0, 1) (N, P); the last where all are 0."""
    upto = weights.cumsum(2)
    found = torch.searchsorted(upto, drawn[:, :, None] * upto[:, :, -1:], right=True)
    return found[:, :, 0].clamp(max=weights.shape[2] - 1)


def row_draws(tokens: Tensor, count: int, seed: int) -> Tensor:
    """Numbers in [0, 1) as if drawn, (N, count), from the tokens (N, T) of each row and the seed."""
    place = torch.arange(tokens.shape[1], device=tokens.device)
    row = scrambled(tokens + scrambled(place + seed)).sum(1, keepdim=True)
    return (scrambled(scrambled(row) + torch.arange(count, device=tokens.device)) >> 8).float() / 2**24
