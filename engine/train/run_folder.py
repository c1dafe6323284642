"""The folder of a run: project, settings, curves, weights, checkpoints.

    project.nloom              the project as it was trained
    settings.json              what the run was told, where it ran, how it ended
    metrics.csv                a row an epoch: train and validation
    steps.csv                  a row a step: step, epoch, seconds, loss (or one column an objective)
    labels.json                tags and a note, once the user has given some
    weights-best.safetensors   the best epoch's weights, once there is one
    weights-last.safetensors   the weights when last written
    checkpoint.json, checkpoint-*.safetensors   what a continued run needs
    checkpoints/best, checkpoints/epoch-N       the same, of the best epoch and of every k-th
    run.lock                   held by the program that trains the run, for as long as it does

The two tables only grow, so that a run of many epochs does not write its whole past again and again; every
other file is written under a temporary name and renamed.
"""

from __future__ import annotations

import csv
import io
import json
import logging
import math
import os
import platform
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TextIO

import numpy as np
import torch
from numpy.typing import NDArray

from engine.document.files import save_project, write_atomically
from engine.document.locks import hold
from engine.errors import TrainingError
from engine.feed.series import POINT
from engine.runs import checkpoints
from engine.runs.compare import graph_hash, plan_hash
from engine.runs.index import RunIndex
from engine.runs.records import (
    CHECKPOINTS,
    LOCK,
    METRICS,
    PROJECT,
    RUNNING,
    SETTINGS,
    STEP_COLUMNS,
    STEPS,
    kept_checkpoints,
    new_folder,
    read_metrics,
    read_settings,
    read_step_series,
    read_steps,
)
from engine.runs.settings import Stage
from engine.train import state

if TYPE_CHECKING:
    from engine.document.graph import Project
    from engine.train.loop import Run

__all__ = [
    "LAST_AND_BEST",
    "BusyRun",
    "Keep",
    "RunFolder",
    "new_folder",
    "read_metrics",
    "read_settings",
    "read_steps",
]

log = logging.getLogger(__name__)

WRITING_FRACTION = 0.02  # of the training time may go into writing
_SHORTEST = 1.0  # seconds between two writes
_TRIES = (
    100  # to get the lock, 10 ms each: who trains the run says so in its settings by then, or nobody locks
)
_GLANCES = 4  # that may fail because somebody only looks whether it is held


@dataclass(frozen=True, slots=True)
class Keep:
    """Checkpoints that stay beside the last and the best: every k-th epoch (0: none), the `newest`."""

    every: int = 0
    newest: int = 3


LAST_AND_BEST = Keep()


class BusyRun(TrainingError):
    """The run is trained by another program."""


