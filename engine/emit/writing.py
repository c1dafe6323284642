"""Writes a network as a script of its own, with its data and weights beside it: whole or not at all."""

from __future__ import annotations

from pathlib import Path

from engine.catalogue import Catalogue
from engine.document.files import write_atomically
from engine.document.graph import Project
from engine.document.shipped import copy_files
from engine.emit.fast import Fast
from engine.emit.lines import compiled
from engine.errors import DataError, NeuroloomError


def export(
    project: Project,
    catalogue: Catalogue,
    target: Path,
    *,
    with_data: bool = False,
    weights: Path | None = None,
    fast: Fast | None = None,
    distributed: bool = False,
) -> list[Path]:
    """Write the script to `target`, its data and weights beside it; returns the files, the script first.

    `weights` is a safetensors file of this project's model, `fast` the settings that a run was fastest with;
    `distributed` adds what torchrun needs. Errors: `NeuroloomError`; what this call had
    written by then is removed again.
    """
    from engine.emit.script import write_script

    weights_file = target.with_suffix(".safetensors")
    named = weights_file.name if weights else None
    script = write_script(
        project, catalogue, weights=named, fast=fast, distributed=distributed, beside=target.absolute().parent
    )
    wanted = [target, *([weights_file] if weights else [])]
    if with_data:
        wanted += [target.parent / name for name in script.files]
    fresh = [path for path in wanted if not path.exists()]
    try:
        compiled(script.plain.text, target.name)
        if with_data:
            copy_files(script.files, target.parent)
        if weights is not None:
            write_atomically(weights_file, _read(weights))
        # The script last: where it stands, everything it needs stands too.
        write_atomically(target, script.plain.text.encode("utf-8"))
    except (NeuroloomError, OSError):
        for path in fresh:
            path.unlink(missing_ok=True)
        raise
    return wanted


def _read(weights: Path) -> bytes:
    try:
        return weights.read_bytes()
    except OSError as error:
        raise DataError(f"The weights cannot be read: {error.strerror}.") from error
