"""How a state falls through an energy landscape, and where it comes to rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from engine.procedures.falling import fall

Step = Callable[[Tensor], Tensor]

LONGEST = 200  # steps until what has not come to rest counts as wandering
STILL = 1e-5
PUSH = 0.03
SAME = 0.05  # rests nearer than this fraction of the reach are one


class Basins(NamedTuple):
    """Where states come to rest: the number of the rest (N,), -1 for none, and the rests (m, D)."""

    number: Tensor
    rests: Tensor


def paths(step: Step, start: Tensor, steps: int) -> Tensor:
    """The states (steps + 1, N, D) that follow `start` (N, D)."""
    return torch.stack(list(fall(step, start, steps)))


def basins(
    step: Step, start: Tensor, reach: float = 1.0, longest: int = LONGEST, counted: int | None = None
) -> Basins:
    """To which rest each state of `start` (N, D) falls, the rest of the most states first.

    Rests nearer than 5 % of `reach` count as one. Only the first `counted` states decide the order.
    """
    x = start
    moved = torch.full((len(start),), torch.inf, device=start.device)
    for _ in range(longest):
        after = step(x)
        moved = (after - x).abs().amax(1)
        x = after
        if bool((moved < STILL).all()):
            break
    still = moved < STILL
    number = torch.full((len(start),), -1, dtype=torch.int64, device=start.device)
    rests: list[Tensor] = []
    counts: list[int] = []
    waiting = still.clone()
    while bool(waiting.any()):
        rest = x[waiting][0]
        near = waiting & ((x - rest).abs().amax(1) < SAME * reach)
        number[near] = len(rests)
        rests.append(rest)
        counts.append(int(near[:counted].sum()))
        waiting &= ~near
    if not rests:
        return Basins(number, start[:0])
    order = sorted(range(len(rests)), key=lambda index: -counts[index])
    renamed = torch.tensor([*(order.index(index) for index in range(len(rests))), -1], device=start.device)
    return Basins(renamed[number], torch.stack([rests[index] for index in order]))


def steady(step: Step, rests: Tensor, reach: float = 1.0, longest: int = LONGEST) -> Tensor:
    """Whether states come back to each of `rests` (m, D) after a push along any axis: (m,) of booleans.

    A push is as far as 3 % of `reach`; as in `basins`, back is within 5 % of it.
    """
    if not len(rests):
        return torch.zeros(0, dtype=torch.bool)
    axes = torch.eye(rests.shape[1], device=rests.device) * PUSH * reach
    x = (rests[:, None] + torch.cat([axes, -axes])).flatten(0, 1)
    for _ in range(longest):
        x = step(x)
    away = (x.reshape(len(rests), -1, rests.shape[1]) - rests[:, None]).abs().amax(2)
    back: Tensor = (away < SAME * reach).all(1)
    return back
