"""What a run is worth before its first epoch has ended: losses, metrics, confusion of a validation batch."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

from engine.devices import untouched_random
from engine.look.sight import Look
from engine.look.tallies import tallies
from engine.runs.settings import Stage

if TYPE_CHECKING:
    from engine.train.loop import Run

log = logging.getLogger(__name__)

ROWS = 256
BUDGET, BETWEEN = 0.04, 0.5  # of the training time; seconds
SERIES = "batch_"


class Glance:
    """Evaluates the first rows of the validation split after the first step, and again as time allows."""

    def __init__(self) -> None:
        self._next = 0.0

    def look(self, run: Run, now: float) -> None:
        """Put what is found into the feed; a long epoch takes a few per cent longer for it."""
        if run.epoch or not run.step or now < self._next or run.stage is not Stage.TRAIN:
            return
        if "validation" not in run.data:
            return
        began = perf_counter()
        try:
            self._take(run)
        except Exception as error:  # the evaluation after the epoch meets the fault itself
            log.debug("no glance at a validation batch", exc_info=error)
            self._next = float("inf")
            return
        ended = perf_counter()
        self._next = ended + max(BETWEEN, (ended - began) / BUDGET)

    def _take(self, run: Run) -> None:
        counted = tallies(run.heads)
        rows = min(ROWS, run.settings.batch or ROWS)
        with untouched_random(run.settings.device), ExitStack() as taps:
            for tally in counted:
                taps.enter_context(run.program.tapping(tally.tap))
            try:
                found = run.program.evaluate(run.model, Look.of(run, 0).batch(0, rows, "validation"))
            finally:
                run.model.train()
                run.place_modes()
        place = run.step, run.epoch + run.index / run.steps_per_epoch, run.seconds
        for name, value in found.items():
            run.feed.append(f"{SERIES}{name}", *place, value)
        for tally in counted:
            for key, snapshot in tally.snapshots(run.revision, run.step, run.epoch):
                run.feed.put(
                    key, replace(snapshot, extra={**snapshot.extra, "split": "one validation batch"})
                )
