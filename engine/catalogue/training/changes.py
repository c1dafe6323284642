"""Changes of the model that a plan may make when a phase begins."""

from __future__ import annotations

from typing import ClassVar

from engine.catalogue.params import param
from engine.catalogue.training.choosable import Choosable, chosen
from engine.document.plan import Choice


class ModelChange(Choosable):
    """A change of some layers; `makes` is the dotted name of the class that makes and holds it."""

    makes: ClassVar[str] = ""


class Prune(ModelChange):
    """Cuts the smallest weights: they become zero and stay so while the phase trains the others.

    Source: Han et al. 2015; in rounds: Frankle and Carbin 2019.
    """

    makes = "engine.optim.prune.Prune"
    formula = "w ← 0 where |w| is among the smallest"
    fraction: float = param(0.2, minimum=0, below=1, doc="of the layers' weights that are zero afterwards")


CHANGES: dict[str, type[ModelChange]] = {found.__name__: found for found in (Prune,)}


def make_change(choice: Choice) -> ModelChange:
    """Return the change a plan names, its values checked. Raises ParamError."""
    return chosen(choice, CHANGES, "change of the model")
