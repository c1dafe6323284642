"""Trains without a window, in the calling thread: what `train` on the command line does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from engine.catalogue import Catalogue
from engine.devices import choose_device
from engine.errors import TrainingError
from engine.feed.feed import Feed
from engine.runs.settings import Settings, Stage
from engine.train.advice.health import Health
from engine.train.begin import begin_run, continue_run
from engine.train.epochs import Record
from engine.train.failures import explain
from engine.train.loop import Interrupted, Run
from engine.train.more import train_up_to
from engine.train.run_folder import LAST_AND_BEST, Keep, RunFolder
from engine.train.saving import Saver
from engine.train.sources import Sources
from engine.train.warm_start import Report, recorded, warm_start

if TYPE_CHECKING:
    from engine.document.graph import Project
    from engine.train.distributed import World


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
    world: World | None = None,
) -> Outcome:
    """Train a project to its end, or until `stopped` says so, which is asked at every batch.

    `on_line` gets a record a step, an epoch, and one of the test values; `folder` is where the run is kept;
    with `resume` it goes on from the checkpoint there, up to `epochs` if these are given. Layers that fit
    begin with `weights`; `on_match` hears which. `keep` says which checkpoints stay. With `world` this is one
    process of several (`engine.train.distributed`), and only the first of them writes.
    Errors: `TrainingError` and its relatives, each with the node they belong to.
    """
    feed = Feed()
    sources = Sources(catalogue, datasets)
    program = None
    run: Run | None = None
    saver = Saver(feed)
    notices = _Notices(feed, on_notice)
    writes = folder is not None and (world is None or world.first)
    if world is not None:
        world.asked, stopped = stopped, world.agreed
        device = world.device
    try:
        program = sources.program(project, 0)
        memory = program.book.memory(program.project)
        if on_notice is not None and memory is not None and memory.total:
            on_notice(str(memory))
        if resume and folder is not None:
            run = continue_run(
                folder, program, catalogue, lambda on: sources.loader(program, on), feed, world=world
            )
            if epochs is not None and (told := train_up_to(run, epochs)):
                feed.note("info", told, step=run.step)
        else:
            chosen, notice = choose_device(device)
            if notice:
                feed.note("warning", notice)
            settings = Settings.of(project.plan, epochs=epochs, seed=seed, device=chosen)
            run = begin_run(program, catalogue, sources.loader(program, chosen), settings, feed, world=world)
        report = None
        if weights is not None and not resume:
            report = warm_start(run.model, weights, program.modules)
            if on_match is not None:
                on_match(report)
        if world is not None:
            world.announce(run)
        notices.pass_on()
        if folder is not None and writes:
            store = RunFolder(folder, keep)
            store.begin(project, run, fresh=not resume)
            saver.adopt(store, project)
            if report is not None and weights is not None:
                store.remember(weights=recorded(report, weights))
            if world is not None:
                store.remember(**world.facts(run))
        run.on_record = on_line
        run.interrupted = stopped
        if on_start is not None:
            on_start(run)
        if world is not None:
            world.wait()  # nobody writes a checkpoint that somebody still reads
        state = _train(run, saver, stopped, notices)
    except (Exception, SystemExit) as raised:  # a layer may raise anything, sys.exit included
        error = raised if world is None else world.explained(raised)
        batch = (run.settings.batch or run.rows("train")) if run is not None else project.plan.batch
        found = explain(error, program, batch or None)
        if run is not None:
            saver.end(run, "failed", str(found))
            notices.pass_on()
        raise found from None
    saver.end(run, state)
    if saver.failing:  # training went on without a disk; now there is nothing left to wait for
        fix = "Make room on the disk." if saver.full else None
        raise TrainingError(f"The run was {state}, but could not be saved.", fix=fix)
    notices.pass_on()
    return Outcome(state, run, run.results)


def _train(run: Run, saver: Saver, stopped: Callable[[], bool] | None, notices: _Notices) -> str:
    health = Health()
    while run.stage is not Stage.DONE:
        if stopped is not None and stopped():
            run.rest()
            return "stopped"
        try:
            run.advance()
        except Interrupted:
            continue
        for finding in health.look(run):
            run.feed.note(
                finding.kind, finding.message, finding.node_id, run.step, finding.remedy, finding.what
            )
            notices.pass_on()
        if saver.due(perf_counter()):
            saver.save(run)
            notices.pass_on()
    return "finished"


class _Notices:
    """Hands on what the feed has to say, each sentence once."""

    def __init__(self, feed: Feed, tell: Callable[[str], None] | None) -> None:
        self._feed, self._tell, self._said = feed, tell, 0

    def pass_on(self) -> None:
        events = self._feed.events
        if self._tell is not None:
            for event in events[self._said :]:
                if event.message:
                    self._tell(event.message)
        self._said = len(events)
