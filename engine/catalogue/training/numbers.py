"""One number of a plan by name: what a remedy sets, and what a sweep tries."""

from __future__ import annotations

from dataclasses import replace

from engine.catalogue.params import ParamSpec
from engine.catalogue.training.optimisers import OPTIMISERS, make_optimiser
from engine.document.plan import Minimise, Plan
from engine.errors import GraphError
from engine.values import is_number, shown

BATCH, PATIENCE, SEED = "batch", "patience", "seed"
WORDS = {
    "lr": "learning rate",
    BATCH: "batch",
    PATIENCE: "patience",
    SEED: "seed",
    "weight_decay": "weight decay",
    "momentum": "momentum",
}


def with_number(plan: Plan, name: str, value: float, phase: int = 0) -> Plan | None:
    """The plan with "batch", "patience", "seed" or a number of a phase's optimiser set.

    The optimiser is that of the first gradient objective of the phase. None where the plan has no place for
    the number. Errors: `GraphError` for a value out of range.
    """
    if not is_number(value):
        raise GraphError(f"The {WORDS.get(name, name)} is a finite number, not {shown(value)}.")
    place = min(phase, len(plan.phases) - 1)
    found = plan.phases[place]
    if name in (BATCH, PATIENCE, SEED) and value != int(value):
        raise GraphError(f"The {WORDS[name]} is a whole number, not {value:g}.")
    if name == SEED:
        return replace(plan, seed=int(value))
    if name == BATCH and found.batch is None:
        return replace(plan, batch=int(value))
    if name == BATCH:
        found = replace(found, batch=int(value))
    elif name == PATIENCE:
        found = replace(found, stop=replace(found.stop, patience=int(value)))
    else:
        first = _first(plan, place)
        if first is None or _spec(first, name) is None:
            return None
        changed = replace(first, optimiser=first.optimiser.with_param(name, value))
        make_optimiser(changed.optimiser)
        found = replace(found, objectives=tuple(changed if one is first else one for one in found.objectives))
    return replace(plan, phases=(*plan.phases[:place], found, *plan.phases[place + 1 :]))


def number_of(plan: Plan, name: str, phase: int = 0) -> float | None:
    """The number as the plan has it now, None where it has no place for it."""
    place = min(phase, len(plan.phases) - 1)
    found = plan.phases[place]
    if name == SEED:
        return plan.seed
    if name == BATCH:
        return plan.batch_of(found)
    if name == PATIENCE:
        return found.stop.patience
    first = _first(plan, place)
    spec = None if first is None else _spec(first, name)
    if first is None or spec is None:
        return None
    value = first.optimiser.params.get(name, spec.default)
    return float(value) if isinstance(value, (int, float)) else None


def _first(plan: Plan, place: int) -> Minimise | None:
    return next((one for one in plan.phases[place].objectives if isinstance(one, Minimise)), None)


def _spec(objective: Minimise, name: str) -> ParamSpec | None:
    found = OPTIMISERS.get(objective.optimiser.name)
    return None if found is None else found.param_spec(name)
