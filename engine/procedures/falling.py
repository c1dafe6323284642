"""States that fall: an associative memory recalls from a disturbed start."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from engine.catalogue.params import param
from engine.procedures.declare import Bound, Layer, Net, Procedure, Value


def fall(step: Callable[[Tensor], Tensor], start: Tensor, steps: int) -> Iterator[Tensor]:
    """`start` (N, units), then the states that follow it."""
    yield start
    for _ in range(steps):
        start = step(start)
        yield start


def recalled(
    layer: Any, start: Tensor, *, draws: torch.Generator, steps: int, turned: float
) -> Iterator[dict[str, Any]]:
    """States (N, units) from `start`, some of whose signs are turned first, with their energies (N,)."""
    start = start.flatten(1)
    flips = torch.rand(start.shape, generator=draws).to(start.device) < turned
    before = start = torch.where(flips, -start, start)
    for step, state in enumerate(fall(layer.step, start, steps)):
        moved = (state - before).abs().amax(1)
        energy = layer.energy(state).reshape(len(state))
        yield {"step": step, "state": state, "energy": energy, "moved": moved}
        before = state


class Recall(Procedure):
    """Lets the state of an associative memory fall from each example towards a stored pattern."""

    title = "Recall"
    loop = staticmethod(recalled)
    steps: int = param(20, minimum=1, maximum=100_000, doc="how often the state is renewed")
    turned: float = param(
        0.0, minimum=0, maximum=1, doc="fraction of the units whose sign is turned round at the start"
    )

    @classmethod
    def bind(cls, net: Net) -> Iterator[Bound]:
        for one in net.showing("energy"):
            wire = net.arriving(one)
            if wire is not None:
                yield Bound(one, {"layer": Layer(one), "start": Value(wire)})
