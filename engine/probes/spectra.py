"""How many directions a layer's weights really use."""

from __future__ import annotations

import torch

from engine.probes.look import Look
from engine.probes.registry import Taken, probe_kind
from engine.run.feed import Probe

MOST_VALUES = 512


@probe_kind("singular_values", every=1.0)
def singular_values(look: Look, probe: Probe) -> Taken | None:
    """The singular values `(k,)` of the node's first weight seen as a matrix `(outputs, the rest)`, falling.

    `rank` is the effective rank exp(H) of the values as shares (Roy and Vetterli, 2007), at most 512 values.
    """
    weight = next((w for w in look.weights(probe.node_id).values() if w.dim() > 1), None)
    if weight is None:
        return None
    values = torch.linalg.svdvals(weight.detach().float().flatten(1))
    shares = values / values.sum().clamp_min(1e-12)
    rank = torch.exp(-(shares * shares.clamp_min(1e-12).log()).sum()).item()
    facts = {"shape": tuple(weight.shape), "rank": rank, "largest": values[0].item()}
    return values[:MOST_VALUES].cpu().numpy(), facts
