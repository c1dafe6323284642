"""One number of a plan by name: what a remedy sets, and what a sweep tries."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from engine.catalogue.params import ParamSpec
from engine.catalogue.training.explorations import make_exploration
from engine.catalogue.training.optimisers import OPTIMISERS, make_optimiser
from engine.document.plan import Minimise, Plan, Rollout
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
    "moves": "moves a batch",
    "agents": "agents",
    "memory": "replay size",
    "exploration_first": "random actions at first",
    "exploration_last": "random actions in the end",
    "exploration_turns": "batches of exploration",
    "exploration_half_life": "half-life of exploration",
}
OF_ROLLOUT = ("moves", "agents", "memory")
OF_EXPLORATION = "exploration_"  # before the name of a parameter


def with_number(plan: Plan, name: str, value: float, phase: int = 0) -> Plan | None:
    """The plan with "batch", "patience", "seed" or a number of a phase's optimiser or rollout set.

    The optimiser is that of the first gradient objective of the phase, the rollout the first of the plan;
    others in its environment get as many agents and as large a memory. None where the plan has no place for
    the number. Errors: `GraphError` or `ParamError` for a value out of range.
    """
    if not is_number(value):
        raise GraphError(f"The {WORDS.get(name, name)} is a finite number, not {shown(value)}.")
    if _of_rollout(name):
        return _with_rollout(plan, name, value)
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
    if _of_rollout(name):
        return _number_of_rollout(plan, name)
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


def _of_rollout(name: str) -> bool:
    return name in OF_ROLLOUT or name.startswith(OF_EXPLORATION)


def _rollout(plan: Plan) -> Rollout | None:
    return next((one for one in plan.objectives if isinstance(one, Rollout)), None)


def _number_of_rollout(plan: Plan, name: str) -> float | None:
    """A number of the plan's first rollout, or of its way to explore, as it is now."""
    first = _rollout(plan)
    if first is None:
        return None
    found = first if name in OF_ROLLOUT else make_exploration(first.exploration)
    value = getattr(found, name.removeprefix(OF_EXPLORATION), None)
    return float(value) if isinstance(value, (int, float)) else None


def _with_rollout(plan: Plan, name: str, value: float) -> Plan | None:
    """The plan with a number of its first rollout set."""
    first = _rollout(plan)
    if first is None or _number_of_rollout(plan, name) is None:
        return None
    if name not in OF_ROLLOUT:
        own = name.removeprefix(OF_EXPLORATION)
        spec = type(make_exploration(first.exploration)).param_spec(own)
        whole = spec is not None and spec.kind == "int" and value == int(value)
        exploration = first.exploration.with_param(own, int(value) if whole else value)
        make_exploration(exploration)
        changed = [(first, replace(first, exploration=exploration))]
    elif value != int(value):
        raise GraphError(f"The {WORDS[name]} is a whole number, not {value:g}.")
    else:
        alike = [one for one in plan.objectives if isinstance(one, Rollout) and one.node == first.node]
        alike = [first] if name == "moves" else alike
        values: dict[str, Any] = {name: int(value)}
        changed = [(one, replace(one, **values)) for one in alike]
    phases = []
    for phase in plan.phases:
        steps = (next((new for old, new in changed if old is one), one) for one in phase.objectives)
        phases.append(replace(phase, objectives=tuple(steps)))
    return replace(plan, phases=tuple(phases))


def _first(plan: Plan, place: int) -> Minimise | None:
    return next((one for one in plan.phases[place].objectives if isinstance(one, Minimise)), None)


def _spec(objective: Minimise, name: str) -> ParamSpec | None:
    found = OPTIMISERS.get(objective.optimiser.name)
    return None if found is None else found.param_spec(name)
