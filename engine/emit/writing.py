"""Writes a network as Python of its own, with its data and weights beside it: whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from engine.catalogue import Catalogue
from engine.document.files import write_atomically
from engine.document.graph import Project
from engine.emit.beside import copy_beside, remove
from engine.emit.fast import Fast
from engine.emit.forms.form import Export, Form
from engine.emit.statements import compiled, quoted
from engine.errors import DataError
from engine.procedures.registry import MAIN


def export(
    project: Project,
    catalogue: Catalogue,
    target: Path,
    form: Form = Form.SCRIPT,
    *,
    with_data: bool = False,
    weights: Path | None = None,
    fast: Fast | None = None,
    distributed: bool = False,
    procedures: str | Sequence[str] = MAIN,
    replace: bool = True,
) -> list[Path]:
    """Write an export to `target`, its data and weights beside it; returns the files, what runs first.

    `weights` is a safetensors file of this project's model, `fast` the settings that a run was fastest with;
    `distributed` adds what torchrun needs, `procedures` are "main", "all" or names.
    Errors: `NeuroloomError`; what this call had written by then is removed again, and no file but those of
    the code is replaced by another; these only with `replace`, or by ones that are the same.
    """
    from engine.emit.forms.make import make_export

    made = make_export(
        project,
        catalogue,
        target,
        form,
        with_data=with_data,
        with_weights=weights is not None,
        fast=fast,
        distributed=distributed,
        procedures=procedures,
    )
    return write(made, weights, replace=replace)


def write(made: Export, weights: Path | None = None, *, replace: bool = True) -> list[Path]:
    """Write what was made, with a file of weights; returns the files, what runs first. Errors: as above."""
    texts = {made.root / place: source.text for place, source in made.files.items()}
    runs = made.root / made.runs
    for place in (place for place in texts if place.suffix == ".py"):
        compiled(texts[place], place.name)
    taken = [made.beside / name for _, name in made.copies]
    for place in texts:
        if any(one.absolute() == place.absolute() for one in taken):
            raise DataError(f"{place} would take the place of the data: name the script differently.")
        if not replace and os.path.lexists(place) and not _holds(place, texts[place]):
            raise DataError(
                f"{place} is there already and holds something else.",
                fix="Add --replace to have it replaced, or name another file.",
            )
    content = _read(weights) if weights is not None else b""
    if made.weights is not None:
        _check_place(made.weights, content, runs)
    fresh = [one for one in reversed(runs.parents) if not one.exists()]
    try:
        runs.parent.mkdir(parents=True, exist_ok=True)
        fresh += copy_beside(made.copies, made.beside)
        if made.weights is not None:
            fresh += [] if made.weights.exists() else [made.weights]
            write_atomically(made.weights, content)
        # The code last, and of that what runs: where it stands, everything it needs stands too.
        for place in sorted(texts, key=lambda one: one == runs):
            fresh += [] if place.exists() else [place]
            write_atomically(place, texts[place].encode("utf-8"))
    except BaseException:
        remove(fresh)
        raise
    others = [place for place in texts if place != runs]
    return [runs, *others, *([made.weights] if made.weights else []), *taken]


def _holds(place: Path, text: str) -> bool:
    """Whether a file holds this text."""
    try:
        return place.is_file() and place.read_bytes() == text.encode("utf-8")
    except OSError:
        return False


def _check_place(place: Path, weights: bytes, runs: Path) -> None:
    """Errors: `DataError` where other weights lie there than those of the code that is replaced."""
    if not os.path.lexists(place):
        return
    try:
        own = place.is_file() and quoted(place.name) in runs.read_text("utf-8")
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
