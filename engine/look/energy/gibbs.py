"""Whole chains of Gibbs sampling between two layers of binary units."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from engine.procedures.boltzmann import gibbs_states

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
    """`steps` rounds from `start` (N, visible), as in `gibbs_states`."""
    found = list(gibbs_states(hidden_of, visible_of, start, steps, generator, held))
    return Chain(*(torch.stack(parts) for parts in zip(*found, strict=True)))
