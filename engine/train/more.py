"""Lets a run that has ended go on: its weights and optimisers stay, its schedules reach further."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engine.errors import TrainingError
from engine.runs.settings import Settings, Stage
from engine.train.rebuild import rebuild

if TYPE_CHECKING:
    from engine.document.plan import Plan
    from engine.train.loop import Run
    from engine.train.overrides import Overrides


def further(run: Run, overrides: Overrides, plan: Plan) -> Overrides:
    """Overrides that leave a run epochs to train: those of its plan that are left, if these are many.

    Otherwise as many as it was to have come on top.
    """
    last = overrides.epochs or plan.phases[-1].stop.epochs
    done = run.phases.epochs
    left = last + overrides.more - done
    return overrides if 2 * left >= last else replace(overrides, more=overrides.more + max(0, -left) + last)


def go_further(run: Run, overrides: Overrides, plan: Plan) -> tuple[Overrides, str]:
    """Let a run that is done train more; returns what it is told now, and a sentence on what that does."""
    overrides = further(run, overrides, plan)
    return overrides, train_more(run, overrides.settings(plan, run.settings.device))


def train_more(run: Run, settings: Settings) -> str:
    """Put a run that is done back to training, up to the epochs of `settings`; says what that does.

    A schedule is drawn out over all epochs, so that it ends where the run does. Patience
    is counted from here on.
    """
    rate, data = run.learning_rate, run.data
    run.stage, run.waited, run.results = Stage.TRAIN, 0, {}
    rebuild(run, run.program, lambda: data, settings, run.revision)
    return f"Training goes on after epoch {run.epoch}{_rate_told(run, rate, 'had ended at')}."


def train_up_to(run: Run, epochs: int) -> str:
    """Let a run that was continued train so many epochs in all, in each phase; says what that does.

    Errors: `TrainingError` where it has trained more of them already.
    """
    done = run.phases.epochs
    ended = run.stage in (Stage.TEST, Stage.DONE)
    if epochs < done or (epochs == done and run.stage is Stage.TRAIN):
        raise TrainingError(
            f"The run has trained {done} epochs already, so there is nothing to do up to epoch {epochs}.",
            fix=f"Ask for more than {done} epochs.",
        )
    phases = len(run.program.plan.phases)
    settings = replace(run.settings, epochs=epochs * phases, each=epochs, more=0)
    if settings == run.settings or (ended and epochs == done):
        return ""
    if ended:
        return train_more(run, settings)
    rate, data = run.learning_rate, run.data
    rebuild(run, run.program, lambda: data, settings, run.revision)
    return f"Training goes on up to epoch {epochs}{_rate_told(run, rate, 'was')}."


def _rate_told(run: Run, rate: float, how: str) -> str:
    if run.learning_rate == rate:
        return ""
    return f"; the learning rate goes on at {run.learning_rate:.3g}, it {how} {rate:.3g}"
