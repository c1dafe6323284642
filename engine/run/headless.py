"""Trains without a window, in the calling thread: what `train` on the command line does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from engine.catalogue import Catalogue
from engine.errors import NeuroloomError
from engine.run.begin import begin_run, continue_run
from engine.run.devices import choose_device
from engine.run.failures import explain
from engine.run.feed import Feed
from engine.run.loop import Interrupted, Record, Run, Settings, Stage
from engine.run.sources import Sources
from engine.run.store import LAST_AND_BEST, Keep, RunFolder
from engine.run.warm_start import Report, recorded, warm_start

if TYPE_CHECKING:
    from engine.graph import Project


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended: `state` is finished or stopped. `results` are the test values of a finished one."""

    state: str
    run: Run
    results: Record


def run_headless(
    project: Project,
    catalogue: Catalogue,
    datasets: Path,
    *,
    epochs: int | None = None,
    seed: int | None = None,
    device: str | None = None,
    folder: Path | None = None,
    resume: bool = False,
    weights: Path | None = None,
    keep: Keep = LAST_AND_BEST,
    on_match: Callable[[Report], None] | None = None,
    on_line: Callable[[Record], None] | None = None,
    on_notice: Callable[[str], None] | None = None,
    on_start: Callable[[Run], None] | None = None,
    stopped: Callable[[], bool] | None = None,
) -> Outcome:
    """Train a project to its end, or until `stopped` says so, which is asked at every batch.

    `on_line` gets a record a step, an epoch, and one of the test values; `folder` is where the run is kept;
    with `resume` it goes on from the checkpoint there. Layers that fit begin with `weights`; `on_match` hears
    which. `keep` says which checkpoints stay.
    Errors: `TrainingError` and its relatives, each with the node they belong to.
    """
    feed = Feed()
    sources = Sources(catalogue, datasets)
    program = None
    run: Run | None = None
    store: RunFolder | None = None
    try:
        program = sources.program(project, 0)
        if resume and folder is not None:
            run = continue_run(folder, program, catalogue, lambda on: sources.loader(program, on), feed)
        else:
            chosen, notice = choose_device(device)
            if notice:
                feed.note("warning", notice)
            settings = Settings.of(project.plan, epochs=epochs, seed=seed, device=chosen)
            run = begin_run(program, catalogue, sources.loader(program, chosen), settings, feed)
        report = None
        if weights is not None and not resume:
            report = warm_start(run.model, weights, program.modules)
            if on_match is not None:
                on_match(report)
        if on_notice is not None:
            for event in feed.events:
                on_notice(event.message)
        store = None if folder is None else RunFolder(folder, keep)
        if store is not None:
            store.begin(project, run)
            if report is not None and weights is not None:
                store.remember(weights=recorded(report, weights))
        run.on_record = on_line
        run.interrupted = stopped
        if on_start is not None:
            on_start(run)
        state = _train(run, store, stopped, on_notice)
    except (Exception, SystemExit) as error:  # a layer may raise anything, sys.exit included
        found = explain(error, program, project.plan.batch)
        _end(store, run, "failed", found)
        raise found from None
    _end(store, run, state, None)
    return Outcome(state, run, run.results)


def _train(
    run: Run,
    store: RunFolder | None,
    stopped: Callable[[], bool] | None,
    on_notice: Callable[[str], None] | None,
) -> str:
    while run.stage is not Stage.DONE:
        if stopped is not None and stopped():
            run.rest()
            return "stopped"
        try:
            run.advance()
        except Interrupted:
            continue
        if store is not None and store.due(perf_counter()):
            try:
                store.write(run)
            except NeuroloomError as error:  # a full disk ends no run; the last write says so again
                if on_notice is not None:
                    on_notice(str(error))
    return "finished"


def _end(store: RunFolder | None, run: Run | None, state: str, error: NeuroloomError | None) -> None:
    if store is not None and run is not None:
        store.end(run, state, None if error is None else str(error))
