"""Shows a run that another process trains, on this machine or on a shared disk, by reading its folder.

    attached = Attached(folder)
    attached.poll()                 # now and then: reads what is new; returns whether anything is
    attached.feed, attached.state, attached.progress, attached.error     # as a `Trainer` has them

A window gives it to what shows curves in place of its trainer and calls `poll` on its own timer, about once a
second: a run is not written oftener. Nothing here writes, keeps a lock or imports torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import TrainingError
from engine.feed.feed import Feed
from engine.feed.progress import Progress
from engine.feed.series import POINT
from engine.runs.records import (
    INTERRUPTED,
    METRICS,
    RUNNING,
    SETTINGS,
    STEPS,
    StepsReader,
    epoch_points,
    read_metrics,
    read_settings,
    state_of,
)

# What `settings.json` calls how a run stands, and what a trainer calls it.
STATES = {RUNNING: "running", "finished": "finished", "failed": "failed", "stopped": "idle"}


class Attached:
    """A run in another process's hands, for reading.

    `feed` has the curves of the folder: `train_...` by step, `val_...`, `lr` and `test_...` by epoch. Its
    events say how many processes train it, what that changes and what the fast path chose. `state` is as for
    `Trainer`, "failed" where the other process died. Views of layers stay in the other process.
    """

    def __init__(self, folder: Path) -> None:
        """Errors: `TrainingError` when `folder` is not that of a run."""
        self.folder = folder
        self.feed = Feed()
        self.settings: Mapping[str, Any] = read_settings(folder)
        self.state = "loading"
        self.error: TrainingError | None = None
        self._steps = StepsReader(folder)
        self._seen: tuple[int, ...] = ()
        self._epochs = 0
        self._told: set[str] = set()
        self._table = 0  # the file's number on its disk
        self._last: dict[str, float] = {}

    @property
    def alive(self) -> bool:
        """Whether a process still trains it."""
        return self.state == "running"

    @property
    def progress(self) -> Progress:
        """How far it was when it was last written."""
        epochs = int(self.settings.get("epochs") or 0)
        step, seconds = int(self._last.get("step", 0)), self._last.get("seconds", 0.0)
        fraction = self._last.get("epoch", 0.0) / epochs if epochs else 0.0
        running = self.alive and 0 < fraction < 1
        return Progress(
            epoch=self._epochs,
            epochs=epochs,
            step=step,
            steps_per_epoch=round(step / self._last["epoch"]) if self._last.get("epoch") else 0,
            seconds=seconds,
            seconds_left=seconds * (1 - fraction) / fraction if running else None,
            loss=self._last.get("loss"),
            device=self._device(),
        )

    def poll(self) -> bool:
        """Read what has been written since the last call; returns whether there was anything.

        A run that was begun again in the folder, or has gone back, is read from its start again. What cannot
        be read at this moment is read the next time.
        """
        try:
            settings = read_settings(self.folder)
        except TrainingError:
            return False
        before = self.state
        state = state_of(self.folder, settings)
        stamps = tuple(_stamp(self.folder / name) for name in (SETTINGS, METRICS, STEPS))
        if stamps == self._seen and STATES.get(state, "failed") == before:
            return False
        table = _number(self.folder / STEPS)
        if self._seen and table != self._table:  # it only grows, unless the run goes on from an earlier step
            self._again()
        self._seen, self._table, self.settings = stamps, table, settings
        self.feed.higher = settings.get("higher")
        with suppress(TrainingError):
            self._read_steps()
            self._read_epochs()
        self._tell(state)
        self.state = STATES.get(state, "failed")
        if state == INTERRUPTED:
            self.error = TrainingError(
                "The process that trained this run has ended without a word.",
                fix="Go on from its last checkpoint.",
            )
        elif state == "failed":
            self.error = TrainingError(str(settings.get("error") or "The run failed."))
        else:
            self.error = None
        self.feed.touch()
        return True

    # -- parts of it

    def _again(self) -> None:
        self.feed.clear()
        self._steps = StepsReader(self.folder)
        self._epochs = 0
        self._told, self._last = set(), {}

    def _read_steps(self) -> None:
        for name, rows in self._steps.read().items():
            if len(rows):
                self.feed.open(name).extend(rows)
                newest = rows[-1]
                self._last |= {
                    "step": float(newest["step"]),
                    "epoch": float(newest["epoch"]),
                    "seconds": float(newest["seconds"]),
                    "loss": float(newest["value"]),
                }
        self.feed.changed()

    def _read_epochs(self) -> None:
        records = read_metrics(self.folder)
        for name, rows in epoch_points(records[self._epochs :]):
            self.feed.open(name).extend(rows)
        self._epochs = len(records)
        results = self.settings.get("results")
        for name, value in results.items() if isinstance(results, dict) else ():
            if self.feed.last(name) is None:
                place = (self._last.get("step", 0), self._epochs, self._last.get("seconds", 0.0), value)
                self.feed.open(name).extend(np.array([place], POINT))

    def _tell(self, state: str) -> None:
        found = []
        processes = self.settings.get("processes")
        if processes:
            found.append(f"{processes} processes train this run ({self.settings.get('backend')}).")
            found += map(str, self.settings.get("differs_from_one_process") or ())
            if self.settings.get("restarts"):
                found.append("A process was lost; the run began again from its last checkpoint.")
        fast = self.settings.get("fast_path")
        if isinstance(fast, dict):
            from engine.emit.fast import Fast

            chosen = Fast.from_json(fast)
            found.append(chosen.sentence() if chosen is not None else "")
        for sentence in found:
            if sentence and sentence not in self._told:
                self._told.add(sentence)
                self.feed.note("info", sentence)

    def _device(self) -> str:
        device, host = str(self.settings.get("device", "")), self.settings.get("host")
        return f"{device.upper()} · {host}" if host else device.upper()


def _stamp(path: Path) -> int:
    """A number that changes when the file does: its size, as tables only grow, or when it was written."""
    try:
        found = path.stat()
    except OSError:
        return -1
    return found.st_size if path.suffix == ".csv" else found.st_mtime_ns


def _number(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return 0
