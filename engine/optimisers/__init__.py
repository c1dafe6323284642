"""Optimisers and learning-rate schedules, declared as node types are: typed fields with their help."""

from __future__ import annotations

from engine.choosable import Choosable, chosen
from engine.optimisers.base import Optimiser
from engine.optimisers.curved import BFGS, LBFGS, ConjugateGradient, LevenbergMarquardt, LineSearch, Newton
from engine.optimisers.first_order import (
    SGD,
    Adadelta,
    Adagrad,
    Adam,
    AdamW,
    Extragradient,
    GradientDescent,
    HeavyBall,
    Nesterov,
    RMSprop,
)
from engine.plan import Choice
from engine.schedules import SCHEDULES, Schedule, make_schedule

__all__ = [
    "OPTIMISERS",
    "SCHEDULES",
    "Choosable",
    "Optimiser",
    "Schedule",
    "make_optimiser",
    "make_schedule",
]

_ALL: tuple[type[Optimiser], ...] = (
    *(SGD, Adam, AdamW, RMSprop, Adagrad, Adadelta),
    *(GradientDescent, HeavyBall, Nesterov, Extragradient),
    *(LineSearch, ConjugateGradient, LBFGS, BFGS, Newton, LevenbergMarquardt),
)
OPTIMISERS: dict[str, type[Optimiser]] = {found.__name__: found for found in _ALL}


def make_optimiser(choice: Choice) -> Optimiser:
    """Return the optimiser a plan names, its values checked. Raises ParamError."""
    return chosen(choice, OPTIMISERS, "optimiser")
