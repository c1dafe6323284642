"""Makes an export in the form that is asked for, without writing it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.catalogue import Catalogue
from engine.document.graph import Project
from engine.document.shipped import datasets_folder
from engine.emit.fast import Fast
from engine.emit.forms.form import Export, Form
from engine.emit.forms.notebook import as_json, as_text, notebook_of
from engine.emit.forms.package import package_name, package_of
from engine.emit.script import Source, write_script
from engine.procedures.registry import MAIN


def make_export(
    project: Project,
    catalogue: Catalogue,
    target: Path,
    form: Form = Form.SCRIPT,
    *,
    with_data: bool = False,
    with_weights: bool = False,
    fast: Fast | None = None,
    distributed: bool = False,
    procedures: str | Sequence[str] = MAIN,
) -> Export:
    """An export as it will stand at `target`, a folder for a package; nothing is written yet.

    `with_weights` where trained weights are to lie beside it. Errors: as for `export_script`.
    """
    root, stem = target.parent, target.stem
    if form is Form.PACKAGE:
        root, stem = target, package_name(project)
    beside = root / stem if form is Form.PACKAGE else root
    weights = beside / f"{stem}.safetensors" if with_weights else None
    script = write_script(
        project,
        catalogue,
        weights=weights.name if weights else None,
        fast=fast,
        distributed=distributed,
        beside=beside.absolute(),
        with_data=with_data,
        procedures=procedures,
        notebook=form is Form.NOTEBOOK,
    )
    shown: dict[str, Source] = {}
    if form is Form.PACKAGE:
        files: dict[str, Source] = package_of(script, weights.name if weights else None)
        runs = next(place for place in reversed(files) if place.startswith(f"{stem}/"))
    elif form is Form.NOTEBOOK:
        cells = notebook_of(script)
        files, runs = {target.name: Source(as_json(cells))}, target.name
        shown = {target.name: as_text(cells)}
    else:
        files, runs = {target.name: script.plain}, target.name
    data = (script.folder or datasets_folder()) if script.holds else None
    return Export(form, root, files, runs, script.files, weights, shown or files, script.trains, data)
