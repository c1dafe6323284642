"""Buttons for what an event of a run says would help: a smaller batch, another rate, patience."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from engine.edits import SetPlan
from engine.optimisers import OPTIMISERS
from engine.plan import Minimise, Plan

if TYPE_CHECKING:
    from app.workspace import Workspace
    from engine.run.feed import Event, Remedy

Answers = tuple[tuple[str, Callable[[], object]], ...]

_WORDS = {"batch": "batch", "lr": "learning rate", "patience": "patience"}


def mended(plan: Plan, remedy: Remedy, phase: int = 0) -> Plan | None:
    """The plan with the number that would help in its phase; None where it has no place for it."""
    what, value = remedy
    place = min(phase, len(plan.phases) - 1)
    found = plan.phases[place]
    if what == "batch":
        if found.batch is None:
            return replace(plan, batch=int(value))
        found = replace(found, batch=int(value))
    elif what == "patience":
        found = replace(found, stop=replace(found.stop, patience=int(value)))
    elif what == "lr":
        first = next((one for one in found.objectives if isinstance(one, Minimise)), None)
        if first is None or not _has_rate(first):
            return None
        calmer = replace(first, optimiser=first.optimiser.with_param("lr", value))
        found = replace(found, objectives=tuple(calmer if one is first else one for one in found.objectives))
    else:
        return None
    return replace(plan, phases=(*plan.phases[:place], found, *plan.phases[place + 1 :]))


def answers_to(workspace: Workspace, event: Event) -> Answers:
    """What a person may answer to an event: use the number, and train again where the run is over."""
    remedy = event.remedy
    if remedy is None or remedy[0] not in _WORDS or workspace.trainer is None:
        return ()
    phase = getattr(workspace.trainer.progress, "phase", 1) - 1
    if mended(workspace.document.project.plan, remedy, phase) is None:
        return ()
    words = f"{_WORDS[remedy[0]]} {remedy[1]:g}"
    use = partial(use_remedy, workspace, remedy, phase)
    again = partial(use, again=True)
    if event.kind == "error":
        return ((f"Train with {words}", again),)
    return ((f"Use {words}", use), ("Start over with it", again))


def use_remedy(workspace: Workspace, remedy: Remedy, phase: int, *, again: bool = False) -> None:
    """Puts the number into the plan, as one step that can be undone; `again` trains from the first weights.

    Without it a run that is under way goes on with it.
    """
    plan = mended(workspace.document.project.plan, remedy, phase)
    if plan is None:
        workspace.message.emit("The plan has changed meanwhile: set the value there.", "info")
        return
    label = f"Use {_WORDS[remedy[0]]} {remedy[1]:g}"
    if workspace.apply(label, SetPlan(plan)) and again:
        workspace.train()


def _has_rate(objective: Minimise) -> bool:
    found = OPTIMISERS.get(objective.optimiser.name)
    return found is not None and found.param_spec("lr") is not None
