"""What an agent in a grid world believes each cell to be worth, and where it would go from there."""

from __future__ import annotations

import torch

from engine.catalogue import Environment
from engine.document.plan import Rollout
from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look.asking import array
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look


@probe_kind("grid_values")
def grid_values(look: Look, probe: Probe) -> Taken:
    """The values of the actions in every cell of a grid world, (rows, columns, actions).

    `layout` are the letters of its rows, `actions` what the actions are called, `agents` how many agents are
    in each cell now, (rows, columns).
    """
    steps = [one for one in look.program.plan.objectives if isinstance(one, Rollout)]
    step = next((one for one in steps if one.node == probe.node_id), None)
    replay = look.module(probe.node_id)
    if step is None or replay is None:
        raise NeuroloomError(
            "No agent acts here: the plan has no rollout in this environment.", node_id=probe.node_id
        )
    data = look.program.book.types[probe.node_id]
    assert isinstance(data, Environment)
    world, state = replay.world, data.outputs()[0].name
    assert isinstance(world, torch.nn.Module) and isinstance(world.states, torch.Tensor)
    values = look.value(step.policy, look.batch_with(state, world.states))
    if values is None:
        raise NeuroloomError("Nothing in this plan computes the scores of the policy.", node_id=step.policy)
    rows = str(getattr(data, "layout", "")).split("/")
    size = (len(rows), len(rows[0]))
    assert isinstance(world.place, torch.Tensor)
    agents = torch.bincount(world.place, minlength=size[0] * size[1]).reshape(size)
    facts = {"layout": rows, "actions": data.actions(), "agents": agents.cpu().numpy()}
    return array(values).reshape(*size, -1), facts
