"""Recurrent layers on top of each other, both ways, and with deep transitions. Portable: exports carry it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from engine.layers.ragged import reversed_rows


class Stacked(nn.Module):
    """Recurrent layers of one kind on top of each other: (N, T, F) gives what the last of them gives.

    There is one for each of the `sizes`, the features that it reads. With `both_ways` a second one reads each
    row from its end, and what the two give stands side by side.
    Sources: Schuster and Paliwal, 1997; Graves, Mohamed and Hinton, 2013.
    """

    def __init__(
        self,
        kind: Callable[..., nn.Module],
        sizes: Sequence[int],
        hidden: int,
        both_ways: bool = False,
        dropout: float = 0.0,
        **options: Any,
    ) -> None:
        super().__init__()
        ways = (False, True) if both_ways else (False,)
        self.layers = nn.ModuleList(
            nn.ModuleList(kind(size, hidden, **options) for _ in ways) for size in sizes
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, lengths: Tensor | None = None) -> Any:
        """Rows of these `lengths` (N,) are read from where each ends."""
        found: list[Tensor] = []
        for ways in self.layers:
            x = self.dropout(found[0]) if found else x
            read = [self.read(one, x, lengths, way > 0) for way, one in enumerate(ways.children())]
            found = [torch.cat(parts, 2) for parts in zip(*read, strict=True)]
        return found[0] if len(found) == 1 else tuple(found)

    def read(self, layer: nn.Module, x: Tensor, lengths: Tensor | None, backwards: bool) -> Sequence[Tensor]:
        """What a layer gives for each step, in the order of time."""
        found = layer(reversed_rows(x, lengths) if backwards else x)
        parts = found if isinstance(found, tuple) else (found,)
        return [reversed_rows(one, lengths) for one in parts] if backwards else parts


class DeepTransition(nn.Module):
    """A recurrence whose state passes several cells at each step; the first of them reads the input, too.

    (N, T, F) gives outputs (N, T, H); of LSTM cells also the memory cells. Source: Pascanu, Gulcehre, Cho and
    Bengio, 2014.
    """

    def __init__(
        self, features: int, hidden: int, cell: Callable[..., nn.Module], depth: int, **options: Any
    ) -> None:
        super().__init__()
        self.hidden, self.two_states = hidden, cell is nn.LSTMCell
        self.cells = nn.ModuleList(
            cell(0 if above else features, hidden, **options) for above in range(depth)
        )

    def forward(self, x: Tensor) -> Any:
        state: Any = x.new_zeros(len(x), self.hidden)
        state = (state, state) if self.two_states else state
        found = []
        for step in x.unbind(1):
            for cell in self.cells:
                state = cell(step, state)
                step = step[:, :0]
            found.append(state)
        if self.two_states:
            return tuple(torch.stack(part, 1) for part in zip(*found, strict=True))
        return torch.stack(found, 1)
