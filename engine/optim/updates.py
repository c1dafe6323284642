"""How often weights are moved where gradients are gathered, or not every batch has a turn. Portable."""

from __future__ import annotations

import math


def updates_per_epoch(steps_per_epoch: int, epochs: int, every: int = 1, accumulate: int = 1) -> float:
    """How often an objective moves its weights in an epoch, on average over all of them.

    It has a turn once in `every` batches, and moves the weights after `accumulate` turns and at the end of an
    epoch.
    """
    period = every // math.gcd(every, steps_per_epoch)  # epochs after which the turns come round again

    def moves(count: int) -> int:
        begins = [-(-epoch * steps_per_epoch // every) for epoch in range(count + 1)]  # turns before an epoch
        return sum(-(-(begins[epoch + 1] - begins[epoch]) // accumulate) for epoch in range(count))

    whole, rest = divmod(epochs, period)
    return ((whole * moves(period) if whole else 0) + moves(rest)) / max(1, epochs)
