"""The application's side, in a process of its own: trains a project and prints what `train --json` prints."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from engine.catalogue import load_catalogue
from engine.document.files import load_project
from engine.document.shipped import datasets_folder
from engine.emit.fast import Fast
from engine.errors import NeuroloomError
from engine.feed.feed import Feed
from engine.runs.settings import Settings, Stage
from engine.train.begin import begin_run
from engine.train.epochs import Record
from engine.train.sources import Sources
from engine.train.warm_start import warm_start


def run(file: Path, weights: Path | None, fast: Fast | None) -> None:
    """Train to the end on the CPU, with these settings and no others. Errors: `NeuroloomError`."""
    catalogue = load_catalogue()
    project = load_project(file)
    project.plan = project.plan.with_(fast=False)  # nothing is measured again
    sources = Sources(catalogue, datasets_folder())
    program = sources.program(project, 0)
    settings = Settings.of(project.plan, device="cpu")
    found = begin_run(program, catalogue, sources.loader(program, "cpu"), settings, Feed(), fast=fast)
    if weights is not None:
        warm_start(found.model, weights, program.modules)
    found.on_record = _print
    while found.stage is not Stage.DONE:
        found.advance()


def _print(record: Record) -> None:
    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    place, told = sys.argv[1:]
    weights, fast = json.loads(told)
    try:
        run(Path(place), Path(weights) if weights else None, Fast.from_json(fast))
    except NeuroloomError as error:
        raise SystemExit(str(error)) from None
