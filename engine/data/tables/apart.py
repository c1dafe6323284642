"""Runs the reader of spreadsheets in another process: a file may end it, and must not end the program.

Of the native readers only that of Excel aborts its process over a few bytes; those of Parquet, Arrow and text
raise a panic at the most, which is caught where they are called.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any

from engine.data.telling import tell

SECONDS = 180  # that one sheet may take
SheetCells = Callable[[Path, str, int], tuple[list[str], Any]]


class SheetReader:
    """A process that reads spreadsheets, started when it is asked; a new one after a crash or a stop."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[str] | None = None
        atexit.register(self.end)

    def ask(self, path: Path, sheet: str, skip: int) -> tuple[list[str], Any]:
        """What `sheet_cells` gives. Errors: `ValueError`; whatever a listener raises to stop."""
        import polars as pl

        with self._lock, TemporaryDirectory(prefix="neuroloom-") as folder:
            answer = Path(folder) / "answer.json"
            question = {"path": os.path.abspath(path), "sheet": sheet, "skip": skip, "answer": str(answer)}
            try:
                self._wait(self._sent(json.dumps(question)), answer, path)
            except BaseException:
                self.end()
                raise
            found = json.loads(answer.read_text("utf-8"))
            if "error" in found:
                raise ValueError(found["error"])
            return found["names"], pl.read_ipc(answer.with_suffix(".arrow").read_bytes())

    def end(self) -> None:
        """Let the process go, at whatever it is."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def _sent(self, question: str) -> subprocess.Popen[str]:
        for _ in range(2):  # one that was idle may end just now
            process = self._process
            if process is None or process.poll() is not None:
                self.end()
                process = self._process = _started()
            assert process.stdin is not None
            try:
                process.stdin.write(question + "\n")
                process.stdin.flush()
                return process
            except OSError:
                self.end()
        raise ValueError("The reader of spreadsheets does not start.")

    def _wait(self, process: subprocess.Popen[str], answer: Path, path: Path) -> None:
        begun = time.monotonic()
        while not answer.exists():
            seconds = time.monotonic() - begun
            if process.poll() is not None and not answer.exists():
                raise ValueError(
                    f'"{path.name}" cannot be read: the reader of spreadsheets crashed over it, or ran out '
                    "of memory. It is damaged, or made to do harm."
                )
            if seconds > SECONDS:
                raise ValueError(f'"{path.name}" cannot be read: it takes more than {SECONDS} seconds.')
            tell(int(seconds), SECONDS, "seconds that a spreadsheet may take")
            time.sleep(min(0.05, 0.002 + seconds / 10))


def _started() -> subprocess.Popen[str]:
    root = str(Path(__file__).parents[3])
    places = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(
        [sys.executable, "-m", "engine.data.tables.sheet_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places), "POLARS_MAX_THREADS": "2"},
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )


READER = SheetReader()


def apart(function: SheetCells) -> SheetCells:
    """The same for the application, read in another process; an export carries what is wrapped."""

    @wraps(function)
    def asked(path: Path, sheet: str, skip: int) -> tuple[list[str], Any]:
        return READER.ask(path, sheet, skip)

    return asked
