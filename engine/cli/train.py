"""`train` on the command line: lines for people or machines, a progress bar, Ctrl-C."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from engine.catalogue import Catalogue
from engine.cli.words import say, warn
from engine.document.graph import Project
from engine.document.shipped import datasets_folder
from engine.runs.branch import branch
from engine.runs.records import CHECKPOINT, given_back, never_saved
from engine.train.distributed import World, folder_before, joined, launched, leave
from engine.train.epochs import Record
from engine.train.headless import run_headless
from engine.train.loop import Run
from engine.train.run_folder import Keep, new_folder
from engine.train.warm_start import Report

BAR_EVERY = 0.1  # seconds
FLUSH_EVERY = 0.1
OK, INTERRUPTED = 0, 130


class Stopping:
    """Whether somebody pressed Ctrl-C, or the reader of the output has gone."""

    def __init__(self) -> None:
        self.asked = False

    def __call__(self) -> bool:
        return self.asked

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Inside, the first Ctrl-C asks the run to stop; a second one ends the program as ever."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

        def ask(number: int, frame: Any) -> None:
            self.asked = True
            signal.signal(number, before[signal.Signals(number)])

        for number in before:
            signal.signal(number, ask)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class Printer:
    """Shows a run: a JSON object a line, or a line an epoch with a progress bar on a terminal."""

    def __init__(self, as_json: bool, stopping: Stopping) -> None:
        self._as_json = as_json
        self._stopping = stopping
        self._bar = not as_json and sys.stderr.isatty()
        self._bar_at = self._flush_at = 0.0
        self._run: Run | None = None
        self._shown = False

    def begin(self, run: Run) -> None:
        """Remember the run whose numbers are to come."""
        self._run = run

    def notice(self, text: str) -> None:
        warn(f"neuroloom: {text}")

    def match(self, report: Report) -> None:
        """Print which layers take weights from elsewhere."""
        if self._as_json:
            say(json.dumps({"weights": report.to_json()}))
            return
        for line in (report.head(), *(f"  {one}" for one in report.lines())):
            warn(line)

    def line(self, record: Record) -> None:
        """Show what one step, epoch or test gave."""
        try:
            if self._as_json:
                self._print_json(record)
            elif "step" in record:
                self._draw_bar()
            else:
                self.clear()
                say(self._words(record))
                sys.stdout.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self._stopping.asked = True

    def clear(self) -> None:
        """Take the bar off the screen."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False

    def _print_json(self, record: Record) -> None:
        say(json.dumps(record))
        now = perf_counter()
        if now >= self._flush_at or "step" not in record:
            sys.stdout.flush()
            self._flush_at = now + FLUSH_EVERY

    def _words(self, record: Record) -> str:
        values = "  ".join(f"{name} {value:.4f}" for name, value in record.items() if name != "epoch")
        run = self._run
        if "epoch" not in record or run is None:
            return values
        means = {name: value for name, value in run.history[-1].items() if name.startswith("train_")}
        trained = "  ".join(f"{name.removeprefix('train_')} {value:.4f}" for name, value in means.items())
        return (
            f"epoch {int(record['epoch']) + 1:>3}/{run.settings.epochs}  {trained}  {values}  "
            f"{duration(run.seconds)}"
        )

    def _draw_bar(self) -> None:
        now = perf_counter()
        run = self._run
        if not self._bar or run is None or now < self._bar_at:
            return
        self._bar_at = now + BAR_EVERY
        total = run.settings.epochs * run.steps_per_epoch
        fraction = run.step / total
        left = duration(run.seconds / run.step * (total - run.step))
        head = f"epoch {run.epoch + 1}/{run.settings.epochs} "
        tail = f" {100 * fraction:3.0f} %  loss {run.loss:.4f}  {left} left"
        room = max(4, min(40, shutil.get_terminal_size().columns - len(head) - len(tail) - 1))
        full = round(fraction * room)
        sys.stderr.write(f"\r{head}{'━' * full}{'┄' * (room - full)}{tail}\x1b[K")
        sys.stderr.flush()
        self._shown = True


class Silent(Printer):
    """A process that trains beside the one that speaks."""

    def notice(self, text: str) -> None:
        pass

    def match(self, report: Report) -> None:
        pass

    def line(self, record: Record) -> None:
        pass


def train(project: Project, catalogue: Catalogue, options: argparse.Namespace) -> int:
    """Train and return the exit status; one of several processes ends here.

    Errors: `NeuroloomError`, once the run's folder is written.
    """
    if not launched():
        return _train(project, catalogue, options, None)
    with joined(options.device) as world:
        status = _train(project, catalogue, options, world)
    if world is not None and world.size > 1:
        leave(status)
    return status


def _train(project: Project, catalogue: Catalogue, options: argparse.Namespace, world: World | None) -> int:
    stopping = Stopping()
    speaks = world is None or world.first
    printer = Printer(options.json, stopping) if speaks else Silent(options.json, stopping)
    if world is None:
        folder, resume = _place(project, options), options.resume or options.branch is not None
    else:
        folder, resume = world.decided(partial(_place_again, project, options, world.restarts))
    try:
        with stopping.listening(), given_back(folder) if options.out is None else nullcontext():
            outcome = run_headless(
                project,
                catalogue,
                datasets_folder(),
                epochs=options.epochs,
                seed=options.seed,
                device=options.device,
                folder=folder,
                resume=resume,
                weights=options.weights,
                keep=Keep(options.checkpoint_every or 0, options.keep),
                on_match=printer.match,
                on_line=printer.line,
                on_notice=printer.notice,
                on_start=printer.begin,
                stopped=stopping,
                world=world,
            )
    finally:
        printer.clear()
    steps = outcome.run.step
    if speaks:
        warn(f"{outcome.state} after {steps:,} steps; the run is in {folder}")
    return OK if outcome.state == "finished" else INTERRUPTED


def _place(project: Project, options: argparse.Namespace) -> Path:
    """The run's folder, with what it branches from in it."""
    folder: Path = options.out or new_folder(Path("runs"), project.title)
    if options.branch is not None:
        with given_back(folder):
            branch(options.branch, folder)
    return folder


def _place_again(project: Project, options: argparse.Namespace, restarts: int) -> tuple[Path, bool]:
    """The folder for several processes, and whether to go on from a checkpoint there."""
    before = (options.out or folder_before(Path("runs"))) if restarts else None
    if before is not None and ((before / CHECKPOINT).is_file() or never_saved(before)):
        return before, True
    return _place(project, options), options.resume or options.branch is not None


def duration(seconds: float) -> str:
    """Seconds as people say them: `8.3 s`, `1 min 52 s`, `2 h 05 min`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02} s"
    return f"{minutes // 60} h {minutes % 60:02} min"
