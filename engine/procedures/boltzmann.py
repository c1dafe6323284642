"""Gibbs sampling between two layers of binary units."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from engine.catalogue.params import param
from engine.procedures.declare import Bound, Layer, Net, Procedure, Value


def gibbs_states(
    hidden_of: Callable[[Tensor], Tensor],
    visible_of: Callable[[Tensor], Tensor],
    start: Tensor,
    rounds: int,
    draws: torch.Generator,
    held: Tensor | None = None,
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Rounds of h ~ p(h | v), v ~ p(v | h) from `start` (N, visible): (probabilities, v, h) of each.

    `hidden_of` and `visible_of` give probabilities. The start comes first; h was drawn from the v beside it.
    Units where `held` (visible,) is true keep the values of the start: the others are filled in given them.
    The first hidden states come from the whole start, so what is to be filled in must be emptied there
    (`emptied`). Source: Hinton 2002.
    """
    states = start
    hidden = drawn_bits(hidden_of(states), draws)
    yield start, states, hidden
    for _ in range(rounds):
        visible = visible_of(hidden)
        states = drawn_bits(visible, draws)
        if held is not None:
            visible, states = torch.where(held, start, visible), torch.where(held, start, states)
        hidden = drawn_bits(hidden_of(states), draws)
        yield visible, states, hidden


def emptied(start: Tensor, held: Tensor, draws: torch.Generator | None = None) -> Tensor:
    """`start` (N, visible) without the values of units that are not `held` (visible,).

    They are 0, or 0 and 1 with equal probability where a generator draws them.
    """
    rest = torch.zeros_like(start)
    return torch.where(held, start, rest if draws is None else drawn_bits(rest + 0.5, draws))


def drawn_bits(probabilities: Tensor, draws: torch.Generator) -> Tensor:
    """0 or 1 by probability; the generator is on the CPU, so that every device draws the same."""
    return torch.bernoulli(probabilities.cpu(), generator=draws).to(probabilities)


def gibbs_chain(
    layer: Any, start: Tensor, *, draws: torch.Generator, rounds: int, held: int, rest: str
) -> Iterator[dict[str, Any]]:
    """A chain from each row of `start` (N, visible), of which the first `held` units are kept."""
    start = start.flatten(1).clamp(0, 1)
    known = torch.arange(start.shape[1], device=start.device) < held
    if held:
        start = emptied(start, known, draws if rest == "random" else None)
    chain = gibbs_states(layer.hidden_of, layer.visible_of, start, rounds, draws, known if held else None)
    for step, (visible, states, hidden) in enumerate(chain):
        yield {"step": step, "visible": visible, "state": states, "hidden": hidden}


class Gibbs(Procedure):
    """Draws hidden units given the visible ones and visible ones given the hidden, in turn."""

    title = "Gibbs sampling"
    loop = staticmethod(gibbs_chain)
    shows = ("visible",)
    rounds: int = param(20, minimum=1, maximum=1_000_000, doc="how often both layers are drawn")
    held: int = param(0, minimum=0, doc="so many visible units, from the first, keep the example's values")
    rest: str = param(
        "blank", choices=("blank", "random"), doc="how units begin that are not held, where some are"
    )

    @classmethod
    def bind(cls, net: Net) -> Iterator[Bound]:
        for one in net.showing("gibbs"):
            wire = net.arriving(one)
            if wire is not None:
                yield Bound(one, {"layer": Layer(one), "start": Value(wire)})
