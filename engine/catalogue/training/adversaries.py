"""Adversaries that a plan may set on an objective: it lowers the loss on the worst inputs near the data."""

from __future__ import annotations

from engine.catalogue.params import param
from engine.catalogue.training.choosable import Choosable, chosen
from engine.document.plan import Choice


class Adversary(Choosable):
    """Moves the inputs of each batch within a reach so that the loss grows, before the weights are moved."""


class PGD(Adversary):
    """Projected gradient ascent on the input: each number moves by at most ε.

    Source: Madry et al. 2018; one step of ε: the fast gradient sign method (Goodfellow et al. 2015).
    """

    title = "Projected gradient"
    formula = "x ← within ε of x₀ (x + α sign ∇ₓ L)"
    reach: float = param(0.1, above=0, label="ε", doc="how far each number of the input may move")
    steps: int = param(7, minimum=1, maximum=1000, doc="steps of the search")
    rate: float = param(0.025, above=0, label="α", doc="how far one step goes")
    low: float = param(0.0, label="Lowest", doc="the least value that an input may have")
    high: float = param(1.0, label="Highest", doc="the largest value that an input may have")


ADVERSARIES: dict[str, type[Adversary]] = {found.__name__: found for found in (PGD,)}


def make_adversary(choice: Choice) -> Adversary:
    """Return the adversary a plan names, its values checked. Raises ParamError."""
    return chosen(choice, ADVERSARIES, "adversary")
