"""`export` on the command line: a project as a script, a package or a notebook, with data and weights."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from engine.catalogue import Catalogue
from engine.cli import run as cli_run
from engine.cli.words import say, warn
from engine.document.graph import Project
from engine.emit.forms.form import Form

if TYPE_CHECKING:
    from engine.emit.fast import Fast

OK, USAGE = 0, 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what `export` is told beside the project."""
    parser.add_argument(
        "--out", type=Path, required=True, metavar="F", help="the file to write, or the folder of a package"
    )
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument(
        "--package",
        dest="form",
        action="store_const",
        const=Form.PACKAGE,
        default=Form.SCRIPT,
        help="as a folder that pip installs and pytest tests: model.py, data.py, train.py",
    )
    forms.add_argument(
        "--notebook",
        dest="form",
        action="store_const",
        const=Form.NOTEBOOK,
        help="as a Jupyter notebook that trains and draws the curves",
    )
    parser.add_argument("--replace", action="store_true", help="write over files at --out that differ")
    parser.add_argument(
        "--weights", type=Path, metavar="RUN", help="with the weights of a run, or a .safetensors"
    )
    parser.add_argument("--fast", action="store_true", help="with what is measured to be fastest here")
    parser.add_argument("--distributed", action="store_true", help="with the lines that torchrun needs")
    parser.add_argument("--with-data", action="store_true", help="copy the data files beside the code")
    parser.add_argument(
        "--procedures", nargs="*", metavar="NAME", help="with these subcommands: names, all or none (main)"
    )


def export(project: Project, catalogue: Catalogue, options: argparse.Namespace) -> int:
    """Write what is asked for and return the exit status. Errors: `NeuroloomError`."""
    from engine.emit.writing import export as write

    target: Path = options.out
    form: Form = options.form
    if form is Form.PACKAGE and target.is_file():
        warn(f"neuroloom export: {target} is a file; name the folder of the package.")
        return USAGE
    if form is not Form.PACKAGE and target.is_dir():
        warn(f"neuroloom export: {target} is a folder; name the {form} to write.")
        return USAGE
    weights = _weights(project, catalogue, options.weights) if options.weights else None
    written = write(
        project,
        catalogue,
        target,
        form,
        with_data=options.with_data,
        weights=weights,
        fast=_fast(project, catalogue, options),
        distributed=options.distributed,
        procedures=_procedures(options.procedures),
        replace=options.replace,
    )
    if options.json:
        say(json.dumps({str(form): str(target), "files": [str(path) for path in written]}))
    else:
        for path in written:
            say(str(path))
    return OK


def _procedures(names: list[str] | None) -> str | list[str]:
    """Which procedures a script is to have; the main ones where nobody says."""
    if names is None or names == ["main"]:
        return "main"
    return "all" if names == ["all"] else [] if names == ["none"] else names


def _fast(project: Project, catalogue: Catalogue, options: argparse.Namespace) -> Fast | None:
    """What the exported run was fastest with, or what is measured now; None where nobody asks."""
    from engine.document.shipped import datasets_folder
    from engine.emit.fast import Fast
    from engine.runs.records import read_settings
    from engine.train.autotune import measured

    if options.weights is not None and (options.weights / "settings.json").is_file():
        recorded = Fast.from_json(read_settings(options.weights).get("fast_path"))
        if recorded is not None:
            return recorded
    if not (options.fast or project.plan.fast):
        return None
    found = measured(project, catalogue, datasets_folder())
    warn(found.sentence())
    return found


def _weights(project: Project, catalogue: Catalogue, place: Path) -> Path:
    """The weights file of a run. Errors: `TrainingError` where there is none, or it is of another model."""
    from engine.emit.program import compile_program
    from engine.runs.checkpoints import load_weights

    return cli_run.load_weights_of(compile_program(project, catalogue).Model(), place, load_weights)
