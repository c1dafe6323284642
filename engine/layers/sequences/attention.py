"""Attention in all its forms: over a memory, by other scores, with positions. Portable: exports carry it."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.layers.ragged import places_there


class Attention(nn.Module):
    """Each step of a sequence (N, T, F) reads the steps of a memory (N, S, M) whose keys fit its query.

    Without a memory it reads itself; causal: none behind itself. `groups` of heads share keys and values.
    Sources: Vaswani and others, 2017; groups: Shazeer, 2019; Ainslie and others, 2023.
    """

    scale: float | None = None  # of the scores: 1 / √D
    plain = True  # nothing is added to the scores, so that torch itself leaves out later steps

    def __init__(
        self,
        features: int,
        memory: int,
        heads: int = 4,
        groups: int | None = None,
        causal: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.heads, self.groups, self.causal, self.dropout = heads, groups or heads, causal, dropout
        shared = features // heads * self.groups
        self.query = nn.Linear(features, features)
        self.key = nn.Linear(memory, shared)
        self.value = nn.Linear(memory, shared)
        self.output = nn.Linear(features, features)

    def forward(self, x: Tensor, memory: Tensor | None = None, lengths: Tensor | None = None) -> Tensor:
        """`lengths` (N,) say how many steps the memory has; its first may always be read."""
        query, key, value = self.split(x, x if memory is None else memory)
        left_out = self.plain and self.causal and lengths is None and query.shape[2] == key.shape[2]
        read = self.read(query, key, value, None if left_out else self.added(query, key, lengths))
        found: Tensor = self.output(read.transpose(1, 2).flatten(2))
        return found

    def read_on(self, x: Tensor, kept: tuple[Tensor, Tensor] | None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """What steps that are new (N, t, F) read, causal; `kept` are keys and values of those before."""
        query, *new = self.split(x, x, 0 if kept is None else kept[0].shape[2])
        key, value = new if kept is None else (torch.cat(pair, 2) for pair in zip(kept, new, strict=True))
        read = self.read(query, key, value, self.added(query, key, None))
        return self.output(read.transpose(1, 2).flatten(2)), (key, value)

    def split(self, x: Tensor, memory: Tensor, first: int = 0) -> tuple[Tensor, Tensor, Tensor]:
        """Queries (N, heads, T, D), and keys and values (N, heads, S, D); step 0 is number `first`."""
        query = self.query(x).unflatten(2, (self.heads, -1)).transpose(1, 2)
        key = self.key(memory).unflatten(2, (self.groups, -1)).transpose(1, 2)
        value = self.value(memory).unflatten(2, (self.groups, -1)).transpose(1, 2)
        times = self.heads // self.groups
        if times == 1:
            return query, key, value
        return query, key.repeat_interleave(times, 1), value.repeat_interleave(times, 1)

    def added(self, query: Tensor, key: Tensor, lengths: Tensor | None) -> Tensor | None:
        """What is added to the scores: minus infinity where nothing may be read."""
        allowed = None
        if lengths is not None:
            allowed = places_there(lengths.clamp(min=1), key.shape[2])[:, None, None]
        if self.causal:
            steps = torch.ones(query.shape[2], key.shape[2], dtype=torch.bool, device=query.device)
            steps = steps.tril(key.shape[2] - query.shape[2])  # queries are those of the last keys
            allowed = steps if allowed is None else steps & allowed
        return None if allowed is None else torch.where(allowed, 0.0, -torch.inf).to(query.dtype)

    def read(self, query: Tensor, key: Tensor, value: Tensor, added: Tensor | None) -> Tensor:
        """What each step reads, (N, heads, T, D)."""
        dropout, causal = self.dropout if self.training else 0.0, self.causal and added is None
        return F.scaled_dot_product_attention(query, key, value, added, dropout, causal, scale=self.scale)


class DotAttention(Attention):
    """Attention by the dot product alone, whose softmax saturates where there are many features.

    Source: Luong, Pham and Manning, 2015.
    """

    scale = 1.0


class CosineAttention(DotAttention):
    """Attention by the angle between query and key, times a learned sharpness of each head, at first 10.

    Source: Graves, Wayne and Danihelka, 2014; of each head: Liu and others, 2022.
    """

    def __init__(self, features: int, memory: int, heads: int = 4, **options: Any) -> None:
        super().__init__(features, memory, heads, **options)
        self.sharpness = nn.Parameter(torch.full((heads, 1, 1), math.log(10.0)))

    def split(self, x: Tensor, memory: Tensor, first: int = 0) -> tuple[Tensor, Tensor, Tensor]:
        query, key, value = super().split(x, memory)
        return F.normalize(query, dim=3) * self.sharpness.exp(), F.normalize(key, dim=3), value


class AdditiveAttention(Attention):
    """Attention whose score is a small network of query and key: v · tanh(q + k).

    Source: Bahdanau, Cho and Bengio, 2015.
    """

    plain = False

    def __init__(self, features: int, memory: int, heads: int = 4, **options: Any) -> None:
        super().__init__(features, memory, heads, **options)
        size = features // heads
        self.fit = nn.Parameter(torch.randn(heads, 1, 1, size) / math.sqrt(size))

    def scores(self, query: Tensor, key: Tensor) -> Tensor:
        """How well each query fits each key, (N, heads, T, S)."""
        return (torch.tanh(query[:, :, :, None] + key[:, :, None]) * self.fit).sum(4)

    def read(self, query: Tensor, key: Tensor, value: Tensor, added: Tensor | None) -> Tensor:
        scores = self.scores(query, key)
        weights = (scores if added is None else scores + added).softmax(3)
        return F.dropout(weights, self.dropout, self.training) @ value


class RotaryAttention(Attention):
    """Attention whose queries and keys are turned by their places: scores know how far apart they are.

    Source: Su and others, 2021.
    """

    def split(self, x: Tensor, memory: Tensor, first: int = 0) -> tuple[Tensor, Tensor, Tensor]:
        query, key, value = super().split(x, memory)
        return rotated(query, first), rotated(key, first), value


class RelativeAttention(Attention):
    """Attention with a learned number for each head and offset, up to `reach`, added to the scores.

    Source: Shaw, Uszkoreit and Vaswani, 2018; as a number: Raffel and others, 2020.
    """

    plain = False

    def __init__(self, features: int, memory: int, heads: int = 4, reach: int = 32, **options: Any) -> None:
        super().__init__(features, memory, heads, **options)
        self.reach = reach
        self.bias = nn.Parameter(torch.zeros(heads, 2 * reach + 1))

    def added(self, query: Tensor, key: Tensor, lengths: Tensor | None) -> Tensor:
        first = key.shape[2] - query.shape[2] if self.causal else 0  # queries are those of the last keys
        offsets = torch.arange(key.shape[2]) - torch.arange(first, first + query.shape[2])[:, None]
        bias = self.bias[:, offsets.clamp(-self.reach, self.reach) + self.reach]
        barred = super().added(query, key, lengths)
        return bias if barred is None else bias + barred


def rotated(x: Tensor, first: int = 0) -> Tensor:
    """Queries or keys (N, heads, T, D), each pair of numbers turned by an angle that grows with its step.

    `first` is the number of the first step.
    """
    steps, size = x.shape[2:]
    kind = torch.promote_types(x.dtype, torch.float32)
    speed = 10000.0 ** (-torch.arange(0, size, 2, device=x.device, dtype=kind) / size)
    angle = torch.arange(first, first + steps, device=x.device, dtype=kind)[:, None] * speed
    pairs = torch.view_as_complex(x.to(kind).view(*x.shape[:3], -1, 2))
    turned = torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle))
    return turned.flatten(3).to(x.dtype)
