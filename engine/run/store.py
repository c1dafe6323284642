"""The folder of a run: project, settings, curves, weights, checkpoint.

    project.nloom              the project as it was trained
    settings.json              what the run was told, where it ran, how it ended
    metrics.csv                a row an epoch: train and validation
    steps.csv                  a row a step: step, epoch, seconds, loss
    weights-best.safetensors   the best epoch's weights, once there is one
    weights-last.safetensors   the weights when last written
    checkpoint.json, checkpoint-*.safetensors   what a continued run needs

The two tables only grow, so that a run of many epochs does not write its whole past again and again; every
other file is written under a temporary name and renamed.
"""

from __future__ import annotations

import csv
import io
import json
import math
import platform
import time
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
import torch
from numpy.typing import NDArray

from engine.errors import TrainingError
from engine.files import save_project, write_atomically
from engine.run import checkpoints
from engine.run.feed import POINT

if TYPE_CHECKING:
    from engine.graph import Project
    from engine.run.loop import Run

SHARE = 0.02  # of the training time may go into writing
_SHORTEST = 1.0  # seconds between two writes

STEPS_HEADER = "step,epoch,seconds,loss\n"


class RunFolder:
    """Writes one run; `due` says when it is time to, so that writing stays under 2 % of the run."""

    def __init__(self, path: Path) -> None:
        """Use the folder at `path`, made if needed. Errors: `TrainingError` when it can't be."""
        self.path = path
        self._steps_written = self._epochs_written = 0
        self._columns: list[str] = []
        self._best_written = 0
        self._due = time.perf_counter() + _SHORTEST
        self._facts: dict[str, Any] = {}
        try:
            path.mkdir(parents=True, exist_ok=True)
            if (path / "settings.json").exists():
                self._facts = read_settings(path)
        except OSError as error:
            raise TrainingError(
                f"The folder for the run could not be made: {error.strerror or error}."
            ) from error

    def begin(self, project: Project, run: Run) -> None:
        """Write what is known before the first step."""
        self._facts |= {
            "title": project.title,
            "started": self._facts.get("started") or _now(),
            **asdict(run.settings),
            "revision": run.revision,
            "parameters": sum(weight.numel() for weight in run.model.parameters()),
            "torch": torch.__version__,
            "python": platform.python_version(),
            "computer": platform.platform(),
            "plan": project.plan.to_json(),
            "state": "running",
        }
        self.keep_project(project)
        self._write_settings()
        self._steps_written = self._trim_steps(run.step)
        self._rewrite_metrics(run)

    def keep_project(self, project: Project) -> None:
        """Write the project as it is trained from now on."""
        save_project(project, self.path / "project.nloom")

    def due(self, now: float) -> bool:
        """Whether a checkpoint should be written at the time `now` of `perf_counter`."""
        return now >= self._due

    def write(self, run: Run) -> None:
        """Write curves, weights and checkpoint. Errors: `TrainingError` when the disk refuses."""
        began = time.perf_counter()
        try:
            self._write_steps(run)
            self._write_metrics(run)
            if run.kept is not None and run.best_epoch != self._best_written:
                checkpoints.write_tensors(self.path / "weights-best.safetensors", run.kept)
                self._best_written = run.best_epoch
            checkpoints.save(self.path, run)
        except OSError as error:
            raise TrainingError(f"The run could not be saved: {error.strerror or error}.") from error
        finally:
            ended = time.perf_counter()
            self._due = ended + max(_SHORTEST, (ended - began) / SHARE)

    def end(self, run: Run, state: str, error: str | None = None) -> None:
        """Write everything, and how the run ended: finished, stopped or failed.

        Errors: `TrainingError` when the disk refuses.
        """
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

    def _write_settings(self) -> None:
        text = json.dumps(self._facts, indent=2, ensure_ascii=False, default=str) + "\n"
        write_atomically(self.path / "settings.json", text.encode())

    def _write_steps(self, run: Run) -> None:
        rows = run.feed.read("train_loss", self._steps_written)
        if not len(rows) and self._steps_written:
            return
        path = self.path / "steps.csv"
        with open(path, "a", encoding="utf-8") as file:
            if not self._steps_written and not file.tell():
                file.write(STEPS_HEADER)
            file.writelines(f"{s},{e!r},{t:.6f},{v!r}\n" for s, e, t, v in rows.tolist())
        self._steps_written += len(rows)

    def _trim_steps(self, steps: int) -> int:
        """Drop rows after the step that a run is continued from; returns how many are left."""
        kept = read_steps(self.path)
        kept = kept[kept["step"] <= steps]
        rows = "".join(f"{s},{e!r},{t:.6f},{v!r}\n" for s, e, t, v in kept.tolist())
        write_atomically(self.path / "steps.csv", (STEPS_HEADER + rows).encode())
        return len(kept)

    def _write_metrics(self, run: Run) -> None:
        fresh = run.history[self._epochs_written :]
        if not fresh:
            return
        if any(name not in self._columns for record in fresh for name in record):
            self._rewrite_metrics(run)
            return
        with open(self.path / "metrics.csv", "a", encoding="utf-8", newline="") as file:
            _writer(file, self._columns).writerows(map(_from_one, fresh))
        self._epochs_written = len(run.history)

    def _rewrite_metrics(self, run: Run) -> None:
        """Write the whole table: at the beginning, and when an edit has brought other columns."""
        self._columns = list(dict.fromkeys(name for record in run.history for name in _ordered(record)))
        text = io.StringIO(newline="")
        writer = _writer(text, self._columns)
        if self._columns:
            writer.writeheader()
        writer.writerows(map(_from_one, run.history))
        write_atomically(self.path / "metrics.csv", text.getvalue().encode())
        self._epochs_written = len(run.history)


