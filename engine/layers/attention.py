"""Self-attention of several heads. Portable: exports carry this source."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.layers.ragged import places_there


def earlier_softmax(scores: Tensor) -> Tensor:
    """Softmax of scores (..., T, T) over the last axis, in which later steps have no part."""
    later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
    return scores.masked_fill(later, -torch.inf).softmax(-1)


def read_earlier(
    query: Tensor, key: Tensor, value: Tensor, kept: tuple[Tensor, Tensor] | None
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """What steps that are new read (N, t, F) by their parts (N, heads, t, D), and all keys and values so far.

    `kept` are keys and values of the steps before.
    """
    if kept is not None:
        key, value = torch.cat((kept[0], key), 2), torch.cat((kept[1], value), 2)
    steps, places = query.shape[2], key.shape[2]
    earlier = torch.ones(steps, places, dtype=torch.bool, device=query.device).tril(places - steps)
    read = F.scaled_dot_product_attention(query, key, value, None if steps == 1 else earlier)
    return read.transpose(1, 2).flatten(2), (key, value)


class SelfAttention(nn.Module):
    """Each step of a sequence (N, T, F) reads the steps that its query fits; causal: none behind itself.

    Queries, keys and values of all heads come from one projection, laid out as in `nn.MultiheadAttention`.
    Source: Vaswani and others, 2017.
    """

    def __init__(self, features: int, heads: int = 4, causal: bool = True) -> None:
        super().__init__()
        self.heads, self.causal = heads, causal
        self.projection = nn.Linear(features, 3 * features)
        self.output = nn.Linear(features, features)

    def split(self, x: Tensor) -> tuple[Tensor, ...]:
        """Queries, keys and values (N, heads, T, F / heads)."""
        parts: Tensor = self.projection(x).unflatten(2, (3, self.heads, -1))
        return parts.permute(2, 0, 3, 1, 4).unbind()

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = self.split(x)
        read = F.scaled_dot_product_attention(query, key, value, is_causal=self.causal)
        found: Tensor = self.output(read.transpose(1, 2).flatten(2))
        return found

    def read_on(self, x: Tensor, kept: tuple[Tensor, Tensor] | None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """What steps that are new (N, t, F) read, causal; `kept` are keys and values of those before."""
        query, key, value = self.split(x)
        read, kept = read_earlier(query, key, value, kept)
        return self.output(read), kept


class SelfAttentionToEnd(SelfAttention):
    """Self-attention of rows that differ in length (N,): none of their steps reads what fills a row up.

    Without lengths all are whole.
    """

    def forward(self, x: Tensor, lengths: Tensor | None = None) -> Tensor:
        query, key, value = self.split(x)
        read = F.scaled_dot_product_attention(query, key, value, attn_mask=self.readable(x, lengths))
        found: Tensor = self.output(read.transpose(1, 2).flatten(2))
        return found

    def readable(self, x: Tensor, lengths: Tensor | None) -> Tensor:
        """Which steps each step may read, (N, 1, T, T); the first of a row may always be read."""
        steps = x.shape[1]
        ends = x.new_full((len(x),), steps) if lengths is None else lengths.clamp(min=1)
        there = places_there(ends, steps)[:, None, None].expand(-1, -1, steps, -1)
        return there.tril() if self.causal else there
