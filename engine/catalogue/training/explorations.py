"""How often an agent acts at random while it learns."""

from __future__ import annotations

from typing import ClassVar

from engine.catalogue.params import param
from engine.catalogue.training.choosable import Choosable, chosen
from engine.document.plan import Choice


class Exploration(Choosable):
    """The probability of a random action by the turn; `makes` is the dotted name of what gives it."""

    makes: ClassVar[str] = ""
    first: float = param(1.0, minimum=0, maximum=1, label="At first", doc="probability of a random action")
    last: float = param(0.05, minimum=0, maximum=1, label="In the end", doc="probability that is left")


class LinearExploration(Exploration):
    """The probability of a random action falls by the same each turn. Source: Mnih et al. 2015."""

    title = "Linear decay"
    makes = "engine.optim.rollout.LinearExploration"
    formula = "ε from first to last over so many turns, then last"
    turns: int = param(1000, minimum=1, label="Turns", doc="batches until it is at its end")


class ExponentialExploration(Exploration):
    """The probability of a random action is halved again and again."""

    title = "Exponential decay"
    makes = "engine.optim.rollout.ExponentialExploration"
    formula = "ε = max(last, first · ½^(turn / half-life))"
    half_life: int = param(300, minimum=1, label="Half-life", doc="batches in which it is halved")


EXPLORATIONS: dict[str, type[Exploration]] = {
    found.__name__: found for found in (LinearExploration, ExponentialExploration)
}


def make_exploration(choice: Choice) -> Exploration:
    """Return the exploration a plan names, its values checked. Raises ParamError."""
    return chosen(choice, EXPLORATIONS, "way to explore")
