"""The weights of a layer as kernels and as a histogram, their gradients, and how far an update moves them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from engine.feed.feed import Probe
from engine.look import reduce
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look


@probe_kind("filters", every=0.25, group="weights", quiet=True)
def filters(look: Look, probe: Probe) -> Taken | None:
    """The first weight of a layer as kernels."""
    weights = list(look.weights(probe.node_id).values())
    return reduce.kernels(weights[0]) if weights else None


@probe_kind("weights", every=0.25, group="weights", quiet=True)
def weights(look: Look, probe: Probe) -> Taken | None:
    """A histogram of all weights of a layer."""
    found = list(look.weights(probe.node_id).values())
    return reduce.histogram(found) if found else None


@probe_kind("gradients", every=0.25, group="backward", backward=True, quiet=True)
def gradients(look: Look, probe: Probe) -> Taken | None:
    """A histogram of the gradients of a layer as backward left them."""
    found = [one.grad for one in look.weights(probe.node_id).values() if one.grad is not None]
    return reduce.histogram(found) if found else None


@probe_kind("norms", every=0.25, group="backward", backward=True, quiet=True)
def norms(look: Look, probe: Probe) -> Callable[[], Taken]:
    """For each layer the norms of gradient, weight and update `(layers, 3)`, when the update is done."""
    layers = {node: list(look.weights(node).values()) for node in look.program.modules}
    layers = {node: group for node, group in layers.items() if group}
    slopes = reduce.norms({n: [w.grad for w in group if w.grad is not None] for n, group in layers.items()})
    before = {node: [weight.detach().clone() for weight in group] for node, group in layers.items()}

    def measure() -> Taken:
        with torch.no_grad():
            moved = {
                node: [weight - old for weight, old in zip(layers[node], group, strict=True)]
                for node, group in before.items()
            }
            sizes, steps = reduce.norms(layers), reduce.norms(moved)
        array = np.array([slopes, sizes, steps], np.float64).T.reshape(-1, 3)
        return array, {"nodes": tuple(layers), "columns": ("gradient", "weight", "update")}

    return measure
