"""`export` on the command line: a project as a script, a package or a notebook, with data and weights."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING

from engine.catalogue import Catalogue
from engine.cli import run as cli_run
from engine.cli.progress import ProgressLine
from engine.cli.words import positive, say, warn
from engine.document.graph import Project
from engine.emit.forms.form import Form

if TYPE_CHECKING:
    from engine.emit.fast import Fast
    from engine.emit.forms.form import Export
    from engine.train.verify.comparison import Comparison

OK, DIFFERENT, USAGE = 0, 1, 2
EVERY = 0.05  # seconds between two looks at the export
SHOWN = 12  # how many values are printed beside each other


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
        "--verify", action="store_true", help="run what was written beside the application, and compare"
    )
    parser.add_argument("--steps", type=positive, default=50, metavar="N", help="that --verify compares (50)")
    parser.add_argument(
        "--procedures", nargs="*", metavar="NAME", help="with these subcommands: names, all or none (main)"
    )


def export(project: Project, catalogue: Catalogue, options: argparse.Namespace) -> int:
    """Write what is asked for and return the exit status. Errors: `NeuroloomError`."""
    from engine.emit.forms.make import make_export
    from engine.emit.writing import write

    target: Path = options.out
    form: Form = options.form
    if form is Form.PACKAGE and target.is_file():
        warn(f"neuroloom export: {target} is a file; name the folder of the package.")
        return USAGE
    if form is not Form.PACKAGE and target.is_dir():
        warn(f"neuroloom export: {target} is a folder; name the {form} to write.")
        return USAGE
    weights = _weights(project, catalogue, options.weights) if options.weights else None
    fast = _fast(project, catalogue, options)
    made = make_export(
        project,
        catalogue,
        target,
        form,
        with_data=options.with_data,
        with_weights=weights is not None,
        fast=fast,
        distributed=options.distributed,
        procedures=_procedures(options.procedures),
    )
    written = write(made, weights, replace=options.replace)
    told = {str(form): str(target), "files": [str(path) for path in written]}
    if not options.json:
        for path in written:
            say(str(path))
    found = _verified(made, project, options, weights, fast) if options.verify else None
    if options.json:
        say(json.dumps(told if found is None else {**told, "verified": found.to_json()}))
    elif found is not None:
        for line in _side_by_side(found):
            say(line)
    return OK if found is None or found.equal else DIFFERENT


def _verified(
    made: Export, project: Project, options: argparse.Namespace, weights: Path | None, fast: Fast | None
) -> Comparison:
    """What comes of running the export beside the application. Errors: `NeuroloomError`."""
    from engine.train.verify.verification import Verification

    both = Verification(
        made, project, steps=options.steps, with_data=options.with_data, weights=weights, fast=fast
    )
    line = ProgressLine("verify", options.json)
    try:
        while not (found := both.look()).over:
            line.show(both.fraction, found.sentence())
            sleep(EVERY)
    finally:
        line.end()
        both.close()
    return found


def _side_by_side(found: Comparison) -> Iterator[str]:
    """The values of some steps, those of the application beside those of the export, and what was found."""
    wide = max((len(what) for what, _, _ in found.rows), default=0)
    yield f"{'':{wide}}  {'application':24}export"
    skip = max(1, -(-len(found.rows) // SHOWN))
    for at, (what, ours, other) in enumerate(found.rows):
        if at % skip == 0 or at == len(found.rows) - 1:
            yield f"{what:{wide}}  {ours!r:24}{other!r}"
    yield found.sentence()


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
