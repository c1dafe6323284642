"""How often weights are moved where gradients are gathered, or not every batch has a turn. Portable."""

from __future__ import annotations


def updates_per_epoch(steps_per_epoch: int, epochs: int, every: int = 1, accumulate: int = 1) -> float:
    """How often an objective moves its weights in an epoch, on average over all of them.

    It has a turn once in `every` batches, and moves the weights after `accumulate` turns and at the end of an
    epoch.
    """
    begins = [-(-epoch * steps_per_epoch // every) for epoch in range(epochs + 1)]  # turns before an epoch
    turns = [begins[epoch + 1] - begins[epoch] for epoch in range(epochs)]
    return sum(-(-count // accumulate) for count in turns) / max(1, epochs)
