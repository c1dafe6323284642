"""A grid world: many agents side by side. Portable: exports carry this source."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class GridWorld(nn.Module):
    """`agents` side by side, each in a grid of its own, moved by 0 up, 1 right, 2 down and 3 left.

    `layout` has a letter a cell, rows from above with "/" between them: "." is free, "#" a wall, "S" a start,
    "G" a goal and "O" a pit; without a start an episode begins in any free cell. A move slips to each side
    with half of the probability `slip`; walls and borders stop it. Each move is worth `step`, one into a goal
    or pit is worth `goal` or `pit` more and ends the episode. After `limit` moves it is cut off.

    It speaks Gymnasium's interface of vector environments whose agents are reset by a mask. States are rows
    (agents, cells) with a 1 at the cell. Source: Russell and Norvig, 1995; Sutton and Barto, 1998.
    """

    states: Tensor
    ways: Tensor
    begins: Tensor
    worth: Tensor
    ends: Tensor
    place: Tensor
    time: Tensor
    actions = ("up", "right", "down", "left")
    moves = ((-1, 0), (0, 1), (1, 0), (0, -1))  # by rows and columns

    def __init__(
        self,
        agents: int,
        layout: str = "...G/.#.O/S...",
        slip: float = 0.0,
        step: float = -0.04,
        goal: float = 1.0,
        pit: float = -1.0,
        limit: int = 50,
    ) -> None:
        super().__init__()
        rows = layout.split("/")
        cells, self.width = "".join(rows), len(rows[0])
        self.slip, self.limit = slip, limit
        self.draws: torch.Generator | None = None  # none: torch's own
        ways = [[self.beside(rows, at, way) for way in range(4)] for at in range(len(cells))]
        begins = [at for at, letter in enumerate(cells) if letter == "S"]
        begins = begins or [at for at, letter in enumerate(cells) if letter == "."]
        worth = {"G": step + goal, "O": step + pit}
        tables = {
            "states": torch.eye(len(cells)),
            "ways": torch.tensor(ways),
            "begins": torch.tensor(begins),
            "worth": torch.tensor([worth.get(letter, step) for letter in cells]),
            "ends": torch.tensor([letter in "GO" for letter in cells]),
        }
        for name, table in tables.items():  # of the layout, not of the state: files do not hold them
            self.register_buffer(name, table, persistent=False)
        self.register_buffer("place", torch.zeros(agents, dtype=torch.int64))
        self.register_buffer("time", torch.zeros(agents, dtype=torch.int64))

    def beside(self, rows: list[str], at: int, way: int) -> int:
        """The cell that a move from a cell leads to."""
        (row, column), (down, right) = divmod(at, self.width), self.moves[way]
        row, column = row + down, column + right
        inside = 0 <= row < len(rows) and 0 <= column < self.width and rows[row][column] != "#"
        return row * self.width + column if inside else at

    def observed(self, place: Tensor) -> Tensor:
        """The states (n, cells) of agents in some cells (n,)."""
        return self.states[place]

    def reset(
        self, seed: int | None = None, options: dict[str, Tensor] | None = None
    ) -> tuple[Tensor, dict[str, Any]]:
        """Begin again: all agents, or those of `options["reset_mask"]` (agents,)."""
        if seed is not None:
            self.draws = torch.Generator().manual_seed(seed)
        mask = torch.ones_like(self.ends[self.place]) if options is None else options["reset_mask"]
        drawn = torch.randint(len(self.begins), (len(self.place),), generator=self.draws)
        self.place = torch.where(mask, self.begins[drawn.to(mask.device)], self.place)
        self.time = torch.where(mask, 0, self.time)
        return self.observed(self.place), {}

    def step(self, action: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, dict[str, Any]]:
        """Move each agent by `action` (agents,): states, rewards, whether ended, whether cut off, facts."""
        drawn = torch.rand(len(action), generator=self.draws).to(action.device)
        turn = (drawn < self.slip).long() - 2 * (drawn < self.slip / 2).long()
        self.place = self.ways[self.place, (action + turn) % 4]
        self.time = self.time + 1
        ended = self.ends[self.place]
        return (
            self.observed(self.place),
            self.worth[self.place],
            ended,
            (self.time >= self.limit) & ~ended,
            {},
        )
