"""What the training thread does with its commands. Everything here runs in that thread alone."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from engine.catalogue import Catalogue
from engine.devices import choose_device, device_name, release_memory
from engine.document.files import load_project
from engine.emit.fast import Fast
from engine.errors import NeuroloomError
from engine.feed.feed import Feed, Probe, Tried
from engine.look.first_weights import first_weights
from engine.look.labels import check_labels
from engine.look.sight import Look
from engine.look.taking import Probes
from engine.runs.settings import Stage
from engine.shapes.heads import loss_heads
from engine.train.advice.health import Health
from engine.train.begin import begin_run, check_trains, continue_run
from engine.train.failures import explain, free_frames, remedy_for
from engine.train.glance import Glance
from engine.train.layer_steps import UPDATE, LayerSteps
from engine.train.loop import Interrupted, Run
from engine.train.more import go_further
from engine.train.overrides import Overrides
from engine.train.rebuild import rebuild, taken_over
from engine.train.rewind import Rewind
from engine.train.run_folder import new_folder
from engine.train.saving import Saver
from engine.train.sources import Sources
from engine.train.warm_start import recorded, warm_start

if TYPE_CHECKING:
    from engine.document.graph import Project
    from engine.emit.program import Program

log = logging.getLogger(__name__)

ONE_BATCH = 1
WAITING, FAILURE = "waiting", "failure"  # what events are about that say why a run is held or has failed


class Worker:
    """Holds the run and obeys. `going` says whether to train the next batch.

    `hurried` is asked during an evaluation whether somebody wants the thread back.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        sources: Sources,
        runs: Path | None,
        feed: Feed,
        hurried: Callable[[], bool],
    ) -> None:
        self.feed = feed
        self.state = "idle"
        self.error: NeuroloomError | None = None
        self.run: Run | None = None
        self.device = ""
        self.going = False
        self.saver = Saver(feed)
        self._catalogue = catalogue
        self._sources = sources
        self._runs = runs
        self._hurried = hurried
        self._probes = Probes(feed)
        self._probe_at = float("inf")
        self._program: Program | None = None
        self._project: Project | None = None
        self._revision = 0
        self._overrides = Overrides()
        self.starting = False  # a run is about to begin, its data are perhaps being read
        self._open = False  # a run is under way, whether it moves or pauses
        self._batches_left: int | None = None
        self.held: NeuroloomError | None = None  # why the run waits until another edit
        self._goes_on = False  # whether it trains again then
        self._health, self._glance = Health(), Glance()
        self.rewind = Rewind()
        self.layers = LayerSteps(feed)

    def set_state(self, state: str) -> None:
        if state != self.state:
            self.state = state
            self.feed.touch()

    # -- training

    def advance(self) -> None:
        """Train one batch, or do the evaluation that is due, and what falls due beside it."""
        run = self.run
        assert run is not None
        try:
            now = perf_counter()
            ending = self._batches_left == ONE_BATCH or run.ending
            if ending or now >= self._probe_at:
                self._probes.take_due(run, now, ending=ending)
                self._probe_at = self._probes.next_due
            run.advance()
            self._glance.look(run, now)
            for finding in self._health.look(run):
                self.feed.note(
                    finding.kind, finding.message, finding.node_id, run.step, finding.remedy, finding.what
                )
            if self.saver.due(now):
                self.saver.save(run)
            if run.stage is Stage.DONE:
                self._finish(run)
            elif self._batches_left is not None and run.stage is Stage.TRAIN:
                self._batches_left -= 1
                if self._batches_left <= 0:
                    self._rest("paused")
        except Interrupted:
            return

    def fail(self, error: BaseException) -> None:
        """End the run with an error that names its node; the thread lives on."""
        log.debug("training failed", exc_info=error)
        run = self.run
        planned = self._project.plan.batch if self._project is not None else 0
        # Where a batch is all there is, its rows are the training examples.
        batch = (run.settings.batch or run.rows("train")) if run is not None else planned or None
        found, remedy = explain(error, self._program, batch), remedy_for(error, run, batch)
        free_frames(error)
        free_frames(found)
        self.error = found
        self.going = self.starting = False
        self._batches_left = None
        self.layers.drop()
        if run is not None:
            run.rest()
            run.peek = None
            run.optimiser.zero_grad()
            self._end("failed", str(found))
            release_memory(run.settings.device)
        step = run.step if run is not None else 0
        self.feed.note("error", str(found), found.node_id, step, remedy, FAILURE)
        self.set_state("failed")

    def _go(self) -> None:
        self.layers.drop()  # a batch that is half shown is trained whole
        self.going = True
        self._probe_at = self._probes.next_due
        self.set_state("running")

    def _finish(self, run: Run) -> None:
        self._end("finished")
        self.feed.note("info", f"Finished after {run.epoch} epochs and {run.step:,} steps.", step=run.step)
        self._rest("finished")

    def _rest(self, state: str) -> None:
        """Stand still, and bring what is on screen up to the last step."""
        self._batches_left = None
        if self.run is not None:
            self.run.rest()
            self.run.peek = None
        self.set_state(state)
        if self.run is not None:
            self._show(self.run)
            self.saver.keep_views(self.run, last=state != "paused")
        self.going = False

    def _show(self, run: Run) -> None:
        """Take every watched view of a model that stands still."""
        self._probes.refresh()
        self._probes.take_all(run)

    # -- commands

    def start(
        self,
        project: Project,
        revision: int,
        overrides: Overrides,
        batches: int | None = None,
        weights: Path | None = None,
    ) -> None:
        """Begin a run from its seed, layers that fit from `weights`; `batches` pauses it after that many."""
        self._clear()
        self._overrides = replace(overrides, drawn=self._overrides.drawn)
        device, notice = choose_device(overrides.device)
        if notice:
            self.feed.note("warning", notice)
        program = self._compile(project, revision)
        load = self._sources.loader(program, device)
        settings = self._overrides.settings(project.plan, device)
        run = begin_run(program, self._catalogue, load, settings, self.feed, revision)
        report = None if weights is None else warm_start(run.model, weights, program.modules)
        folder = None if self._runs is None else new_folder(self._runs, project.title)
        self._take_over(run, folder, fresh=True)
        if report is not None and weights is not None:
            self.feed.note("info", report.head())
            self.saver.remember(run, weights=recorded(report, weights))
            first_weights(Look.of(run, 0))
        if batches is not None:
            self.rewind.keep(run)
        self._batches_left = batches
        self._go()

    def continue_from(
        self, folder: Path, project: Project | None, revision: int, at_rest: bool = False
    ) -> None:
        """Take up a stored run, and go on with it unless it is to be `at_rest`."""
        self._clear()
        project = load_project(folder / "project.nloom") if project is None else project
        program = self._compile(project, revision)
        load = partial(self._sources.loader, program)
        run = continue_run(folder, program, self._catalogue, load, self.feed, revision)
        told = run.settings
        self._overrides = Overrides(told.each, told.seed, told.device, told.more, self._overrides.drawn)
        self.saver.recall(run, folder)
        self._take_over(run, folder)
        if run.stage is Stage.DONE:
            self._end("finished")
            if at_rest:
                self._rest("finished")
            else:
                self.more()
        elif at_rest:
            self._rest("paused")
        else:
            self._go()

    def update(self, project: Project, revision: int) -> None:
        """Take an edit over: into the run that is under way, or into the model that waits."""
        self._project, self._revision = project, revision
        run = self.run
        try:
            program = self._sources.program(project, revision)
            check_trains(program)
            changed = run is None or program.source.text != run.program.source.text
            if run is None or not (self._open or run.step):
                self._prepare(program, project, revision)
            elif not changed:
                run.revision = revision
            else:
                settings = self._overrides.settings(project.plan, run.settings.device)
                load = self._sources.loader(program, settings.device)
                restarted = rebuild(run, program, load, settings, revision)
                self.rewind.forget()
                self.layers.drop()
                self._program = program
                if self._open:
                    self.feed.note("info", taken_over(run, restarted), step=run.step)
        except Interrupted:  # nobody wants these data any more
            return
        except Exception as error:  # a run under way waits for another edit, the model stays what it was
            log.debug("edit not taken over", exc_info=error)
            self.hold(explain(error, None))
            free_frames(error)
            return
        run = self.run
        if run is None:
            return
        goes_on = self._goes_on
        self._let_go()
        if changed:
            self._forgive()
        if not self.going:
            self._show(run)
        if self._open:
            run.heads = loss_heads(run.program.project, run.program.book)
            check_labels(run.heads, run.data)
            self.saver.keep_project(project, run)
            if goes_on and run.stage is not Stage.DONE:
                self._go()

    def hold(self, why: NeuroloomError) -> None:
        """Let a run that is under way wait, with all it has learned, until an edit can be trained again."""
        run = self.run
        if not self._open or run is None:
            return
        if self.held is None or self.held.message != why.message:
            self.feed.note("warning", f"Training waits: {why}", why.node_id, run.step, about=WAITING)
        self.held = why
        if self.going:
            self._goes_on = True
            self._rest("paused")
            self.saver.save(run)

    def _let_go(self) -> None:
        """What a run waited for has come, or nothing waits any more."""
        if self.held is not None:
            self.feed.note("settled", "", about=WAITING)
        self.held, self._goes_on = None, False

    def _forgive(self) -> None:
        """A run has failed by what is no longer there: there is no error to show."""
        if self.error is not None:
            self.feed.note("settled", "", about=FAILURE)
        self.error = None

    def pause(self) -> None:
        self._goes_on = False
        if self.going:
            self._rest("paused")
            if self.run is not None:
                self.saver.save(self.run)

    def resume(self) -> None:
        """Go on after a pause or a stop."""
        run = self.run
        self._batches_left = None  # a step still to be taken need not end in a pause any more
        if self.going or run is None or run.feed is not self.feed or run.stage is Stage.DONE:
            return
        if self.state not in ("paused", "idle"):
            return
        if self.held is not None:
            self._goes_on = True
            return
        if not self._open:
            self._take_over(run, self.saver.folder)
        self._go()

    def more(self) -> None:
        """Go on with a run that was stopped or has finished, this one for the epochs that `further` gives."""
        run = self.run
        if run is None or run.stage is not Stage.DONE or self._project is None:
            self.resume()
            return
        self._overrides, told = go_further(run, self._overrides, self._project.plan)
        self._take_over(run, self.saver.folder)
        self.feed.note("info", told, step=run.step)
        self._go()

    def step(self) -> None:
        """Train one batch, then pause; begins a run where there is none."""
        if self.held is not None:
            return
        if self.state in ("paused", "running"):
            if not self.going and self.run is not None:
                self.rewind.keep(self.run)
            self._batches_left = ONE_BATCH
            self._go()
        elif self._project is not None:
            self.start(self._project, self._revision, self._overrides, ONE_BATCH)

    def step_layer(self) -> None:
        """Show the next piece of the batch at hand: a node forward, one backward, or the update, made now."""
        if self.going or self._project is None or self.held is not None:
            return
        if self.state != "paused":
            self.start(self._project, self._revision, self._overrides)
            self._rest("paused")
        run = self.run
        if run is None:
            return
        if run.stage is not Stage.TRAIN:
            self._batches_left = 0  # an evaluation is due first
            self._go()
            return
        piece = self.layers.next(run)
        if piece.stage == UPDATE:
            self.step()
        self.layers.show(run, piece)

    def back(self) -> None:
        """Return to the piece, or to the state, before the last step that was taken singly, while at rest."""
        run = self.run
        if self.going or run is None or self.state != "paused":
            return
        if self.layers:
            self.layers.back(run)
            return
        if not self.rewind.back(run):
            return
        self.layers.drop()
        self._health = Health()
        self.saver.rewound(run)
        self.feed.note("info", f"Back to the state after step {run.step:,}.", step=run.step)
        self._show(run)
        self.feed.touch()

    def stop(self) -> None:
        if self._open:
            self.layers.drop()
            self._end("stopped")
            self._rest("idle")
        elif self.state == "stopping":
            self.set_state("idle")

    def reset(self, new_weights: bool) -> None:
        """Drop the run and show the model as it begins, from the same seed or from the next one."""
        self._leave()
        self.error = None
        self.feed.clear()
        self.feed.forget_views()
        project = self._project
        if project is not None:
            if new_weights:
                self._overrides = self._overrides.with_new_weights(project.plan)
                self.feed.note("info", self._overrides.new_weights_words(project.plan))
            self.update(project, self._revision)
        self.set_state("idle")

    def set_learning_rate(self, rate: float) -> None:
        if self.run is None:
            return
        self.run.set_learning_rate(rate)
        self.layers.look_again(self.run)
        self.feed.note("info", f"The learning rate is {rate:g} from here on.", step=self.run.step)

    @property
    def seconds_on_views(self) -> float:
        """Seconds that views have taken so far."""
        return self._probes.spent

    def watch(self, probes: frozenset[Probe]) -> None:
        self._probes.watch(probes)
        self._look_again()

    def pin(self, example: int) -> None:
        self._probes.pinned = max(0, example)
        self._probes.refresh()
        self._look_again()

    def _look_again(self) -> None:
        """Take what is due: before the next batch, or at once of a model that stands still."""
        if self.going:
            self._probe_at = self._probes.next_due
        elif self.run is not None:
            self._probes.take_all(self.run)

    def try_input(self, tried: Tried | None) -> None:
        """Feed the model what the user made up; from any thread."""
        self._probes.try_input(tried)

    def close(self) -> None:
        """Save what is under way and let everything go."""
        self.going = False
        self._probes.close()
        self._leave()
        self._sources.forget()
        self.set_state("idle")

    # -- parts of them

    def _clear(self) -> None:
        """Make room for a run that is about to begin."""
        self._leave()
        self.error = None
        self.feed.clear()
        self.set_state("loading")
        self.starting = True

    def _compile(self, project: Project, revision: int) -> Program:
        self._project, self._revision = project, revision
        self._sources.fast = self._program = None
        self._program = self._sources.program(project, revision)
        return self._program

    def _take_over(self, run: Run, folder: Path | None, *, fresh: bool = False) -> None:
        """Make a run the one that is under way, and open its folder."""
        run.interrupted = self._hurried
        self.starting = False
        self.run = run
        self.device = device_name(run.settings.device)
        if run.program.fast.names():
            self.device = f"{self.device.partition(' · ')[0]} · fast {run.program.fast.times:.1f}×"
        self._program = run.program
        self._sources.fast = run.program.fast
        self.feed.forget_views()
        self._probes.refresh()
        self._open = True
        self._health, self._glance = Health(self._health), Glance()
        if self._project is not None:
            self.saver.begin(self._project, run, folder, fresh=fresh)

    def _leave(self) -> None:
        """Let the present run go, saved if it was under way."""
        if self._open:
            self._end("stopped")
        self.going = self.starting = False
        self._batches_left = None
        self.layers.drop()
        self.run = None
        self.rewind.forget()
        self.saver.forget()

    def _prepare(self, program: Program, project: Project, revision: int) -> None:
        """Build a model that nobody trains yet, for views; its curve goes nowhere."""
        device, _ = choose_device(self._overrides.device)
        load, settings = self._sources.loader(program, device), self._overrides.settings(project.plan, device)
        self.run = begin_run(program, self._catalogue, load, settings, Feed(), revision, fast=Fast())
        self.device = device_name(device)
        self._program = program

    def _end(self, state: str, error: str | None = None) -> None:
        self._open = False
        self._let_go()
        if self.run is not None:
            self.saver.end(self.run, state, error)
