"""Optimisers and learning-rate schedules, declared as node types are: typed fields with their help."""

from __future__ import annotations

from engine.catalogue.training.choosable import Choosable, chosen
from engine.catalogue.training.first_order import (
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
from engine.catalogue.training.optimiser_base import Optimiser
from engine.catalogue.training.samplers import SAMPLERS
from engine.catalogue.training.schedules import SCHEDULES, Schedule, make_schedule
from engine.catalogue.training.second_order import (
    BFGS,
    LBFGS,
    ConjugateGradient,
    LevenbergMarquardt,
    LineSearch,
    Newton,
)
from engine.document.plan import Choice

__all__ = [
    "OPTIMISERS",
    "SAMPLERS",
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
    """Return the optimiser or the sampler a plan names, its values checked. Raises ParamError."""
    return chosen(choice, {**OPTIMISERS, **SAMPLERS}, "optimiser")