class RunFolder:
    """Writes one run; `due` says when it is time to, so that writing stays under 2 % of the run."""

    def __init__(self, path: Path, keep: Keep = LAST_AND_BEST) -> None:
        """Use the folder at `path`, made if needed. Errors: `TrainingError` when it can't be."""
        self.path = path
        self.keep = keep
        self._run: Run | None = None
        self._lock: IO[bytes] | None = None
        self._epoch_seen = 0
        self._phase_seen = -1
        self._objectives: list[str] = []  # series of the feed with a value a step
        self._milestone = 0  # the epoch whose checkpoint is to be kept
        self._best_state: tuple[checkpoints.Tensors, checkpoints.Facts] | None = None
        self._complete = False  # a finished run that is only looked at
        self._epochs_written = 0
        self._step_columns: list[str] = []  # those of the table
        self._steps_written: dict[str, int] = {}
        self._columns: list[str] = []
        self._sizes: dict[str, int] = {}  # of the two tables as they were last written, in bytes
        self._best_written = 0
        self._due = time.perf_counter() + _SHORTEST
        self._facts: dict[str, Any] = {}
        try:
            path.mkdir(parents=True, exist_ok=True)
            if (path / SETTINGS).exists():
                self._facts = read_settings(path)
        except OSError as error:
            raise TrainingError(
                f"The folder for the run could not be made: {error.strerror or error}."
            ) from error

    def begin(self, project: Project, run: Run, *, fresh: bool = False) -> None:
        """Write what is known before the first step; a `fresh` run begins over no other.

        Errors: `TrainingError` when the disk refuses, another program trains this very run, or, for a fresh
        one, there is a run already.
        """
        self._take(fresh)
        self._sweep()
        self._run, self._epoch_seen = run, run.epoch
        self._complete = run.stage is Stage.DONE and self._facts.get("state") == "finished"
        if self._complete:
            return
        self._facts |= {
            "title": project.title,
            "started": self._facts.get("started") or _now(),
            **asdict(run.settings),
            "revision": run.revision,
            "higher": sorted(run.program.higher),
            "parameters": sum(weight.numel() for weight in run.model.parameters()),
            "torch": torch.__version__,
            "python": platform.python_version(),
            "computer": platform.platform(),
            "host": platform.node(),
            "process": os.getpid(),
            "checkpoints": asdict(self.keep),
            **({"fast_path": run.program.fast.to_json()} if run.program.fast.names() else {}),
            "state": RUNNING,
        }
        self.keep_project(project)
        self._trim_steps(run)
        self._note_objectives(run)
        self._rewrite_metrics(run)
        RunIndex(self.path.parent).note(self.path)

    def keep_project(self, project: Project) -> None:
        """Write the project as it is trained from now on."""
        if self._complete:
            return
        save_project(project, self.path / PROJECT)
        self._facts |= {
            "plan": project.plan.to_json(),
            "plan_hash": plan_hash(project),
            "graph_hash": graph_hash(project),
        }
        self._write_settings()

    def rewound(self, run: Run) -> None:
        """Cut the tables where a run stands that has gone back, and write its checkpoint there.

        Errors: `TrainingError` when the disk refuses.
        """
        if self._complete:
            return
        self._best_state, self._milestone, self._epoch_seen = None, 0, run.epoch
        self._best_written = min(self._best_written, run.epoch)
        self._trim_steps(run)
        self._note_objectives(run)
        self._rewrite_metrics(run)
        state.save(self.path, run)

    def remember(self, **facts: object) -> None:
        """Put more about the run into its settings. Errors: `TrainingError` when the disk refuses."""
        self._facts |= facts
        try:
            self._write_settings()
        except OSError as error:
            raise TrainingError(f"The run could not be saved: {error.strerror or error}.") from error

    def due(self, now: float) -> bool:
        """Whether to `write` at the time `now` of `perf_counter`; to be asked after every batch.

        The state of the best epoch is copied here, when it is at hand, and written when it is time to.
        """
        run = self._run
        if run is not None and run.phases.number != self._phase_seen:
            self._note_objectives(run)
        if run is not None and run.epoch != self._epoch_seen:
            self._epoch_seen = run.epoch
            self._note_epoch(run)
        return now >= self._due or bool(self._milestone)

    def _note_objectives(self, run: Run) -> None:
        """Remember what has a value a step in this phase: a short phase may be over before the next write."""
        self._phase_seen = run.phases.number
        names = [f"train_{player.name}" for player in run.phases.players]
        self._objectives = list(dict.fromkeys((*self._objectives, *names)))

    def _note_epoch(self, run: Run) -> None:
        if self._complete or run.stage is Stage.DONE:
            return
        if run.kept is not None and run.best_epoch == run.epoch:
            tensors, facts = state.capture(run)
            copies = {name: value.detach().to("cpu", copy=True) for name, value in tensors.items()}
            self._best_state = copies, json.loads(json.dumps(facts))
        if self.keep.every and run.epoch % self.keep.every == 0:
            self._milestone = run.epoch

    def write(self, run: Run) -> None:
        """Write curves, weights and checkpoints. Errors: `TrainingError` when the disk refuses."""
        if self._complete:
            return
        began = time.perf_counter()
        try:
            self._write_steps(run)
            self._write_metrics(run)
            if run.kept is not None and run.best_epoch != self._best_written:
                checkpoints.write_tensors(self.path / "weights-best.safetensors", run.kept)
                self._best_written = run.best_epoch
            state.save(self.path, run)
            self._keep_checkpoints(run)
        except OSError as error:
            raise TrainingError(f"The run could not be saved: {error.strerror or error}.") from error
        finally:
            ended = time.perf_counter()
            self._due = ended + max(_SHORTEST, (ended - began) / WRITING_FRACTION)

    def _keep_checkpoints(self, run: Run) -> None:
        place = self.path / CHECKPOINTS
        if self._best_state is not None:
            checkpoints.write(place / "best", *self._best_state)
            shutil.copyfile(self.path / PROJECT, place / "best" / PROJECT)
            self._best_state = None
        if self._milestone and run.epoch == self._milestone:
            name = f"epoch-{self._milestone}"
            state.save(place / name, run)
            shutil.copyfile(self.path / PROJECT, place / name / PROJECT)
            self._milestone = 0
            kept = [one for one in kept_checkpoints(self.path) if one.startswith("epoch-")]
            for name in kept[: -self.keep.newest] if self.keep.newest else ():
                shutil.rmtree(place / name, ignore_errors=True)

    def end(self, run: Run, state: str, error: str | None = None) -> None:
        """Write everything, and how the run ended: finished, stopped or failed; then let go of the folder.

        Errors: `TrainingError` when the disk refuses.
        """
        try:
            if not self._complete:
                self._end(run, state, error)
        finally:
            self.let_go()
        RunIndex(self.path.parent).note(self.path)

    def let_go(self) -> None:
        """Let other programs have the folder."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _end(self, run: Run, state: str, error: str | None) -> None:
        self.write(run)
        try:
            checkpoints.write_tensors(self.path / "weights-last.safetensors", run.model.state_dict())
        except OSError as problem:
            raise TrainingError(
                f"The weights could not be saved: {problem.strerror or problem}."
            ) from problem
        best = run.best if math.isfinite(run.best) else None
        self._facts |= {
            "state": state,
            "ended": _now(),
            "error": error,
            "steps": run.step,
            "epochs_done": run.epoch,
            "seconds": round(run.seconds, 3),
            "best": best,
            "best_epoch": run.best_epoch,
            "results": run.results,
        }
        self._write_settings()

    def _take(self, fresh: bool) -> None:
        """Hold the folder for as long as this program trains the run."""
        if fresh:
            try:
                open(self.path / LOCK, "xb").close()  # of several that begin here at once, one makes it
            except FileExistsError as error:
                raise BusyRun(
                    f"There is a run in {self.path.name} already.",
                    fix="Name another folder, or go on with that run.",
                ) from error
        for tried in range(_TRIES):
            self._lock = self._lock or hold(self.path / LOCK)
            if self._lock is not None:
                return
            facts = read_settings(self.path) if tried > _GLANCES and (self.path / SETTINGS).exists() else {}
            if facts.get("state") == RUNNING and facts.get("process") != os.getpid():
                who = f"process {facts.get('process')} on {facts.get('host')}"
                raise BusyRun(
                    f"Another program ({who}) trains this run.",
                    fix="Wait until it has ended, or start a new run.",
                )
            time.sleep(0.01)
        log.info("%s cannot be locked", self.path)

    def _sweep(self) -> None:
        """Remove what a program that was killed while it wrote tensors has left."""
        for place in (self.path, *self.path.glob(f"{CHECKPOINTS}/*")):
            for pattern in checkpoints.LEFT:
                for left in place.glob(pattern):
                    with suppress(OSError):
                        left.unlink()

    def _write_settings(self) -> None:
        text = json.dumps(self._facts, indent=2, ensure_ascii=False, default=str) + "\n"
        write_atomically(self.path / SETTINGS, text.encode("utf-8", "backslashreplace"))  # as JSON writes it

    def _write_steps(self, run: Run) -> None:
        known = dict.fromkeys((*self._objectives, *self._step_columns))
        columns = [name for name in known if run.feed.last(name) is not None] or self._step_columns
        if columns != self._step_columns:  # a phase with other objectives has begun
            self._rewrite_steps({name: run.feed.read(name) for name in columns})
            return
        fresh = {name: run.feed.read(name, self._steps_written.get(name, 0)) for name in columns}
        rows = _step_rows(fresh)
        if not rows:
            return
        if not self._as_left(STEPS, run):
            self._rewrite_steps({name: run.feed.read(name) for name in columns})
            return
        with open(self.path / STEPS, "a", encoding="utf-8") as file:
            file.writelines(rows)
        self._note_size(STEPS)
        for name, points in fresh.items():
            self._steps_written[name] += len(points)

    def _rewrite_steps(self, series: Mapping[str, NDArray[Any]]) -> None:
        self._step_columns = list(series)
        head = ",".join((*STEP_COLUMNS, *(name.removeprefix("train_") for name in series))) + "\n"
        write_atomically(self.path / STEPS, (head + "".join(_step_rows(series))).encode())
        self._note_size(STEPS)
        self._steps_written = {name: len(points) for name, points in series.items()}

    def _as_left(self, name: str, run: Run) -> bool:
        """Whether a table is as this program left it; otherwise a warning says that it is written again."""
        path = self.path / name
        if path.is_file() and path.stat().st_size == self._sizes[name]:
            return True
        text = f"{name} was changed while the run was under way. It has been written again; nothing is lost."
        run.feed.note("warning", text, step=run.step)
        return False

    def _note_size(self, name: str) -> None:
        self._sizes[name] = (self.path / name).stat().st_size

    def _trim_steps(self, run: Run) -> None:
        """Drop rows after the step that a run is continued from."""
        try:
            found = read_step_series(self.path)
        except TrainingError:  # damaged while the run was under way
            found = {name: run.feed.read(name) for name in self._objectives}
        kept = {name: rows[rows["step"] <= run.step] for name, rows in found.items()}
        self._objectives = [name for name, rows in kept.items() if len(rows)]
        self._rewrite_steps(kept or {"train_loss": np.empty(0, POINT)})

    def _write_metrics(self, run: Run) -> None:
        fresh = list(run.history.since(self._epochs_written))
        if not fresh:
            return
        if any(name not in self._columns for record in fresh for name in record):
            self._rewrite_metrics(run)
            return
        if not self._as_left(METRICS, run):
            self._rewrite_metrics(run)
            return
        with open(self.path / METRICS, "a", encoding="utf-8", newline="") as file:
            _writer(file, self._columns).writerows(map(_from_one, fresh))
        self._note_size(METRICS)
        self._epochs_written = len(run.history)

    def _rewrite_metrics(self, run: Run) -> None:
        """Write the whole table: at the beginning, and when an edit has brought other columns."""
        self._columns = list(dict.fromkeys(name for record in run.history for name in _ordered(record)))
        text = io.StringIO(newline="")
        writer = _writer(text, self._columns)
        if self._columns:
            writer.writeheader()
        writer.writerows(map(_from_one, run.history))
        write_atomically(self.path / METRICS, text.getvalue().encode())
        self._note_size(METRICS)
        self._epochs_written = len(run.history)


def _step_rows(series: Mapping[str, NDArray[Any]]) -> list[str]:
    """Lines of the table: step, epoch, seconds, then a value an objective, empty where it was not trained."""
    if len(series) == 1:
        (points,) = series.values()
        return [f"{s},{e!r},{t:.6f},{v!r}\n" for s, e, t, v in points.tolist()]
    rows: dict[int, tuple[str, list[str]]] = {}
    for index, points in enumerate(series.values()):
        for step, epoch, seconds, value in points.tolist():
            row = rows.setdefault(step, (f"{step},{epoch!r},{seconds:.6f}", [""] * len(series)))
            row[1][index] = repr(value)
    return [f"{place},{','.join(values)}\n" for place, values in (rows[step] for step in sorted(rows))]


def _writer(file: TextIO, columns: list[str]) -> csv.DictWriter[str]:
    return csv.DictWriter(file, columns, lineterminator="\n", restval="")


def _from_one(record: Mapping[str, Any]) -> dict[str, Any]:
    """People count epochs from 1."""
    return {**record, "epoch": int(record["epoch"]) + 1}


def _ordered(record: Mapping[str, Any]) -> list[str]:
    """Columns as the user wants them: epoch, step and time, then train, then validation."""
    first = [name for name in ("epoch", "step", "seconds", "lr") if name in record]
    first += [name for name in record if name.startswith("train_")]
    return first + [name for name in record if name not in first]


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")
