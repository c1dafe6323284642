"""An export and the application side by side, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import IO

from engine.document.files import save_project
from engine.document.graph import Project
from engine.emit.fast import Fast
from engine.emit.forms.form import Export, Form
from engine.errors import NeuroloomError
from engine.train.verify.comparison import Comparison, Record, compared
from engine.values import counted

STEPS = 50
ROOT = Path(__file__).parents[3]
ROOM = "engine.train.verify"


class Verification:
    """Both sides at work. `look` says how far they have come; `close` ends them and removes what they made.

    The export must have been written; `weights` are those that it begins with, `fast` its settings.
    Errors: `NeuroloomError` where there is nothing to train, or a process cannot be started.
    """

    def __init__(
        self,
        made: Export,
        project: Project,
        *,
        steps: int = STEPS,
        with_data: bool = False,
        weights: Path | None = None,
        fast: Fast | None = None,
    ) -> None:
        if not made.trains:
            raise NeuroloomError("This export has nothing to train, so there are no losses to compare.")
        self._steps = steps
        self._sides: dict[str, _Side] = {}
        self._scratch = tempfile.TemporaryDirectory(prefix="neuroloom-verify-")
        scratch = Path(self._scratch.name)
        told = [str(weights.absolute()) if weights else None, fast.to_json() if fast else None]
        try:
            file = scratch / "project.nloom"
            save_project(project, file)
            ours = ["-m", f"{ROOM}.application", str(file), json.dumps(told)]
            self._sides["application"] = _Side(ours, scratch, scratch / "application.txt", steps, True)
            words, notebook = _command(made, with_data), made.form is Form.NOTEBOOK
            self._sides["export"] = _Side(words, made.root, scratch / "export.txt", steps, notebook)
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                raise NeuroloomError(f"The export cannot be run: {error.strerror or error}.") from error
            raise

    @property
    def fraction(self) -> float:
        """How much of the work is done, 0 to 1."""
        return min(1.0, sum(side.steps for side in self._sides.values()) / (2 * self._steps))

    def look(self) -> Comparison:
        """What was found so far. Errors: `NeuroloomError` where a side fails before its last step."""
        over = all(side.over for side in self._sides.values())
        if over:
            for name, side in self._sides.items():
                if side.failed:
                    many = counted(side.steps, "step")
                    raise NeuroloomError(f"The {name} ended after {many}: {side.complaint()}")
        application, export = (side.records() for side in self._sides.values())
        return compared(application, export, over)

    def close(self) -> None:
        """End both, and wait for them."""
        for side in self._sides.values():
            side.end()
        self._scratch.cleanup()


def _command(made: Export, with_data: bool) -> list[str]:
    """How an export is run; its data are those beside it where they were copied there."""
    runs = Path(made.runs)
    data = [] if made.data is None or with_data else [str(made.data)]
    if made.form is Form.NOTEBOOK:
        return ["-m", f"{ROOM}.cells", str(runs), *data]
    start = ["-m", f"{runs.parent}.{runs.stem}"] if made.form is Form.PACKAGE else [str(runs)]
    return [*start, "--json", "--device", "cpu", *(["--data", *data] if data else [])]


class _Side:
    """A process that prints a record a line until it has taken enough steps; `ours` may import the engine."""

    def __init__(self, words: list[str], folder: Path, said: Path, steps: int, ours: bool) -> None:
        self._wanted, self._said = steps, said
        self._records: list[Record] = []
        self._enough = False
        self.steps = 0
        places = [str(ROOT)] if ours else []
        places += filter(None, [os.environ.get("PYTHONPATH")])
        with said.open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-u", *words],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        assert self._process.stdout is not None
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout,), name="verify")
        self._reader.start()

    def _read(self, lines: IO[str]) -> None:
        with lines:
            for line in lines:
                if not line.startswith("{"):
                    continue  # what a library has to say
                record = json.loads(line)
                self._records.append(record)
                self.steps += "step" in record
                if self.steps == self._wanted:
                    self._enough = True
                    self._process.kill()
                    return

    @property
    def over(self) -> bool:
        """Whether it has taken its steps, or ended before."""
        return not self._reader.is_alive()

    @property
    def failed(self) -> bool:
        """Whether it ended by an error of its own."""
        return not self._enough and self._process.wait() != 0

    def records(self) -> list[Record]:
        """What it has printed so far."""
        return list(self._records)

    def complaint(self) -> str:
        """Its last words."""
        lines = self._said.read_text("utf-8", "replace").splitlines()
        return next((line.strip() for line in reversed(lines) if line.strip()), "it gives no reason.")

    def end(self) -> None:
        """End it, and wait for that."""
        self._process.kill()
        self._reader.join()
        self._process.wait()
