"""A new run that goes on from a checkpoint of another; the other stays as it is."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
from pathlib import Path
from typing import Any

from engine.document.files import write_atomically
from engine.errors import ProjectFileError, TrainingError
from engine.runs.records import (
    CHECKPOINT,
    CHECKPOINTS,
    DAMAGE,
    METRICS,
    PROJECT,
    SETTINGS,
    STEPS,
    read_json,
    read_settings,
)

# What the first run became, not what it was told: the branch finds its own.
_OWN = ("started", "ended", "error", "results", "steps", "epochs_done", "seconds", "host", "process")


def run_of(checkpoint: Path) -> Path:
    """The folder of the run that a checkpoint, or the run's own folder, belongs to."""
    kept = checkpoint.parent.name == CHECKPOINTS and (checkpoint.parent.parent / SETTINGS).is_file()
    return checkpoint.parent.parent if kept else checkpoint


def branch(checkpoint: Path, target: Path) -> dict[str, Any]:
    """Make the folder `target` a run that stands where `checkpoint` was: a run's folder, or one it has kept.

    Its curves are those of the first run up to there. Returns its origin as it is recorded: run, epoch, step.
    Errors: `TrainingError` when there is no checkpoint or the disk refuses.
    """
    source = run_of(checkpoint)
    settings = read_settings(source)
    try:
        facts = read_json(checkpoint / CHECKPOINT)
        tensors = Path(facts["tensors"]).name
        epoch, step = int(facts["epoch"]), int(facts["step"])
        origin = {"run": source.name, "epoch": epoch, "step": step}
    except DAMAGE as error:
        raise TrainingError(f"There is no checkpoint in {checkpoint.name} that can be read.") from error
    try:
        target.mkdir(parents=True, exist_ok=True)
        _copy(checkpoint / tensors, target / tensors)
        own = checkpoint / PROJECT
        shutil.copyfile(own if own.is_file() else source / PROJECT, target / PROJECT)
        _rows(source / METRICS, target / METRICS, "epoch", epoch)
        _rows(source / STEPS, target / STEPS, "step", step)
        kept = {name: value for name, value in settings.items() if name not in _OWN}
        text = json.dumps({**kept, "state": "stopped", "branched_from": origin}, indent=2, ensure_ascii=False)
        write_atomically(target / SETTINGS, (text + "\n").encode("utf-8", "backslashreplace"))
        write_atomically(target / CHECKPOINT, json.dumps(facts).encode())
    except (OSError, ValueError, ProjectFileError) as error:
        for name in (tensors, PROJECT, METRICS, STEPS, SETTINGS, CHECKPOINT):
            (target / name).unlink(missing_ok=True)
        why = (error.strerror if isinstance(error, OSError) else None) or str(error).rstrip(".")
        raise TrainingError(f"The new run could not be made: {why}.") from error
    return origin


def _copy(source: Path, target: Path) -> None:
    try:  # tensors are never written to, only replaced, so both runs may hold the same file
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _rows(source: Path, target: Path, column: str, last: int) -> None:
    """Copy the rows of a table up to a value of one column."""
    if not source.is_file():
        return
    text = source.read_text("utf-8")
    reader = csv.reader(io.StringIO(text[: text.rfind("\n") + 1]))
    head = next(reader, None)
    if head is None or column not in head:
        return
    at = head.index(column)
    made = io.StringIO(newline="")
    writer = csv.writer(made, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(row for row in reader if float(row[at]) <= last)
    write_atomically(target, made.getvalue().encode())