def _writer(file: TextIO, columns: list[str]) -> csv.DictWriter[str]:
    return csv.DictWriter(file, columns, lineterminator="\n", restval="")


def _from_one(record: Mapping[str, Any]) -> dict[str, Any]:
    """People count epochs from 1."""
    return {**record, "epoch": int(record["epoch"]) + 1}


def _ordered(record: Mapping[str, Any]) -> list[str]:
    """Columns as a person wants them: epoch, step and time, then train, then validation."""
    first = [name for name in ("epoch", "step", "seconds", "lr", "train_loss") if name in record]
    return first + [name for name in record if name not in first]


def read_steps(folder: Path) -> NDArray[Any]:
    """The steps of a run as `POINT` rows, empty where there are none; a torn last row is left out."""
    try:
        text = (folder / "steps.csv").read_text("utf-8")
    except FileNotFoundError:
        return np.empty(0, POINT)
    rows = []
    for line in text.splitlines(keepends=True)[1:]:
        parts = line.split(",")
        if len(parts) == 4 and line.endswith("\n"):
            rows.append((int(parts[0]), *map(float, parts[1:])))
    return np.array(rows, POINT)


def read_metrics(folder: Path) -> list[dict[str, int | float]]:
    """The epochs of a run, counted from 0 as `Run.history` does; a torn last row is left out."""
    try:
        text = (folder / "metrics.csv").read_text("utf-8")
    except FileNotFoundError:
        return []
    whole = text[: text.rfind("\n") + 1]
    found: list[dict[str, int | float]] = []
    for row in csv.DictReader(io.StringIO(whole)):
        values = {name: float(value) for name, value in row.items() if value}
        found.append({**values, "epoch": int(values["epoch"]) - 1, "step": int(values["step"])})
    return found


def read_settings(folder: Path) -> dict[str, Any]:
    """What is known of a run. Errors: `TrainingError` when it cannot be read."""
    try:
        found = json.loads((folder / "settings.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise TrainingError(
            f"{folder.name} is not the folder of a run: settings.json cannot be read."
        ) from error
    if not isinstance(found, dict):
        raise TrainingError(f"{folder.name} is not the folder of a run.")
    return found


def new_folder(runs: Path, title: str) -> Path:
    """A path under `runs` that doesn't exist yet, named for the project and the time."""
    slug = "-".join("".join(c if c.isalnum() else " " for c in title).lower().split())[:40] or "run"
    stem = f"{slug}-{datetime.now():%Y%m%d-%H%M%S}"
    path, number = runs / stem, 1
    while path.exists():
        number += 1
        path = runs / f"{stem}-{number}"
    return path


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")
