"""Many runs of one project with other numbers in its plan, each in a process of its own, some at a time."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import product
from pathlib import Path

from engine.catalogue.training.numbers import WORDS, with_number
from engine.document.files import save_project
from engine.document.graph import Project
from engine.errors import GraphError, NeuroloomError
from engine.runs.index import RunRecord, read_run
from engine.runs.records import SETTINGS, Labels, given_back, lower_is_better, new_folder, write_labels

MOST = 64  # runs of one sweep
WAITING, RUNNING, FINISHED, FAILED, STOPPED = "waiting", "training", "finished", "failed", "stopped"
_PATIENCE = 10.0  # seconds for a process to write its checkpoint and end

Values = tuple[tuple[str, float], ...]


def grid(project: Project, axes: Mapping[str, Sequence[float]]) -> list[tuple[Values, Project]]:
    """Every combination of the values, the last axis fastest, each with its project.

    Errors: `GraphError` for a value out of range, a number the plan has no place for, or too many runs.
    """
    found = []
    for chosen in product(*axes.values()):
        values = tuple(zip(axes, chosen, strict=True))
        plan = project.plan
        for name, value in values:
            changed = with_number(plan, name, value)
            if changed is None:
                raise GraphError(f"The plan has no {WORDS.get(name, name)}.")
            plan = changed
        copy = project.copy()
        copy.plan = plan
        found.append((values, copy))
        if len(found) > MOST:
            raise GraphError(f"A sweep has at most {MOST} runs.")
    return found


@dataclass(frozen=True, slots=True)
class Trial:
    """One run of a sweep as it is now; `record` is what its folder says, `error` why it failed."""

    values: Values
    state: str = WAITING
    record: RunRecord | None = None
    error: str = ""


class Sweep:
    """Trains the projects one after the other, `at_once` at a time, into folders under `runs`.

    Every method but `cancel` is for one thread; `look` is called again and again, and does not wait.
    """

    def __init__(
        self, cases: Sequence[tuple[Values, Project]], runs: Path, device: str = "auto", at_once: int = 1
    ) -> None:
        self.trials = tuple(Trial(values) for values, _ in cases)
        self.tag = f"sweep-{datetime.now():%Y%m%d-%H%M%S}"
        self.monitor = cases[0][1].plan.stop.monitor if cases else "val_loss"
        self._projects = [project for _, project in cases]
        self._runs, self._device, self._at_once = runs, device, at_once
        self._scratch = tempfile.TemporaryDirectory(prefix="neuroloom-sweep-")
        self._running: dict[int, _Process] = {}
        self._cancelled = False

    @property
    def over(self) -> bool:
        """Whether nothing waits or trains any more."""
        return all(one.state not in (WAITING, RUNNING) for one in self.trials)

    @property
    def best(self) -> Trial | None:
        """The finished run whose monitored value was the best."""
        name = self.monitor
        judged = [
            (one, record)
            for one in self.trials
            if one.state == FINISHED and (record := one.record) is not None and name in record.best
        ]
        if not judged:
            return None
        choose = min if lower_is_better(name, judged[0][1].higher) else max
        return choose(judged, key=lambda pair: pair[1].best[name])[0]

    def cancel(self) -> None:
        """Have what trains end with a checkpoint, and nothing else begin; any thread may call this."""
        self._cancelled = True

    def look(self) -> tuple[Trial, ...]:
        """Begin what may begin, take in what has ended, and return how all of them do.

        Errors: `NeuroloomError` where no process can be started.
        """
        for place, process in list(self._running.items()):
            if self._cancelled:
                process.ask_to_end()
            self._show(place, process, process.ended())
        waiting = [place for place, one in enumerate(self.trials) if one.state == WAITING]
        for place in waiting:
            if self._cancelled:
                self._put(place, state=STOPPED)
            elif len(self._running) < self._at_once:
                self._begin(place)
        if self.over:
            self._scratch.cleanup()
        return self.trials

    def close(self) -> None:
        """End everything, and wait for it."""
        self.cancel()
        self.look()
        for place, process in list(self._running.items()):
            self._show(place, process, process.wait())
        self._scratch.cleanup()

    def _begin(self, place: int) -> None:
        file = Path(self._scratch.name) / f"{place}.nloom"
        project = self._projects[place]
        try:
            save_project(project, file)
            folder = new_folder(self._runs, project.title)
            with given_back(folder):
                self._running[place] = _Process(file, folder, self._device)
        except OSError as error:
            raise NeuroloomError(f"A run of the sweep cannot be started: {error.strerror}.") from error
        self._put(place, state=RUNNING)

    def _show(self, place: int, process: _Process, status: int | None) -> None:
        """Take in what a process has written, and its end."""
        record = None
        if (process.folder / SETTINGS).is_file():
            record = read_run(process.folder)
            if not process.labelled:
                process.labelled = True
                write_labels(process.folder, Labels((self.tag,), in_words(self.trials[place].values)))
        self._put(place, record=record)
        if status is None:
            return
        del self._running[place]
        with suppress(OSError):  # where no run has begun, its folder is empty
            process.folder.rmdir()
        state = {0: FINISHED}.get(status, STOPPED if self._cancelled else FAILED)
        error = ""
        if state == FAILED and status < 0:
            error = f"The system ended it ({signal.Signals(-status).name})."
        elif state == FAILED:
            error = (record.error if record is not None else "") or process.complaint()
        self._put(place, state=state, error=error)

    def _put(self, place: int, **changes: object) -> None:
        changed = replace(self.trials[place], **changes)  # type: ignore[arg-type]
        self.trials = (*self.trials[:place], changed, *self.trials[place + 1 :])


class _Process:
    """`neuroloom train` of one project file into one folder."""

    def __init__(self, file: Path, folder: Path, device: str) -> None:
        self.folder = folder
        self.labelled = False
        self._asked = False
        self._said = file.with_suffix(".txt")
        program = [sys.executable, "-m", "engine.cli", "train", str(file)]
        with self._said.open("wb") as said:
            self._process = subprocess.Popen(
                [*program, "--allow-outside", "--out", str(folder), "--device", device],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
            )

    def ended(self) -> int | None:
        """The exit status; None while it runs."""
        return self._process.poll()

    def ask_to_end(self) -> None:
        """As Ctrl-C does: it ends after its batch, with a checkpoint."""
        if not self._asked and self._process.poll() is None:
            self._asked = True
            self._process.send_signal(signal.SIGINT if sys.platform != "win32" else signal.SIGTERM)

    def wait(self) -> int:
        try:
            return self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def complaint(self) -> str:
        """Its last words."""
        lines = self._said.read_text("utf-8", "replace").splitlines()
        return next((line.removeprefix("neuroloom: ") for line in reversed(lines) if line.strip()), "")


def in_words(values: Values) -> str:
    """The numbers of a run: "learning rate 0.1, batch 16"."""
    return ", ".join(f"{WORDS.get(name, name)} {value:g}" for name, value in values)
