"""Runs the readers of spreadsheets and of large JSON in another process: a file may end it, not the program.

Of the native readers only that of Excel aborts its process over a few bytes; those of Parquet, Arrow and text
raise a panic at the most, which is caught where they are called. JSON becomes objects that take twenty times
its size at the worst, in one call that nothing stops.
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
from inspect import unwrap
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any, ParamSpec, TypeVar, cast

from engine.data.telling import tell

SECONDS = 180  # that one file may take
Trouble = Callable[[Path, BaseException], str]
_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")


class ApartReader:
    """A process that reads files, started when it is asked; a new one after a crash or a stop."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[str] | None = None
        atexit.register(self.end)

    def ask(self, function: Callable[..., Any], path: Path, *rest: Any, what: str) -> Any:
        """What a function of `apart` gives: a frame, or a list of names and a frame.

        Errors: `ValueError`; whatever a listener raises to stop.
        """
        import polars as pl

        with self._lock, TemporaryDirectory(prefix="neuroloom-") as folder:
            answer = Path(folder) / "answer.json"
            question = {"module": function.__module__, "function": function.__name__, "rest": rest}
            question |= {"path": os.path.abspath(path), "answer": str(answer)}
            try:
                self._wait(self._sent(json.dumps(question)), answer, path, what)
            except BaseException:
                self.end()
                raise
            found = json.loads(answer.read_text("utf-8"))
            if "error" in found:
                raise ValueError(found["error"])
            frame = pl.read_ipc(answer.with_suffix(".arrow").read_bytes())
            return frame if found["names"] is None else (found["names"], frame)

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
        raise ValueError("The process that reads such files does not start.")

    def _wait(self, process: subprocess.Popen[str], answer: Path, path: Path, what: str) -> None:
        begun = time.monotonic()
        while not answer.exists():
            seconds = time.monotonic() - begun
            if process.poll() is not None and not answer.exists():
                raise ValueError(
                    f'"{path.name}" cannot be read: the process that reads it crashed over it, or ran out '
                    "of memory. It is damaged, or made to do harm."
                )
            if seconds > SECONDS:
                raise ValueError(f'"{path.name}" cannot be read: it takes more than {SECONDS} seconds.')
            tell(int(seconds), SECONDS, f"seconds that {what} may take")
            time.sleep(min(0.05, 0.002 + seconds / 10))


def _started() -> subprocess.Popen[str]:
    root = str(Path(__file__).parents[3])
    places = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(
        [sys.executable, "-m", "engine.data.tables.reader_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places), "POLARS_MAX_THREADS": "2"},
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )


READER = ApartReader()
_READ_APART: dict[str, Callable[..., Any]] = {}


def apart(
    function: Callable[_Given, _Found], what: str, trouble: Trouble, above: int = 0
) -> Callable[_Given, _Found]:
    """The same for the application, in another process for a file of more than `above` bytes.

    Its first argument is the file, the others are values of JSON; it gives a frame, or names and a frame.
    `what` it reads is said meanwhile, `trouble` says what is wrong where it raises no `ValueError`. An export
    carries what is wrapped.
    """

    @wraps(function)
    def asked(*given: _Given.args, **named: _Given.kwargs) -> _Found:
        path = cast(Path, given[0])
        if named or (above and path.is_file() and path.stat().st_size <= above):
            return function(*given, **named)
        found: _Found = READER.ask(function, path, *given[1:], what=what)
        return found

    asked.__dict__["trouble"] = trouble
    _READ_APART[function.__name__] = asked
    return asked


def connect(names: dict[str, Any]) -> None:
    """Let the readers that a compiled script carries run in another process as well."""
    for name, reader in _READ_APART.items():
        code = getattr(names.get(name), "__code__", None)
        if code is not None and code.co_code == unwrap(reader).__code__.co_code:  # not another of that name
            names[name] = reader
