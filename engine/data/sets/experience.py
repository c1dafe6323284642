"""What an agent meets that acts at random in an environment. Portable: exports carry this source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.data.splits import columns_of, split_at_random
from engine.layers.agents.cart_pole import CartPole
from engine.layers.agents.grid_world import GridWorld
from engine.layers.agents.gymnasium_worlds import GymnasiumWorlds


def random_transitions(
    world: Any, rows: int, device: str, validation: float, test: float, seed: int
) -> dict[str, dict[str, Tensor]]:
    """`rows` transitions of agents side by side, each action as likely, split at random.

    "state" and "next_state" (N, *sizes), "action" (N,), "reward" and "end" (N, 1).
    """
    state, _ = world.reset(seed=seed)
    names = ("state", "action", "reward", "next_state", "end")
    seen: dict[str, list[Tensor]] = {name: [] for name in names}
    for _ in range(-(-rows // len(state))):
        action = torch.randint(len(world.actions), (len(state),), generator=world.draws)
        after, reward, ended, cut_off, _ = world.step(action)
        for name, value in zip(names, (state, action, reward[:, None], after, ended[:, None]), strict=True):
            seen[name].append(value if name == "action" else value.float())
        state, _ = world.reset(options={"reset_mask": ended | cut_off})
    columns = {name: torch.cat(parts)[:rows] for name, parts in seen.items()}
    order = split_at_random(rows, None, validation=validation, test=test, seed=seed)
    return columns_of(columns, order, device)


def load_grid_world(
    folder: Path,
    device: str,
    *,
    rows: int = 1000,
    validation: float = 0.1,
    test: float = 0.1,
    seed: int = 0,
    **options: Any,
) -> dict[str, dict[str, Tensor]]:
    """Transitions of a random agent in a grid world with these options, as `random_transitions`."""
    return random_transitions(GridWorld(16, **options), rows, device, validation, test, seed)


def load_cart_pole(
    folder: Path,
    device: str,
    *,
    rows: int = 1000,
    validation: float = 0.1,
    test: float = 0.1,
    seed: int = 0,
    **options: Any,
) -> dict[str, dict[str, Tensor]]:
    """Transitions of a random agent with a pole on a cart, as `random_transitions`."""
    return random_transitions(CartPole(16, **options), rows, device, validation, test, seed)


def load_gymnasium(
    folder: Path,
    device: str,
    *,
    rows: int = 1000,
    validation: float = 0.02,
    test: float = 0.02,
    seed: int = 0,
    **options: Any,
) -> dict[str, dict[str, Tensor]]:
    """Transitions of a random agent in an environment of Gymnasium, as `random_transitions`.

    Errors: `ValueError` where it has other states or actions, `ImportError` without the package.
    """
    return random_transitions(GymnasiumWorlds(4, **options), rows, device, validation, test, seed)
