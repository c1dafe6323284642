"""Agents in an environment and what they have seen. Portable: exports carry this source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn


class Replay(nn.Module):
    """`agents` act in an environment, and the last `memory` transitions are kept to draw batches from.

    `environment(agents, **options)` makes one. Whatever it holds is a buffer, so that weights, checkpoints
    and a run that goes on have all of it. What a turn draws comes from the number of the turn and the seed
    that was drawn when the model was made: several processes see the same. Source: Lin, 1992.
    """

    seed: Tensor
    turn: Tensor
    seen: Tensor
    now: Tensor
    earned: Tensor
    latest: Tensor
    state: Tensor
    action: Tensor
    reward: Tensor
    next_state: Tensor
    end: Tensor

    def __init__(
        self, environment: Callable[..., Any], agents: int = 16, memory: int = 10_000, **options: Any
    ) -> None:
        super().__init__()
        self.make, self.options, self.memory = environment, options, memory
        self.world = environment(agents, **options)
        seed = torch.randint(2**31, ())
        state, _ = self.world.reset(seed=int(seed))
        shape = state.shape[1:]
        self.register_buffer("seed", seed)
        self.register_buffer("turn", torch.zeros((), dtype=torch.int64))
        self.register_buffer("seen", torch.zeros((), dtype=torch.int64))  # transitions so far
        self.register_buffer("now", state)  # what the agents see
        self.register_buffer("earned", torch.zeros(agents))  # since their episodes began
        self.register_buffer("latest", torch.zeros(()))  # the mean return of the episodes that ended last
        self.register_buffer("state", torch.zeros(memory, *shape))
        self.register_buffer("action", torch.zeros(memory, dtype=torch.int64))
        self.register_buffer("reward", torch.zeros(memory, 1))
        self.register_buffer("next_state", torch.zeros(memory, *shape))
        self.register_buffer("end", torch.zeros(memory, 1))

    def begin_turn(self) -> torch.Generator:
        """Count a turn; returns what all of its draws come from."""
        draws = torch.Generator().manual_seed(int(self.seed) * 1_000_003 + int(self.turn))
        self.turn += 1
        self.world.draws = draws
        return draws

    def move(self, scores: Callable[[Tensor], Tensor], explore: float, draws: torch.Generator) -> Tensor:
        """Let each agent act once: the best action, or any with the probability `explore`.

        Returns the returns of the episodes that ended, (n,).
        """
        best = scores(self.now).argmax(1)
        count = len(self.now)
        any_one = torch.randint(len(self.world.actions), (count,), generator=draws).to(best.device)
        explores = (torch.rand(count, generator=draws) < explore).to(best.device)
        action = torch.where(explores, any_one, best)
        after, reward, ended, cut_off, _ = self.world.step(action)
        rows = (self.seen + torch.arange(count, device=best.device)) % self.memory
        self.state[rows], self.action[rows], self.next_state[rows] = self.now, action, after
        self.reward[rows], self.end[rows] = reward[:, None], ended[:, None].float()
        self.seen += count
        over = ended | cut_off
        earned: Tensor = self.earned + reward
        self.earned = torch.where(over, 0.0, earned)
        self.now = self.world.reset(options={"reset_mask": over})[0]
        return earned[over]

    def drawn(self, rows: int, draws: torch.Generator) -> dict[str, Tensor]:
        """A batch of transitions out of those that are kept, each as likely."""
        filled = min(int(self.seen), self.memory)
        chosen = torch.randint(filled, (rows,), generator=draws).to(self.action.device)
        columns = ("state", "action", "reward", "next_state", "end")
        return {name: getattr(self, name)[chosen] for name in columns}

    def mean_return(self, scores: Callable[..., Tensor], model: Any, episodes: int) -> Tensor:
        """What an episode earns when the agent always takes the best action: the mean over the same ones."""
        world = self.make(episodes, **self.options).to(self.now.device)
        state, _ = world.reset(seed=0)
        earned = torch.zeros(episodes, device=state.device)
        running = torch.ones_like(earned, dtype=torch.bool)
        while running.any():
            state, reward, ended, cut_off, _ = world.step(scores(model, state).argmax(1))
            earned += torch.where(running, reward, 0.0)
            running &= ~(ended | cut_off)
        return earned.mean()
