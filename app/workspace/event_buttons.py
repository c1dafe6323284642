"""Buttons for what an event of a run says would help: a smaller batch, another rate, patience."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from engine.catalogue.training.numbers import WORDS, with_number
from engine.document.edits import SetPlan
from engine.document.plan import Plan
from engine.errors import NeuroloomError

if TYPE_CHECKING:
    from app.workspace.open_document import TrainableDocument
    from engine.feed.feed import Event, Remedy
    from engine.shapes.problems import Fix

Answers = tuple[tuple[str, Callable[[], object]], ...]


def fixed(plan: Plan, remedy: Remedy, phase: int = 0) -> Plan | None:
    """The plan with the number that would help in its phase; None where it has no place for it."""
    try:
        return with_number(plan, *remedy, phase)
    except NeuroloomError:
        return None


def answers_to(workspace: TrainableDocument, event: Event) -> Answers:
    """What the user may answer to an event: use the number, and train again where the run is over."""
    remedy = event.remedy
    if remedy is None and event.kind == "error":
        return _first_network(workspace)
    if remedy is None or workspace.trainer is None:
        return ()
    phase = workspace.trainer.progress.phase - 1
    if fixed(workspace.document.project.plan, remedy, phase) is None:
        return ()
    words = f"{WORDS.get(remedy[0], remedy[0])} {remedy[1]:g}"
    use = partial(use_remedy, workspace, remedy, phase)
    again = partial(use, again=True)
    if event.kind == "error":
        return ((f"Train with {words}", again),)
    return ((f"Use {words}", use), ("Start over with it", again))


def _first_network(workspace: TrainableDocument) -> Answers:
    """Where nothing could be trained as no layer reads the data: draw some, and train them."""
    problems = workspace.shapes.problems if workspace.shapes is not None else ()
    fixes = [one.fix for one in problems if one.code == "no-layer" and one.fix is not None]
    return ((f"{fixes[0].label} and train", partial(_draw, workspace, fixes[0])),) if fixes else ()


def _draw(workspace: TrainableDocument, fix: Fix) -> None:
    if use_fix(workspace, fix):
        workspace.train()


def use_fix(workspace: TrainableDocument, fix: Fix) -> bool:
    """Makes the step that a fix proposes; False where that cannot be, with a message."""
    try:
        edits = fix.edits(workspace.document.project)
    except NeuroloomError as error:
        workspace.message.emit(error.message, "error")
        return False
    done = workspace.apply(fix.label, *edits)
    if done and fix.spreads:
        workspace.framed.emit()
    return done


def use_remedy(workspace: TrainableDocument, remedy: Remedy, phase: int, *, again: bool = False) -> None:
    """Puts the number into the plan, as one step that can be undone; `again` trains from the first weights.

    Without it a run that is under way goes on with it.
    """
    plan = fixed(workspace.document.project.plan, remedy, phase)
    if plan is None:
        workspace.message.emit("The plan has changed meanwhile: set the value there.", "info")
        return
    label = f"Use {WORDS.get(remedy[0], remedy[0])} {remedy[1]:g}"
    if workspace.apply(label, SetPlan(plan)) and again:
        workspace.train(again=True)
