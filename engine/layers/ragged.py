"""Rows that differ in length, filled up at their end to one size. Portable: exports carry this source."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


def places_there(lengths: Tensor, count: int) -> Tensor:
    """Which of `count` places each row has, (N, count), by how many it has (N,)."""
    return torch.arange(count, device=lengths.device) < lengths[:, None]


def real_places(x: Tensor, lengths: Tensor) -> Tensor:
    """The places (M, ...) that rows (N, T, ...) have, one row after the other; lengths (N,) say how many.

    Where no row has any, the first of the first row stands for them.
    """
    there = torch.arange(x.shape[1], device=x.device) < lengths[:, None]
    there[0, 0] |= ~there.any()
    return x[there]


def reversed_rows(x: Tensor, lengths: Tensor | None = None) -> Tensor:
    """Rows (N, T, ...) backwards, each from its own end where `lengths` (N,) say so; filling stays behind."""
    if lengths is None:
        return x.flip(1)
    steps, ends = torch.arange(x.shape[1], device=x.device), lengths[:, None]
    order = torch.where(steps < ends, ends - 1 - steps, steps)
    return x[torch.arange(len(x), device=x.device)[:, None], order]


def last_places(x: Tensor, lengths: Tensor) -> Tensor:
    """The last place (N, ...) that each of the rows (N, T, ...) has; the first where it has none."""
    return x[torch.arange(len(x), device=x.device), lengths.clamp(min=1) - 1]


def read_to_end(layer: nn.Module, x: Tensor, lengths: Tensor) -> tuple[Tensor, Any]:
    """What a recurrent layer gives for rows (N, T, F) of these lengths (N,), and its state at each row's end.

    It is 0 behind the end of a row. One that reads both ways begins at the end. A row without any place
    counts as one of a single place.
    """
    ends = lengths.clamp(min=1).cpu()
    packed = nn.utils.rnn.pack_padded_sequence(x, ends, batch_first=True, enforce_sorted=False)
    output, state = layer(packed)
    padded, _ = nn.utils.rnn.pad_packed_sequence(output, batch_first=True, total_length=x.shape[1])
    return padded, state
