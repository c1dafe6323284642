"""Environments: what an agent acts in. Each gives the transitions of a random agent to begin with."""

from __future__ import annotations

import re
from typing import Any

from engine.catalogue import Emitted, Emitter, Environment
from engine.errors import ParamError
from nodes.data.loaded import Loaded, argument, options
from nodes.wires import plural

LETTERS = ".#SGO"
MOST_CELLS = 2500


class Played(Loaded, Environment, abstract=True):
    """An environment of ours, whose class and loader take its parameters by name."""

    limit: int = argument(minimum=1, maximum=100_000, label="Longest episode", doc="in moves")
    rows: int = argument(
        minimum=50, maximum=1_000_000, label="Random moves", doc="transitions of a random agent to begin with"
    )
    validation: float = argument(
        minimum=0.02, maximum=0.4, label="Validation fraction", doc="of these; as many episodes are played"
    )
    test: float = argument(
        minimum=0.02, maximum=0.4, label="Test fraction", doc="of these, only evaluated in the end"
    )
    seed: int = argument(minimum=0, maximum=2**31 - 1, doc="of the random agent")

    def _options(self) -> dict[str, Any]:
        """What its class takes beside the number of agents, whose defaults stand there alone."""
        return {name: getattr(self, name) for name in options(self.makes)}


class GridWorld(Played):
    """A grid with walls, pits and a goal, in which an agent moves up, right, down or left.

    The state is a 1 at the agent's cell. Moves cost a little, the goal is worth something, a pit costs as
    much; both end the episode. With a slip the agent sometimes goes to the side. As drawn at first it is the
    world of Russell and Norvig, whose best values are known.
    """

    title = "Grid world"
    shows = ("grid world",)
    aliases = ("maze", "gridworld", "frozen lake", "agent", "reinforcement learning", "toy")
    source = "Russell and Norvig, 1995"
    loader = "engine.data.sets.experience:load_grid_world"
    makes = "engine.layers.agents.grid_world:GridWorld"
    layout: str = argument(
        doc="a letter a cell, rows from above with / between: . free, # wall, S start, G goal, O pit; "
        "without S an episode begins anywhere"
    )
    slip: float = argument(minimum=0, maximum=1, doc="probability that a move goes to a side instead")
    step: float = argument(label="Reward of a move", doc="of each, below 0 where the way should be short")
    goal: float = argument(label="Reward of a goal", doc="beside that of the move")
    pit: float = argument(label="Reward of a pit", doc="beside that of the move")

    def actions(self) -> tuple[str, ...]:
        return ("up", "right", "down", "left")

    def state_shape(self) -> tuple[int, ...]:
        return (len(self.layout.replace("/", "")),)

    def emit(self, e: Emitter) -> Emitted:
        self._check()
        return super().emit(e)

    def world(self) -> tuple[Any, dict[str, Any]]:
        from engine.layers.agents.grid_world import GridWorld as Made

        self._check()
        return Made, self._options()

    def summary(self) -> str:
        rows = self.layout.split("/")
        return f"{len(rows)} × {len(rows[0])} cells · {self.rows:,} moves"

    def _check(self) -> None:
        """Errors: `ParamError` for a layout that is no grid in which an agent can begin and end."""
        rows = self.layout.split("/")
        wrong = next((letter for letter in "".join(rows) if letter not in LETTERS), None)
        if wrong is not None:
            raise ParamError(f"The layout has a {wrong!r}; its letters are . # S G and O.")
        if len({len(row) for row in rows}) != 1 or not rows[0]:
            raise ParamError("All rows of the layout have as many cells, and / stands between them.")
        if not set(self.layout) & set("S."):
            raise ParamError("The layout has no cell to begin in.", fix="Write S at one.")
        if len("".join(rows)) > MOST_CELLS:
            raise ParamError(f"The layout has at most {MOST_CELLS:,} cells.")


class CartPole(Played):
    """A pole on a cart: pushes to the left or to the right keep it from falling.

    The state is where the cart is, how fast, how far the pole leans and how fast. Each moment is worth 1.
    """

    title = "Cart-pole"
    aliases = ("inverted pendulum", "balance", "control", "agent", "reinforcement learning", "gym")
    source = "Barto, Sutton and Anderson, 1983"
    loader = "engine.data.sets.experience:load_cart_pole"
    makes = "engine.layers.agents.cart_pole:CartPole"

    def actions(self) -> tuple[str, ...]:
        return ("left", "right")

    def state_shape(self) -> tuple[int, ...]:
        return (4,)

    def world(self) -> tuple[Any, dict[str, Any]]:
        from engine.layers.agents.cart_pole import CartPole as Made

        return Made, self._options()

    def summary(self) -> str:
        return f"{plural(self.limit, 'moment')} at most · {self.rows:,} moves"


class Gymnasium(Played):
    """An environment of the package Gymnasium that is installed, by its id: numbers as state, a few actions.

    It runs an environment an agent, so a few agents are faster than many. What an episode has come to is kept
    as its seed and its actions, from which a run that goes on takes it up again.
    """

    aliases = ("gym", "openai", "farama", "atari", "lunar lander", "environment", "reinforcement learning")
    source = "Towers and others, 2024"
    loader = "engine.data.sets.experience:load_gymnasium"
    makes = "engine.layers.agents.gymnasium_worlds:GymnasiumWorlds"
    id: str = argument(doc="what Gymnasium calls it, such as CartPole-v1 or LunarLander-v3")
    size: int = argument(minimum=1, maximum=100_000, label="State", doc="how many numbers the agent sees")
    choices: int = argument(
        minimum=2, maximum=10_000, label="Actions", doc="how many the agent can choose from"
    )

    def actions(self) -> tuple[str, ...]:
        return tuple(f"action {number}" for number in range(self.choices))

    def state_shape(self) -> tuple[int, ...]:
        return (self.size,)

    def emit(self, e: Emitter) -> Emitted:
        self._check()
        return super().emit(e)

    def world(self) -> tuple[Any, dict[str, Any]]:
        from engine.layers.agents.gymnasium_worlds import GymnasiumWorlds as Made

        self._check()
        return Made, self._options()

    def agent_size(self) -> int:
        return super().agent_size() + 8 * self.limit  # the moves of its episode

    def summary(self) -> str:
        return f"{self.id} · {self.rows:,} moves"

    def _check(self) -> None:
        """Errors: `ParamError` for an id that would make Gymnasium import a module by name."""
        if not re.fullmatch(r"[\w./-]+", self.id):
            raise ParamError("An id of Gymnasium has letters, digits, dots, dashes and slashes only.")
