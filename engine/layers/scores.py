"""What a model scores, as functions of a batch. Portable: exports carry this source."""

from __future__ import annotations

from torch import Tensor


def masked_accuracy(guessed: Tensor, target: Tensor, ignored: int | None = None) -> Tensor:
    """The fraction of places (N, ...) whose class is right, without those of class -100 or `ignored`.

    0 where no place counts.
    """
    counted = target != -100
    if ignored is not None:
        counted = counted & (target != ignored)
    return ((guessed == target) & counted).sum() / counted.sum().clamp(1)
