"""Averages of the weights over steps, which often generalise better than the last weights."""

from __future__ import annotations

from engine.catalogue.params import param
from engine.catalogue.training.choosable import Choosable, chosen
from engine.document.plan import Choice


class Average(Choosable):
    """An average of the weights, used in their place for validation and at the end."""


class EMA(Average):
    """Follows the weights with a delay: each step counts a little less than the one after it.

    Source: Kingma & Ba 2015 (temporal averaging).
    """

    title = "Moving average"
    formula = "θ̄ ← d θ̄ + (1 − d) θ"
    decay: float = param(0.999, minimum=0, below=1, doc="part of the average that is kept at each step")


class SWA(Average):
    """The plain mean of the weights after each epoch from some epoch on: the middle of a flat valley.

    Source: Izmailov et al. 2018. It begins with the epoch `start`, counted from 0.
    """

    title = "Plain average"
    formula = "θ̄ ← θ̄ + (θ − θ̄) / (n + 1)"
    start: int = param(0, minimum=0, unit="epochs", label="From epoch", doc="epochs before averaging begins")


AVERAGES: dict[str, type[Average]] = {found.__name__: found for found in (EMA, SWA)}


def make_average(choice: Choice) -> Average:
    """Return the average a plan names, its values checked. Raises ParamError."""
    return chosen(choice, AVERAGES, "average")
