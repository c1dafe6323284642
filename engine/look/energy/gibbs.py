"""Gibbs sampling between two layers of binary units."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

Probabilities = Callable[[Tensor], Tensor]


class Chain(NamedTuple):
    """Every state of some chains; row 0 is the start.

    `visible` are probabilities (steps + 1, N, visible), `states` what was drawn from them, and `hidden` the
    states (steps + 1, N, hidden) that were drawn from the visible states of the same step.
    """

    visible: Tensor
    states: Tensor
    hidden: Tensor


def gibbs(
    hidden_of: Probabilities,
    visible_of: Probabilities,
    start: Tensor,
    steps: int,
    generator: torch.Generator,
    held: Tensor | None = None,
) -> Chain:
    """`steps` rounds of h ~ p(h | v), v ~ p(v | h) from `start` (N, visible).

    `hidden_of` and `visible_of` give probabilities. Units where `held` (visible,) is true keep the values of
    the start: the others are filled in given them. The first hidden states come from the whole start, so what
    is to be filled in must be emptied there (`emptied`). Source: Hinton 2002.
    """
    states = visible = start
    hidden = _drawn(hidden_of(states), generator)
    found = [(visible, states, hidden)]
    for _ in range(steps):
        visible = visible_of(hidden)
        drawn = _drawn(visible, generator)
        if held is not None:
            visible, drawn = torch.where(held, start, visible), torch.where(held, start, drawn)
        states = drawn
        hidden = _drawn(hidden_of(states), generator)
        found.append((visible, states, hidden))
    return Chain(*(torch.stack(parts) for parts in zip(*found, strict=True)))


def emptied(start: Tensor, held: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """`start` (N, visible) without the values of units that are not `held` (visible,).

    They are 0, or 0 and 1 with equal probability where a generator draws them.
    """
    rest = torch.zeros_like(start)
    return torch.where(held, start, rest if generator is None else _drawn(rest + 0.5, generator))


def _drawn(probabilities: Tensor, generator: torch.Generator) -> Tensor:
    return torch.bernoulli(probabilities, generator=generator)
