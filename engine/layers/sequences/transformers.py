"""Whole layers of transformers that torch has, for texts that grow. Portable: exports carry this source."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from engine.layers.attention import read_earlier
from engine.layers.sequences.tokens import later_steps


class CausalLayer(nn.TransformerEncoderLayer):
    """A layer of a transformer in which each step of (N, T, F) reads itself and what came before.

    Source: Vaswani and others, 2017.
    """

    def forward(self, x: Tensor, filled: Tensor | None = None) -> Tensor:  # type: ignore[override]
        """`filled` (N, T) marks steps that fill up a row and are not read."""
        return super().forward(x, later_steps(x), filled, is_causal=True)

    def read_on(self, x: Tensor, kept: tuple[Tensor, Tensor] | None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """The layer at steps that are new (N, t, F); `kept` are keys and values of those before."""
        heads, first = self.self_attn, self.norm_first
        parts = F.linear(self.norm1(x) if first else x, heads.in_proj_weight, heads.in_proj_bias)
        shape = (*x.shape[:2], 3, heads.num_heads, -1)
        query, key, value = parts.view(shape).permute(2, 0, 3, 1, 4).unbind()
        read, kept = read_earlier(query, key, value, kept)
        x = x + heads.out_proj(read)
        x = x if first else self.norm1(x)
        hidden = self.activation(self.linear1(self.norm2(x) if first else x))
        x = x + self.linear2(hidden)
        return x if first else self.norm2(x), kept
