"""What an agent acts in, as a node type."""

from __future__ import annotations

from math import prod
from typing import Any

from engine.catalogue.node_types import Data
from engine.catalogue.wires import Column


class Environment(Data, abstract=True):
    """What an agent acts in: a step gives the next state, a reward, and whether the episode is over.

    Its data are transitions of an agent that acts at random: `state`, `action`, `reward`, `next_state` and
    `end`. The step `Rollout` of a plan puts those of an agent that learns in their place.
    """

    family = "environments"

    def actions(self) -> tuple[str, ...]:
        """What an agent can do, by name."""
        raise NotImplementedError

    def state_shape(self) -> tuple[int, ...]:
        """The sizes of a state."""
        raise NotImplementedError

    def columns(self) -> tuple[Column, ...]:
        shape = self.state_shape()
        return (
            Column("state", shape, doc="what the agent sees"),
            Column("action", (), "int64", self.actions(), doc="what it does then"),
            Column("reward", (1,), doc="what that earns at once"),
            Column("next_state", shape, doc="what it sees afterwards"),
            Column("end", (1,), yes_no=True, doc="1 where nothing follows, else 0"),
        )

    def agent_size(self) -> int:
        """How many bytes an agent in it takes: what it sees twice, a time and a sum, as a rule."""
        return 8 * prod(self.state_shape()) + 16

    def world(self) -> tuple[Any, dict[str, Any]]:
        """The class of ours that such environments are of, side by side, and its options by name."""
        raise NotImplementedError
