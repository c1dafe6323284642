"""What a model scores, as functions of a batch. Portable: exports carry this source."""

from __future__ import annotations

import torch
from torch import Tensor


def masked_accuracy(guessed: Tensor, target: Tensor, ignored: int | None = None) -> Tensor:
    """The fraction of places (N, ...) whose class is right, without those of class -100 or `ignored`.

    0 where no place counts.
    """
    there = target != -100
    if ignored is not None:
        there = there & (target != ignored)
    return ((guessed == target) & there).sum() / there.sum().clamp(1)


def yes_no_accuracy(scores: Tensor, target: Tensor, middle: float) -> Tensor:
    """The fraction of scores (N, ...) on the right side of the middle between the values of their targets.

    With a target below 0 these are -1 and 1, with one of 0 they are 0 and 1; where all are 1, `middle` holds.
    """
    least = target.min()
    between = torch.where(least < 0, 0.0, torch.where(least == 0, 0.5, middle))
    return ((scores > between) == (target > between)).float().mean()
