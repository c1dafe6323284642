"""Reads the folder of a run, without torch: settings, curves, tags, and whether anybody still trains it."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.document.files import ordinary, reason, write_atomically
from engine.document.locks import held
from engine.errors import TrainingError
from engine.feed.series import POINT

SETTINGS, METRICS, STEPS, LABELS, LOCK = (
    "settings.json",
    "metrics.csv",
    "steps.csv",
    "labels.json",
    "run.lock",
)
PROJECT = "project.nloom"
CHECKPOINT = "checkpoint.json"  # what makes a folder one that a run can be continued from
CHECKPOINTS = "checkpoints"  # the folder with those that are kept; the last one lies beside the settings
STEP_COLUMNS = ("step", "epoch", "seconds")

_PIECE = 200_000  # bytes that are parsed at once

# What reading may raise that was not written by a run, or was cut, mixed up or replaced since.
DAMAGE = (
    *(OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError),
    *(RecursionError, MemoryError, csv.Error),
)
RUNNING, INTERRUPTED, UNREADABLE = "running", "interrupted", "unreadable"
_HIGHER = (
    "accuracy",
    "precision",
    "recall",
    "f1",
    "auc",
    "return",
    "score",
    "r2",
    "iou",
    "dice",
    "psnr",
    "ssim",
    "bleu",
)


def lower_is_better(value: str, higher: Collection[str] | None = None) -> bool:
    """Whether a recorded value improves as it falls: losses and errors do, accuracies don't.

    `higher` are those that improve as they grow, without the split they are of, as a run's settings have
    them; of runs that have none the words of the name decide.
    """
    if higher is not None:
        return value.partition("_")[2] not in higher and value not in higher
    words = value.casefold().replace("-", "_").split("_")
    return not any(word in _HIGHER for word in words)


@contextmanager
def reading(folder: Path, name: str) -> Iterator[None]:
    """Turn whatever is wrong with a file of a run into a `TrainingError` that names it."""
    try:
        yield
    except DAMAGE as error:
        why = reason(error)
        if isinstance(error, RecursionError | KeyError):
            why = "it is nested too deeply" if isinstance(error, RecursionError) else f"{error} is missing"
        raise TrainingError(f"{name} of {folder.name} cannot be read: {why}.") from error


def read_settings(folder: Path) -> dict[str, Any]:
    """What is known of a run. Errors: `TrainingError` when it cannot be read."""
    with reading(folder, SETTINGS):
        found = read_json(folder / SETTINGS)
        if not isinstance(found, dict):
            raise ValueError("it holds something else")
        return found


def read_json(path: Path) -> Any:
    """What a file of a run holds. Errors: those of `DAMAGE`."""
    return json.loads(_text(path))


def _text(path: Path) -> str:
    with ordinary(path) as file:
        return file.read().decode("utf-8")


def state_of(folder: Path, settings: Mapping[str, Any]) -> str:
    """How a run stands: running, finished, stopped, failed, or interrupted when its program died."""
    state = str(settings.get("state", ""))
    if state == RUNNING and not held(folder / LOCK):
        return INTERRUPTED
    return state or UNREADABLE


# -- curves


def read_metrics(folder: Path) -> list[dict[str, int | float]]:
    """The epochs of a run, counted from 0 as `Run.history` does; a torn last row is left out.

    Errors: `TrainingError` when they cannot be read.
    """
    if not os.path.lexists(folder / METRICS):
        return []
    found: list[dict[str, int | float]] = []
    with reading(folder, METRICS):
        text = _text(folder / METRICS)
        for row in csv.DictReader(io.StringIO(text[: text.rfind("\n") + 1])):
            if None in row:
                raise ValueError(f"row {len(found) + 1} has more values than there are columns")
            values = {name: float(value) for name, value in row.items() if value}
            found.append({**values, "epoch": int(values["epoch"]) - 1, "step": int(values["step"])})
    return found


def epoch_points(records: Iterable[Mapping[str, int | float]]) -> Iterator[tuple[str, NDArray[Any]]]:
    """What `metrics.csv` holds beside the training loss, as `POINT` rows by the name it has in the feed."""
    for record in records:
        step, seconds, epoch = int(record["step"]), record.get("seconds", math.nan), record["epoch"] + 1
        for name, value in record.items():
            if name == "lr" or name.startswith("val_"):
                yield name, np.array([(step, epoch, seconds, value)], POINT)


def read_steps(folder: Path) -> NDArray[Any]:
    """The training losses of a run as `POINT` rows, empty where there are none."""
    series = read_step_series(folder)
    return next(iter(series.values()), np.empty(0, POINT))


def read_step_series(folder: Path) -> dict[str, NDArray[Any]]:
    """What was recorded at each step, as `POINT` rows by the name it has in the feed (`train_loss`, ...)."""
    return StepsReader(folder).read()


class StepsReader:
    """Reads `steps.csv`, and then only what has been added to it; a torn last row waits until it is whole."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / STEPS
        self._offset = 0  # bytes
        self.names: list[str] = []

    def read(self) -> dict[str, NDArray[Any]]:
        """The rows that are new since the last call, by series; from the start again if the file shrank.

        Errors: `TrainingError` when they cannot be read.
        """
        pieces: dict[str, list[NDArray[Any]]] = {}
        if not os.path.lexists(self._path):
            return {}
        with reading(self._path.parent, STEPS), ordinary(self._path) as file:
            if file.seek(0, io.SEEK_END) < self._offset:
                self._offset = 0
            file.seek(self._offset)
            if self._offset == 0:
                self._read_head(file.readline())
            # In pieces: while numpy parses one, no other thread of the program works.
            while content := file.read(_PIECE):
                content += file.readline()
                content = content[: content.rfind(b"\n") + 1]
                self._offset += len(content)
                for name, rows in _points(content.decode(), self.names).items():
                    pieces.setdefault(name, []).append(rows)
        none = [np.empty(0, POINT)]
        return {name: np.concatenate(pieces.get(name, none)) for name in self.names}

    def _read_head(self, line: bytes) -> None:
        if line.endswith(b"\n"):
            self.names = [f"train_{name}" for name in line.decode().strip().split(",")[len(STEP_COLUMNS) :]]
            self._offset = len(line)


