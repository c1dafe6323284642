"""Episodes of an agent that has learned, move by move."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from engine.catalogue import Environment
from engine.catalogue import Layer as LayerType
from engine.catalogue.params import param
from engine.document.plan import Rollout
from engine.procedures.declare import Bound, Function, Layer, Net, Procedure


def played(
    replay: Any,
    scores: Callable[[Tensor], Tensor],
    *,
    draws: torch.Generator,
    moves: int,
    explore: float,
) -> Iterator[dict[str, Any]]:
    """One episode of one agent, which takes the best action, or any with the probability `explore`.

    Each move yields the state before it, what the actions are worth there, which was taken and what it
    earned, and what the episode has earned so far. The last one says how it ended.
    """
    world = replay.make(1, **replay.options).to(replay.now.device)
    state, _ = world.reset(seed=int(torch.randint(2**31, (), generator=draws)))
    earned = 0.0
    for move in range(1, moves + 1):
        values = scores(state)[0]
        action = int(values.argmax())
        if float(torch.rand((), generator=draws)) < explore:
            action = int(torch.randint(len(world.actions), (), generator=draws))
        after, reward, ended, cut_off, _ = world.step(torch.full((1,), action, device=state.device))
        earned += float(reward)
        yield {
            "step": move,
            "action": world.actions[action],
            "reward": float(reward),
            "return": earned,
            "end": "ended" if ended else "cut off" if cut_off else "",
            "values": values,
            "state": state[0],
        }
        if ended or cut_off:
            return
        state = after


class Play(Procedure):
    """Plays an episode by the best actions, move by move, and says what each is worth and earns."""

    title = "Play an episode"
    loop = staticmethod(played)
    shows = ("values",)
    examples = False
    moves: int = param(200, minimum=1, maximum=1_000_000, doc="the most that are made")
    explore: float = param(
        0.0, minimum=0, maximum=1, label="Exploration", doc="probability of a random action"
    )

    @classmethod
    def bind(cls, net: Net) -> Iterator[Bound]:
        steps = [one for one in net.project.plan.objectives if isinstance(one, Rollout)]
        for node, step in {one.node: one for one in steps}.items():
            world, policy = net.book.types.get(node), net.book.types.get(step.policy)
            if isinstance(world, Environment) and isinstance(policy, LayerType):
                scores = (step.policy, policy.outputs()[0].name)
                state = (node, world.outputs()[0].name)
                yield Bound(node, {"replay": Layer(node), "scores": Function(scores, state)})
