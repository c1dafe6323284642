"""The weights that a run began with."""

from __future__ import annotations

import torch
from torch import Tensor

from engine.devices import untouched_random
from engine.look.sight import Look

_MEMORY = "first weights"


def first_weights(look: Look) -> dict[str, tuple[Tensor, int]]:
    """Each parameter by its name in the model as training found it, and the step that was at.

    They are made again from the seed where the run is past its first step. A layer that was edited since
    counts from the first step at which it was seen. For kinds in the training thread only: it draws from
    torch's own generator, whose state it puts back.
    """
    known: dict[str, tuple[Tensor, int]] = look.memory.setdefault(_MEMORY, {})
    now = dict(look.model.named_parameters())
    if not known:
        found = now
        if look.step:
            with untouched_random(look.device):
                torch.manual_seed(look.seed)
                found = dict(look.program.make_model(look.device).named_parameters())
        known.update({name: (weight.detach().clone(), 0) for name, weight in found.items()})
    for name, weight in now.items():
        if name not in known or known[name][0].shape != weight.shape:
            known[name] = (weight.detach().clone(), look.step)
    return known


def first_of(look: Look, node_id: str) -> dict[str, tuple[Tensor, int]]:
    """The same for one node's layer, by the names that `look.weights` gives."""
    path = look.program.modules.get(node_id)
    if path is None:
        return {}
    known = first_weights(look)
    return {name: known[f"{path}.{name}"] for name in look.weights(node_id) if f"{path}.{name}" in known}
