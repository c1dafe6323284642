"""Writes a network as a script of its own, with its data and weights beside it: whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from engine.catalogue import Catalogue
from engine.document.files import write_atomically
from engine.document.graph import Project
from engine.emit.beside import copy_beside, remove
from engine.emit.fast import Fast
from engine.emit.statements import compiled, quoted
from engine.errors import DataError
from engine.procedures.registry import MAIN


def export(
    project: Project,
    catalogue: Catalogue,
    target: Path,
    *,
    with_data: bool = False,
    weights: Path | None = None,
    fast: Fast | None = None,
    distributed: bool = False,
    procedures: str | Sequence[str] = MAIN,
    replace: bool = True,
) -> list[Path]:
    """Write the script to `target`, its data and weights beside it; returns the files, the script first.

    `weights` is a safetensors file of this project's model, `fast` the settings that a run was fastest with;
    `distributed` adds what torchrun needs, `procedures` are "main", "all" or names.
    Errors: `NeuroloomError`; what this call had written by then is removed again, and no file but the script
    is replaced by another; that only with `replace`, or by one that is the same.
    """
    from engine.emit.script import write_script

    weights_file = target.with_suffix(".safetensors")
    named = weights_file.name if weights else None
    script = write_script(
        project,
        catalogue,
        weights=named,
        fast=fast,
        distributed=distributed,
        beside=target.absolute().parent,
        with_data=with_data,
        procedures=procedures,
    )
    compiled(script.plain.text, target.name)
    if any((target.parent / name).absolute() == target.absolute() for _, name in script.files):
        raise DataError(f"{target} would take the place of the data: name the script differently.")
    if not replace and os.path.lexists(target) and not _holds(target, script.plain.text):
        raise DataError(
            f"{target} is there already and holds something else.",
            fix="Add --replace to have it replaced, or name another file.",
        )
    content = _read(weights) if weights is not None else b""
    if weights is not None:
        _check_place(weights_file, content, target)
    fresh = [one for one in reversed(target.parents) if not one.exists()]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh += copy_beside(script.files, target.parent)
        if weights is not None:
            fresh += [] if weights_file.exists() else [weights_file]
            write_atomically(weights_file, content)
        # The script last: where it stands, everything it needs stands too.
        write_atomically(target, script.plain.text.encode("utf-8"))
    except BaseException:
        remove(fresh)
        raise
    taken = [target.parent / name for _, name in script.files]
    return [target, *([weights_file] if weights else []), *taken]


def _holds(place: Path, text: str) -> bool:
    """Whether a file holds this text."""
    try:
        return place.is_file() and place.read_bytes() == text.encode("utf-8")
    except OSError:
        return False


def _check_place(place: Path, weights: bytes, script: Path) -> None:
    """Errors: `DataError` where other weights lie there than those of the script that is replaced."""
    if not os.path.lexists(place):
        return
    try:
        own = place.is_file() and quoted(place.name) in script.read_text("utf-8")
        same = place.is_file() and place.read_bytes() == weights
    except (OSError, ValueError):
        own = same = False
    if not (own or same):
        raise DataError(
            f"There is another {place} already, which is not replaced.",
            fix="Move it away, or name the script differently.",
        )


def _read(weights: Path) -> bytes:
    try:
        return weights.read_bytes()
    except OSError as error:
        raise DataError(f"The weights cannot be read: {error.strerror}.") from error
