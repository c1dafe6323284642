"""Everything a run needs to go on bit for bit: safetensors for the numbers, JSON for the rest. Never pickle.

A checkpoint is two files. The tensors are written first, under a name of their own; renaming the JSON that
names them is what makes the checkpoint valid, so a kill at any moment leaves the old one or the new one.
"""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from engine.document.files import ordinary, write_atomically
from engine.errors import TrainingError, reason_of
from engine.runs.records import CHECKPOINT, read_json, reading

VERSION = 1
LEFT = ("*.safetensors.part", ".tmp??????")  # half-written tensors, the second safetensors' own

Tensors = dict[str, Tensor]
Facts = dict[str, Any]


def write(folder: Path, tensors: Tensors, facts: Facts) -> None:
    """Write a state that was captured. Errors: `TrainingError` when the disk refuses."""
    name = f"checkpoint-{facts['step']}-{facts['stage']}.safetensors"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_tensors(folder / name, tensors)
        write_atomically(folder / CHECKPOINT, json.dumps({"tensors": name, **facts}).encode())
        for old in folder.glob("checkpoint-*.safetensors"):
            if old.name != name:
                old.unlink(missing_ok=True)
    except OSError as error:
        raise TrainingError(f"The checkpoint could not be written: {error.strerror or error}.") from error


def load(folder: Path) -> tuple[Tensors, Facts]:
    """Read the checkpoint of a run. Errors: `TrainingError` when there is none or it cannot be read."""
    if not os.path.lexists(folder / CHECKPOINT):
        raise TrainingError(f"There is no checkpoint in {folder.name}.")
    with reading(folder, CHECKPOINT):
        facts = read_json(folder / CHECKPOINT)
        if not isinstance(facts, dict) or facts.get("version") != VERSION:
            raise TrainingError(
                f"The checkpoint in {folder.name} was written by another version of Neuroloom."
            )
        path = folder / Path(facts["tensors"]).name
    return load_weights(path), facts


def write_tensors(path: Path, tensors: Tensors) -> None:
    """Write a safetensors file under a temporary name, then rename it. Errors: `OSError`."""
    temporary = path.with_name(path.name + ".part")
    try:
        temporary.touch()
        mode = stat.S_IMODE(temporary.stat().st_mode)
        # Tied weights are one tensor under two names, which the format refuses: each gets its own copy.
        save_file({name: _own(value) for name, value in tensors.items()}, temporary)
        os.chmod(temporary, mode)  # `save_file` puts a file there that only its owner may read
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())  # a checkpoint that names it must not outlive it
        os.replace(temporary, path)
    except SafetensorError as error:
        found = re.search(r"os error (\d+)", str(error))
        raise (
            OSError(int(found[1]), os.strerror(int(found[1]))) if found else OSError(reason_of(error))
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def _own(value: Tensor) -> Tensor:
    return value.detach().to("cpu", copy=True).contiguous()


def weights_file(place: Path) -> Path:
    """A safetensors file as it is, or that of the best (else the last) weights in a run's folder.

    Errors: `TrainingError` when there is none.
    """
    names = ("weights-best.safetensors", "weights-last.safetensors")
    candidates = [place / name for name in names] if place.is_dir() else [place]
    found = next((path for path in candidates if path.is_file()), None)
    if found is None:
        raise TrainingError(f"There are no weights in {place}.")
    return found


def load_weights(path: Path) -> Tensors:
    """The weights in a safetensors file. Errors: `TrainingError` when they cannot be read."""
    try:
        ordinary(path).close()
        return load_file(path)
    except (OSError, ValueError, SafetensorError) as error:
        raise TrainingError(f"The weights in {path.name} cannot be read: {reason_of(error)}.") from error
