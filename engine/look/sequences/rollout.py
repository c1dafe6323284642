"""Attention through all layers at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor

from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look.registry import Taken, probe_kind
from engine.look.sequences.attention import MOST_NUMBERS, attentions, on_image
from engine.look.sight import Look


def rolled_out(layers: Sequence[Tensor]) -> Tensor:
    """How much of each step (T, T) reaches each through the first layers, for every depth: (layers, T, T).

    Of each layer (heads, T, T) the mean of the heads counts, and half of the way is the skip connection:
    R ← (A + I) / 2 · R. Source: Abnar and Zuidema, 2020.
    """
    steps = layers[0].shape[-1]
    reached, found = torch.eye(steps, device=layers[0].device), []
    for weights in layers:
        reached = (weights.mean(0) + torch.eye(steps, device=weights.device)) / 2 @ reached
        found.append(reached)
    return torch.stack(found)


@probe_kind("attention_rollout", every=1.0)
def attention_rollout(look: Look, probe: Probe) -> Taken | None:
    """The rollout `(layers, queries, keys)` of the pinned example to a node and through all before it.

    Layers whose steps read others than their own sequence, or another number of steps, are left out. Steps
    that are patches have the facts of `on_image`. Errors: `NeuroloomError` where it would be too large.
    """
    graph = look.program.project.graph
    at = look.program.project.standing(probe.node_id)
    reached = {one for here in at for one in (here, *graph.ancestors(here))}
    layers = {
        path: one
        for node_id in graph.order()
        if node_id in reached
        for path, one in look.repeats(node_id).items()
    }
    found = attentions(layers, partial(look.values, (), look.batch(look.example, 1)))
    own = {id(part) for one in look.repeats(probe.node_id).values() for part in one.modules()}
    last = max((number for number, one in enumerate(found) if id(one.layer) in own), default=-1)
    steps = found[last].weights.shape[-1] if found else 0
    square = [
        one.weights for one in found[: last + 1] if one.itself and one.weights.shape[1:] == (steps, steps)
    ]
    if not square:
        raise NeuroloomError("No steps here read their own sequence.", node_id=probe.node_id)
    if len(square) * steps**2 > MOST_NUMBERS:
        raise NeuroloomError(f"A rollout over {steps:,} steps is too large to show.", node_id=probe.node_id)
    facts = {"example": look.example, "split": look.split, **on_image(look, probe.node_id)}
    return rolled_out(square).cpu().numpy(), facts
