"""What a plan may ask for: which optimisers, schedules and penalties go together, and which loop it needs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from engine.catalogue.training.adversaries import make_adversary
from engine.catalogue.training.averages import make_average
from engine.catalogue.training.changes import make_change
from engine.catalogue.training.explorations import make_exploration
from engine.catalogue.training.optimisers import OPTIMISERS, SCHEDULES, make_optimiser, make_schedule
from engine.catalogue.training.penalties import make_penalty
from engine.catalogue.training.stopping import stop_tests
from engine.document.plan import ChangeModel, Choice, Minimise, Phase, Plan, Rollout, Rule
from engine.errors import EmitError, ParamError

VALIDATION = "val_"  # the beginning of the names of values of the validation split


def check_plan(plan: Plan) -> None:
    """Errors: `EmitError` for a plan this version cannot carry out, `ParamError` for a bad value."""
    check_objective(plan.objective)
    if is_general(plan):
        _check_general(plan)


def is_general(plan: Plan) -> bool:
    """Whether a plan asks for more than the plain loop: players, phases, or an optimiser that asks back."""
    if not plan.supervised or plan.stop.monitor != "val_loss":
        return True
    optimiser, schedule = OPTIMISERS.get(plan.optimiser.name), SCHEDULES.get(plan.schedule.name)
    return bool(optimiser and optimiser.needs_closure) or bool(schedule and schedule.per_epoch)


def check_splits(plan: Plan, splits: Collection[str]) -> None:
    """Errors: `EmitError` for a plan that looks at validation values where the data have no such split."""
    found = [] if "validation" in splits else looking(plan)
    if found:
        raise EmitError(
            f"{found[0]}, but the data have no validation split.",
            fix="Give validation a fraction above 0, or turn that off in the plan.",
        )


def looking(plan: Plan) -> list[str]:
    """What in a plan looks at a value of the validation split, as the beginning of a sentence."""
    found: list[str] = []
    for phase in plan.phases:
        stop = phase.stop
        if stop.monitor.startswith(VALIDATION):
            found += ["Patience looks at a validation value"] if stop.patience is not None else []
            found += ["Restoring the best weights needs a validation value"] if stop.restore_best else []
        if any(key.startswith(VALIDATION) for key, _, _ in stop_tests(stop.also, lambda _: True)):
            found.append("A stop rule looks at a validation value")
        for one in phase.objectives:
            if isinstance(one, Minimise) and watches_validation(one.schedule):
                found.append("The schedule looks at a validation value")
    return found


def without_looking(plan: Plan) -> Plan:
    """The plan with all that looks at validation values turned off."""
    return replace(plan, phases=tuple(_blind(phase) for phase in plan.phases))


def _blind(phase: Phase) -> Phase:
    stop = phase.stop
    rules = [(rule, stop_tests((rule,), lambda _: True)) for rule in stop.also]
    kept = tuple(rule for rule, tests in rules if not any(key.startswith(VALIDATION) for key, _, _ in tests))
    if stop.monitor.startswith(VALIDATION):
        stop = replace(stop, patience=None, restore_best=False)
    objectives = tuple(
        replace(one, schedule=Choice("Constant"))
        if isinstance(one, Minimise) and watches_validation(one.schedule)
        else one
        for one in phase.objectives
    )
    return replace(phase, stop=replace(stop, also=kept), objectives=objectives)


def watches_validation(schedule: Choice) -> bool:
    """Whether a schedule goes by a value of the validation split."""
    made = make_schedule(schedule)
    return made.per_epoch and str(getattr(made, "monitor", "val_loss")).startswith(VALIDATION)


def check_objective(objective: Minimise, weights: int = 0) -> None:
    """Raise ParamError where optimiser, schedule, penalties and layer rates hold bad values or don't fit.

    `weights` is how many numbers the objective trains, 0 where that isn't known.
    """
    chosen = make_optimiser(objective.optimiser)
    make_schedule(objective.schedule)
    for penalty in objective.penalties:
        make_penalty(penalty)
    if chosen.one_vector and any(factor != 1 for factor in objective.rates.values()):
        raise ParamError(
            f"{chosen.title} moves all weights as one: single layers can't have rates of their own.",
            fix="Choose another optimiser, or remove the layers' rates.",
        )
    if any(factor < 0 for factor in objective.rates.values()) and not chosen.climbs:
        raise ParamError(
            f"With {chosen.title} no layer can climb the loss: a layer's rate is 0 or more.",
            fix="Choose Extragradient.",
        )
    if chosen.most_weights is not None and weights > chosen.most_weights:
        raise ParamError(
            f"{chosen.title} keeps a matrix of weights by weights: {weights:,} weights are too many for it, "
            f"{chosen.most_weights:,} are the most.",
            fix="Choose L-BFGS or Conjugate gradient.",
        )


def _check_general(plan: Plan) -> None:
    """Check what only a general plan may ask for. Errors: `EmitError`, `ParamError`."""
    asking = [found for step in plan.minimised if (found := make_optimiser(step.optimiser)).closure]
    other = next((found for found in asking if found.closure != asking[0].closure), None)
    if other is not None:
        raise EmitError(
            f"{asking[0].title} and {other.title} ask for losses in different ways; a plan can have one way.",
            fix="Let one be of the other's kind, or one that takes gradients as they come, such as Adam.",
        )
    for phase in plan.phases:
        stop_tests(phase.stop.also, lambda _: True)
        for one in phase.objectives:
            if isinstance(one, Rollout):
                make_exploration(one.exploration)
            if isinstance(one, Rule):
                continue
            if isinstance(one, ChangeModel):
                make_change(one.change)
                continue
            if one.adversary is not None:
                make_adversary(one.adversary)
            check_objective(one)
            chosen = make_optimiser(one.optimiser)
            if chosen.closure and (one.accumulate > 1 or one.clip is not None or one.noise):
                raise EmitError(
                    f"{chosen.title} looks at the loss several times a step: gradients cannot be added up, "
                    "clipped or made noisy."
                )
            if chosen.joint and len(phase.objectives) > 1:
                raise EmitError(f"{chosen.title} trains phases of one objective in this version.")
            if one.average is not None:
                make_average(one.average)
