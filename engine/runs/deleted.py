"""Deletes runs so that they can be brought back."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from engine.errors import TrainingError
from engine.runs.index import RunIndex, read_run
from engine.runs.records import RUNNING, free_path

DELETED = ".deleted"  # where deleted runs wait, in the folder of the runs


def within(folder: Path, runs: Path) -> Path:
    """The folder, if it lies in that of the runs itself. Errors: `TrainingError` for any other."""
    if ".." in folder.parts or Path(os.path.abspath(folder)).parent != Path(os.path.abspath(runs)):
        raise TrainingError(
            f"{folder} is not a run in {runs}.", fix="Name it, with --in the folder it lies in."
        )
    return folder


def delete(folder: Path, for_ever: bool = False) -> Path | None:
    """Move a run among the deleted ones and return where it is now, or remove it with no way back.

    Errors: `TrainingError` for a run that is being trained, or when the disk refuses.
    """
    record = read_run(folder)
    if record.state == RUNNING:
        raise TrainingError(f"{folder.name} is being trained.", fix="Stop it first.")
    try:
        target = free_path(folder.parent / DELETED / folder.name)
        target.parent.mkdir(exist_ok=True)
        folder.rename(target)
        if for_ever:  # from there, so that half a run is never listed
            shutil.rmtree(target)
    except OSError as error:
        raise TrainingError(f"{folder.name} could not be deleted: {error.strerror or error}.") from error
    RunIndex(folder.parent).note(folder)
    return None if for_ever else target


def restore(place: Path) -> Path:
    """Bring a deleted run back and return its folder. Errors: `TrainingError`."""
    target = free_path(place.parent.parent / place.name)
    try:
        place.rename(target)
    except OSError as error:
        raise TrainingError(f"{place.name} could not be restored: {error.strerror or error}.") from error
    RunIndex(target.parent).note(target)
    return target
