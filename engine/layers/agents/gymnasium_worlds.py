"""Environments of Gymnasium, several side by side. Portable: exports carry this source."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class GymnasiumWorlds(nn.Module):
    """`agents` environments that Gymnasium calls `id`, with `size` numbers as a state and `choices` actions.

    What is kept of them is the seed and the actions of each episode: an environment that is not where these
    lead, such as after a file of weights was read, begins again with the seed and takes the actions again.
    After `limit` moves an episode is cut off, if it was not before. Needs the package gymnasium. Source:
    Towers and others, 2024.
    """

    state: Tensor
    first: Tensor
    taken: Tensor
    time: Tensor
    over: Tensor

    def __init__(
        self, agents: int, id: str = "CartPole-v1", size: int = 4, choices: int = 2, limit: int = 500
    ) -> None:
        super().__init__()
        self.id, self.size, self.limit = id, size, limit
        self.actions = tuple(f"action {number}" for number in range(choices))
        self.draws: torch.Generator | None = None  # none: torch's own
        self.made: list[Any] = []
        self.real: list[tuple[int, int] | None] = [None] * agents  # seed and moves of each environment
        self.register_buffer("state", torch.zeros(agents, size))
        self.register_buffer("first", torch.zeros(agents, dtype=torch.int64))
        self.register_buffer("taken", torch.zeros(agents, limit, dtype=torch.int64))
        self.register_buffer("time", torch.zeros(agents, dtype=torch.int64))
        self.register_buffer("over", torch.zeros(agents, dtype=torch.bool))  # waits to begin again

    def __deepcopy__(self, known: Any) -> GymnasiumWorlds:
        made = GymnasiumWorlds(len(self.time), self.id, self.size, len(self.actions), self.limit)
        made.load_state_dict(self.state_dict())
        return made.to(self.state.device)

    def _load_from_state_dict(self, *details: Any) -> None:
        super()._load_from_state_dict(*details)
        self.real = [None] * len(self.real)

    def environment(self, agent: int) -> Any:
        """The environment of an agent, where its episode has come to."""
        import gymnasium

        while len(self.made) <= agent:
            self.made.append(gymnasium.make(self.id))
        made, now = self.made[agent], (int(self.first[agent]), int(self.time[agent]))
        if self.real[agent] != now:
            seen, _ = made.reset(seed=now[0])
            self.fits(made, seen)
            for action in self.taken[agent, : now[1]].tolist():
                made.step(action)
            self.real[agent] = now
        return made

    def fits(self, made: Any, seen: Any) -> None:
        """Errors: `ValueError` where states or actions are others than was said."""
        size = torch.as_tensor(seen).numel() if hasattr(seen, "__len__") else 0
        choices = int(getattr(made.action_space, "n", 0))
        if (size, choices) != (self.size, len(self.actions)):
            raise ValueError(
                f"{self.id} has {size} numbers as a state and {choices} actions to choose from, not "
                f"{self.size} and {len(self.actions)}: set both at the environment's node."
            )

    def reset(
        self, seed: int | None = None, options: dict[str, Tensor] | None = None
    ) -> tuple[Tensor, dict[str, Any]]:
        """Begin again: all agents, or those of `options["reset_mask"]` (agents,)."""
        if seed is not None:
            self.draws = torch.Generator().manual_seed(seed)
        seeds = torch.randint(2**31, (len(self.time),), generator=self.draws)
        mask = torch.ones_like(self.time, dtype=torch.bool) if options is None else options["reset_mask"]
        state = self.state.clone()
        for agent in mask.nonzero().flatten().tolist():
            self.first[agent], self.time[agent], self.real[agent] = seeds[agent], 0, None
            self.over[agent] = False
            made = self.environment(agent)
            seen, _ = made.reset(seed=int(seeds[agent]))
            state[agent] = torch.as_tensor(seen).flatten().to(state)
        self.state = state
        return state, {}

    def step(self, action: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, dict[str, Any]]:
        """Take an action (agents,) in each: states, rewards, whether ended, whether cut off, facts."""
        state, found = self.state.clone(), []
        for agent, chosen in enumerate(action.tolist()):
            if self.over[agent]:
                found.append((0.0, False, True))
                continue
            made = self.environment(agent)
            seen, reward, ended, cut_off, _ = made.step(chosen)
            self.taken[agent, int(self.time[agent])] = chosen
            self.time[agent] += 1
            self.real[agent] = (int(self.first[agent]), int(self.time[agent]))
            state[agent] = torch.as_tensor(seen).flatten().to(state)
            late = int(self.time[agent]) >= self.limit and not ended
            self.over[agent] = bool(ended or cut_off or late)
            found.append((float(reward), bool(ended), bool(cut_off) or late))
        self.state = state
        rewards, ends, cuts = zip(*found, strict=True)
        device = state.device
        return (
            state,
            torch.tensor(rewards, device=device),
            torch.tensor(ends, device=device),
            torch.tensor(cuts, device=device),
            {},
        )