def _points(text: str, names: list[str]) -> dict[str, NDArray[Any]]:
    if not text or not names:
        return {name: np.empty(0, POINT) for name in names}
    if ",," in text or ",\n" in text:  # a step at which not every objective was trained
        text = text.replace(",,", ",nan,").replace(",,", ",nan,").replace(",\n", ",nan\n")
    cells = np.loadtxt(io.StringIO(text), delimiter=",", ndmin=2)
    found = {}
    for index, name in enumerate(names, start=len(STEP_COLUMNS)):
        # A loss that is not a number ends its run before it is recorded: here it means that there is none.
        rows = cells if len(names) == 1 else cells[~np.isnan(cells[:, index])]
        points = np.empty(len(rows), POINT)
        points["step"], points["epoch"], points["seconds"] = rows[:, 0], rows[:, 1], rows[:, 2]
        points["value"] = rows[:, index]
        found[name] = points
    return found


# -- what the user adds


@dataclass(frozen=True, slots=True)
class Labels:
    """Tags and a note that the user gave a run; kept beside what the run itself writes."""

    tags: tuple[str, ...] = ()
    note: str = ""


def read_labels(folder: Path) -> Labels:
    """The labels of a run, if there are any. Errors: `TrainingError` when they can't be read."""
    if not os.path.lexists(folder / LABELS):
        return Labels()
    with reading(folder, LABELS):
        found = read_json(folder / LABELS)
        return Labels(tags_from(found.get("tags", ())), str(found.get("note", "")))


def write_labels(folder: Path, labels: Labels) -> None:
    """Keep the labels of a run. Errors: `TrainingError` when the disk refuses."""
    text = json.dumps({"tags": list(labels.tags), "note": labels.note}, indent=2, ensure_ascii=False)
    try:
        write_atomically(folder / LABELS, (text + "\n").encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise TrainingError(f"The tags could not be saved: {error.strerror or error}.") from error


def tags_from(words: Iterable[str]) -> tuple[str, ...]:
    """Tags without blanks at their ends, without commas, each once."""
    parts = (part.strip() for word in words for part in str(word).split(","))
    return tuple(dict.fromkeys(part for part in parts if part))


# -- places


def new_folder(runs: Path, title: str) -> Path:
    """A folder under `runs` that this call has made, so that no other run has it; it tells project and time.

    Where the disk refuses it is only named: whoever writes there says so.
    """
    slug = "-".join("".join(c if c.isalnum() else " " for c in title).lower().split())[:40] or "run"
    path = runs / f"{slug}-{datetime.now():%Y%m%d-%H%M%S}"
    try:
        runs.mkdir(parents=True, exist_ok=True)
        while True:
            with suppress(FileExistsError):  # another program was quicker
                (free := free_path(path)).mkdir()
                return free
    except OSError:
        return free_path(path)


@contextmanager
def given_back(folder: Path) -> Iterator[None]:
    """Inside, a run begins in a folder that was made for it; if it does not come to that, the folder goes."""
    try:
        yield
    except BaseException:
        with suppress(OSError):  # there is something in it
            folder.rmdir()
        raise


def free_path(path: Path) -> Path:
    """The path itself or, where there is something, the same name with the first free number behind it."""
    number, free = 1, path
    while os.path.lexists(free):
        number += 1
        free = path.with_name(f"{path.name}-{number}")
    return free


def never_saved(folder: Path) -> bool:
    """Whether the program of a run was killed before the first checkpoint, so that the run begins again."""
    if (folder / CHECKPOINT).exists() or kept_checkpoints(folder):
        return False
    if not (folder / SETTINGS).exists():
        return (folder / LOCK).exists()
    try:
        return read_settings(folder).get("state") == RUNNING  # however else it ends, it leaves a checkpoint
    except TrainingError:
        return False


def kept_checkpoints(folder: Path) -> list[str]:
    """The names of the checkpoints that a run has kept: `best` and `epoch-10`, the best first."""
    try:
        names = [entry.name for entry in (folder / CHECKPOINTS).iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    whole = [name for name in names if (folder / CHECKPOINTS / name / CHECKPOINT).is_file()]
    return sorted(whole, key=lambda name: (name != "best", len(name), name))
