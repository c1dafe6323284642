"""One thread that trains what the window shows, and answers it through a feed.

Every method of `Trainer` returns at once: it leaves a command for the thread, which obeys between two
batches. The thread never calls back; whoever wants news polls `feed.version`.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING

from engine.catalogue import Catalogue
from engine.data.batch import Splits
from engine.emit.fast import Fast
from engine.errors import NeuroloomError, TrainingError
from engine.feed.feed import Feed, Probe, Tried
from engine.feed.progress import Progress
from engine.runs.settings import Stage
from engine.train.failures import free_frames
from engine.train.loop import Interrupted
from engine.train.overrides import Overrides
from engine.train.run_folder import Keep
from engine.train.sources import Compile, Sources
from engine.train.taking_turns import turns
from engine.train.worker import Worker

if TYPE_CHECKING:
    from engine.document.graph import Project

log = logging.getLogger(__name__)

STATES = ("idle", "loading", "running", "paused", "stopping", "finished", "failed")


class Trainer:
    """Trains a project in a thread of its own.

    `datasets` is the folder with the data files; runs are kept under `runs`, or not at all if that is None.
    `state` is one of `STATES`; `error` says why it is "failed". After `stop` the state is "idle".
    `compile` replaces the emitter in tests.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        datasets: Path,
        runs: Path | None = None,
        *,
        compile: Compile | None = None,
    ) -> None:
        self.feed = Feed()
        self._sources = Sources(catalogue, datasets, compile)
        self._sources.unwanted = self._no_more
        self._newest: Project | None = None  # what was asked for last
        self._halts = self._halted = 0  # how often reading was to end, and how many of these were obeyed
        self._worker = Worker(catalogue, self._sources, runs, self.feed, self._in_a_hurry)
        self._inbox: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._hurry = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._cause: BaseException | None = None  # why the thread died
        self._closed = False
        self._unanswered = 0

    # -- what there is to see

    @property
    def state(self) -> str:
        self._notice_death()
        return self._worker.state

    @property
    def error(self) -> NeuroloomError | None:
        return self._worker.error

    @property
    def held(self) -> NeuroloomError | None:
        """Why a run waits for an edit that can be trained; None while it doesn't."""
        return self._worker.held

    @property
    def folder(self) -> Path | None:
        """The folder of the current run."""
        store = self._worker.saver.store
        return None if store is None else store.path

    def keep(self, every: int, newest: int) -> None:
        """From the next run on, keep the `newest` checkpoints of every `every`-th epoch (0: none)."""
        self._worker.saver.keep = Keep(every, newest)

    @property
    def progress(self) -> Progress:
        run = self._worker.run
        if run is None:
            return Progress(reading=self.reading)
        total = run.settings.epochs * run.steps_per_epoch
        seconds, step = run.seconds, run.step
        left = seconds / step * max(0, total - step) if step and run.stage is not Stage.DONE else None
        return Progress(
            epoch=run.epoch,
            epochs=run.settings.epochs,
            step=step,
            steps_per_epoch=run.steps_per_epoch,
            seconds=seconds,
            seconds_left=left,
            loss=run.loss if step else None,
            device=self._worker.device,
            phase=run.phases.number + 1,
            phases=len(run.program.plan.phases),
        )

    @property
    def reading(self) -> str:
        """How far the reading of data has come, as a sentence; "" while none are read or nothing is known."""
        return self._sources.reading

    @property
    def fast(self) -> Fast | None:
        """What the run trains with where its plan asks for the fast path; None before that is measured."""
        run = self._worker.run
        return None if run is None or not run.program.plan.fast else run.program.fast

    @property
    def data(self) -> Splits | None:
        """The splits in use as `{split: {column: tensor}}`, to be read only; None before they are loaded."""
        run = self._worker.run
        return None if run is None else run.data

    # -- what a window asks for

    def prepare(self, project: Project, revision: int = 0) -> None:
        """Build model and data, so that views work before training; an unfinished graph is no error."""
        self.update(project, revision)

    def update(self, project: Project, revision: int = 0) -> None:
        """Go on with an edited project from the next batch; unchanged layers keep what they have learned."""
        self._newest = project
        self._send(partial(self._worker.update, project, revision))

    def start(
        self,
        project: Project,
        revision: int = 0,
        *,
        epochs: int | None = None,
        seed: int | None = None,
        device: str | None = None,
        weights: Path | None = None,
    ) -> None:
        """Train from the seed; a run that is going on is stopped first.

        Layers that fit begin with the `weights` of a run, a checkpoint or a file (`engine.train.warm_start`).
        """
        overrides = Overrides(epochs, seed, device)
        self._newest = project
        self._begin(partial(self._worker.start, project, revision, overrides, weights=weights))

    def continue_from(
        self, folder: Path, project: Project | None = None, revision: int = 0, *, at_rest: bool = False
    ) -> None:
        """Go on with a stored run from its checkpoint, with its own project unless one is given.

        One that had finished trains more; `at_rest`, a run is only taken up.
        """
        self._newest = project
        self._begin(partial(self._worker.continue_from, folder, project, revision, at_rest))

    def hold(self, why: NeuroloomError) -> None:
        """Pause for as long as the project cannot be trained; the next `update` lets the run go on."""
        self._send(partial(self._worker.hold, why), hurry=True)

    def pause(self) -> None:
        self._send(self._worker.pause, hurry=True)

    def resume(self) -> None:
        """Go on after `pause` or `stop`."""
        self._send(self._worker.resume)

    def more(self) -> None:
        """Go on with a run that was stopped or has finished: weights, optimiser and schedule stay.

        To the end of its plan; where that has been reached, for as many epochs again.
        """
        self._send(self._worker.more)

    def step(self) -> None:
        """Train one batch and pause; begins a run of the prepared project if there is none."""
        self._send(self._worker.step)

    def step_layer(self) -> None:
        """Show the next node of the batch at hand, forward, then backward, then the update of all.

        What is on show lies in the feed under `LAYER_STEP`. The numbers are those of plain
        steps; `step` and `resume` train what is left of the batch. Does nothing while training.
        """
        self._send(self._worker.step_layer)

    def back(self) -> None:
        """Return to before the last step that was taken singly, in the middle of a batch to the node before.

        The same numbers come once more.
        """
        self._send(self._worker.back)

    @property
    def seconds_on_views(self) -> float:
        """Seconds that views have taken so far, those in threads of their own included."""
        return self._worker.seconds_on_views

    @property
    def can_go_back(self) -> bool:
        """Whether a state before the last step is kept, and the run rests."""
        return self.state == "paused" and bool(self._worker.rewind.steps or self._worker.layers)

    def stop(self) -> None:
        """End the run; its weights, curves and checkpoint are kept."""
        if self.state in ("loading", "running", "paused"):
            self._worker.set_state("stopping")
        self._halt(self._worker.stop)

    def reset(self, new_weights: bool = False) -> None:
        """Forget the run and go back to the first weights, or to new ones from the next seed."""
        self._halt(partial(self._worker.reset, new_weights))

    def set(self, *, lr: float) -> None:
        """Change the learning rate from the next batch on; a schedule goes on from there."""
        self._send(partial(self._worker.set_learning_rate, lr))

    def watch(self, probes: frozenset[Probe]) -> None:
        """Set which views are on screen; all others cost nothing."""
        self._send(partial(self._worker.watch, probes))

    def pin(self, example: int) -> None:
        """Choose the validation example that activations and predictions are shown for."""
        self._send(partial(self._worker.pin, example))

    def try_input(self, tried: Tried | None) -> None:
        """Feed the model something made up, for the views that show what it answers; None for nothing.

        It is answered at once, also while training or paused; of several in a row perhaps the last alone.
        """
        self._worker.try_input(tried)

    def close(self, timeout: float = 10.0) -> bool:
        """Save the run and end the thread; returns whether it ended in time. Later calls do nothing."""
        self._notice_death()
        with self._lock:
            first, self._closed = not self._closed, True
            thread = self._thread
            if thread is None:
                return True
            if first:
                self._halts += 1
                self._inbox.put(self._worker.close)
                thread = self._ensure_thread()
        if first:
            self._hurry.set()
        thread.join(timeout)
        return not thread.is_alive()

    def wait(self, timeout: float = 60.0, until: Callable[[], bool] | None = None) -> bool:
        """Block until all commands are obeyed and nothing trains, or until `until` holds.

        For tests and scripts, never for a window. Returns whether it came to that within `timeout` seconds.
        """
        deadline = monotonic() + timeout
        nap = threading.Event()
        while monotonic() < deadline:
            if self._settled() if until is None else until():
                return True
            nap.wait(0.002)
        return False

    # -- passing commands on

    def _begin(self, command: Callable[[], None]) -> None:
        again = self._worker.starting
        if not self._closed:
            self._worker.set_state("loading")
        if again:  # what is read for the run that was to begin is not waited for
            self._halt(command)
        else:
            self._send(command, hurry=True)

    def _send(self, command: Callable[[], None], hurry: bool = False) -> None:
        self._notice_death()
        with self._lock:
            if self._closed:
                return
            self._unanswered += 1
            self._inbox.put(command)
            self._ensure_thread()
        if hurry:
            self._hurry.set()

    def _halt(self, command: Callable[[], None]) -> None:
        """Send a command that also ends the reading of data, if they are just read."""

        def obeyed() -> None:
            self._halted += 1
            command()

        if not self._closed:
            self._halts += 1
            self._send(obeyed, hurry=True)

    def _no_more(self, nodes: object) -> bool:
        """Whether nobody wants the data that are read; asked now and then while they are."""
        self.feed.touch()  # how far they are read is news
        newest = self._newest
        changed = newest is not None and self._sources.data_nodes(newest) != nodes
        changed = changed and not self._worker.starting  # an edit is taken over once the run has begun
        return changed or self._halts > self._halted

    def _ensure_thread(self) -> threading.Thread:
        """The thread, a fresh one where the last has died; the lock is held."""
        thread = self._thread
        if thread is None or not thread.is_alive():
            thread = self._thread = threading.Thread(target=self._work, name="neuroloom-trainer", daemon=True)
            thread.start()
        return thread

    def _notice_death(self) -> None:
        """Report a thread that has ended without being told to: its run has failed."""
        thread = self._thread
        if thread is None or thread.is_alive() or self._closed:
            return
        with self._lock:
            if self._thread is not thread or thread.is_alive():
                return
            self._thread = None
            cause, self._cause = self._cause, None
            self._unanswered = self._inbox.qsize()
            waiting = bool(self._unanswered)
        why = f" ({type(cause).__name__}: {cause})" if cause is not None else ""
        self._failed(
            TrainingError(
                f"The training thread ended unexpectedly{why}.",
                fix="Train again: a fresh thread does it. The run up to here is kept.",
            )
        )
        if waiting:  # what was asked meanwhile is still obeyed
            with self._lock:
                self._ensure_thread()

    def _settled(self) -> bool:
        self._notice_death()
        with self._lock:
            return not self._unanswered and not self._worker.going

    def _in_a_hurry(self) -> bool:
        # The event alone may stay set after its command was obeyed, and would cut every evaluation short.
        return self._hurry.is_set() and not self._inbox.empty()

    def _failed(self, error: BaseException) -> None:
        try:
            self._worker.fail(error)
        except Exception:  # whatever happens, a window must find a thread that answers
            log.exception("a failed run could not be ended in order")
            self._worker.going = False
            self._worker.set_state("failed")

    # -- the thread

    @property
    def _device(self) -> str:
        run = self._worker.run
        return run.settings.device if run is not None else "cpu"

    def _work(self) -> None:
        try:
            self._obey()
        except BaseException as error:  # whoever asks for the state finds a dead thread, and this is why
            log.debug("the training thread ends", exc_info=error)
            free_frames(error)
            self._cause = error

    def _obey(self) -> None:
        worker, inbox = self._worker, self._inbox
        while True:
            if worker.going and inbox.empty():
                self._guarded(worker.advance)
                continue
            command = inbox.get()
            if inbox.empty():
                self._hurry.clear()
            self._guarded(command)
            with self._lock:
                self._unanswered -= 1
            if command == worker.close:
                return

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            with turns.of(self, self._device):
                work()
        except Interrupted:  # while it read data that nobody wants any more: what is wanted comes next
            self._worker.starting = False
            log.debug("the reading of data has ended early")
        except BaseException as error:  # a layer may raise anything, SystemExit included; the thread lives on
            self._failed(error)
