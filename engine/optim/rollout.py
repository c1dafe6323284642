"""Acts in an environment while others learn from what is seen. Portable: exports carry this source."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


class LinearExploration:
    """The probability of a random action: `first`, and less by the same each turn until `last`."""

    def __init__(self, first: float, last: float, turns: int) -> None:
        self.first, self.last, self.turns = first, last, turns

    def __call__(self, turn: int) -> float:
        return self.last + (self.first - self.last) * max(0.0, 1 - turn / self.turns)


class ExponentialExploration:
    """The probability of a random action: `first`, halved every so many turns, never below `last`."""

    def __init__(self, first: float, last: float, half_life: int) -> None:
        self.first, self.last, self.half_life = first, last, half_life

    def __call__(self, turn: int) -> float:
        return max(self.last, self.first * math.exp2(-turn / self.half_life))


class Rollout:
    """Lets the agents of a replay act `moves` times, then puts transitions drawn from it into the batch.

    `scores(model, state)` are those of the actions (agents, actions), `explore(turn)` is the probability of a
    random action. Before the first turn agents move at random until there are transitions for a batch. What
    it returns is the mean return of the episodes that ended in this turn, or of those that ended last; the
    weight is how many ended. Source: Mnih et al., 2015.
    """

    def __init__(
        self,
        replay: Any,
        scores: Callable[[Any, Tensor], Tensor],
        explore: Callable[[int], float],
        moves: int = 1,
    ) -> None:
        self.replay, self.scores, self.explore, self.moves = replay, scores, explore, moves

    def __call__(self, model: Any, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        replay, rows = self.replay, len(next(iter(batch.values())))
        explore = self.explore(int(replay.turn))
        draws = replay.begin_turn()

        def scores(state: Tensor) -> Tensor:
            return self.scores(model, state)

        returns = []
        while int(replay.seen) < rows:
            returns.append(replay.move(scores, 1.0, draws))
        returns += [replay.move(scores, explore, draws) for _ in range(self.moves)]
        ended = torch.cat(returns)
        if len(ended):
            replay.latest = ended.mean()
        batch.update(replay.drawn(rows, draws))
        return {
            "loss": replay.latest,
            "weight": torch.tensor(float(len(ended))),
            "exploration": torch.tensor(explore),
        }
