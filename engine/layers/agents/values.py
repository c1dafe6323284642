"""Values of actions and what they ought to be. Portable: exports carry this source."""

from __future__ import annotations

from torch import Tensor


def value_of(values: Tensor, action: Tensor) -> Tensor:
    """The value of the action that was taken: values (N, actions), action (N,) -> (N, 1)."""
    return values.gather(1, action[:, None])


def temporal_difference_target(
    reward: Tensor, end: Tensor, values: Tensor, chooser: Tensor | None = None, discount: float = 0.99
) -> Tensor:
    """What a value ought to be by what followed, (N, 1); no gradient flows through it.

    reward, end (N, 1): 1 where nothing follows. values (N, actions) are those of the next state, of which the
    largest counts, or with `chooser` (N, actions) the one of the action that is best there.
    """
    best = (values if chooser is None else chooser).argmax(1, keepdim=True)
    return (reward + discount * (1 - end) * values.gather(1, best)).detach()
