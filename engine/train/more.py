"""Lets a run that has ended go on: its weights and optimisers stay, its schedules reach further."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engine.runs.settings import Stage
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
    done = run.epoch if run.program.players is None else run.phases.epochs
    left = last + overrides.more - done
    return overrides if 2 * left >= last else replace(overrides, more=overrides.more + max(0, -left) + last)


def train_more(run: Run, overrides: Overrides, plan: Plan) -> tuple[Overrides, str]:
    """Put a run that is done back to training; returns what it is told now, and a sentence on what that does.

    A schedule is drawn out over all epochs, so that it ends where the run does. Patience
    is counted from here on.
    """
    rate, data = run.learning_rate, run.data
    overrides = further(run, overrides, plan)
    settings = overrides.settings(plan, run.settings.device)
    run.stage, run.waited, run.results = Stage.TRAIN, 0, {}
    rebuild(run, run.program, lambda: data, settings, run.revision)
    words = f"Training goes on after epoch {run.epoch}"
    if run.learning_rate != rate:
        words += f"; the learning rate goes on at {run.learning_rate:.3g}, it had ended at {rate:.3g}"
    return overrides, f"{words}."
