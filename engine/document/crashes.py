"""Crashes that end the whole program, such as a segmentation fault in native code: written down, and told.

Python's faulthandler writes where each thread was into a file of its own, at whose head stands which line of
which network belongs to which node. A program that ends in order removes its file; what is found without a
living owner at the next start is a crash, or an end from outside.
"""

from __future__ import annotations

import faulthandler
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from uuid import uuid4

from engine.document.locks import hold

PREFIX, SUFFIX = "crash-", ".txt"
REPORT = "last-crash.txt"
NETWORKS = 12  # of which the lines are kept: those of open documents, the newest last

_HEAD = "network "
_FATAL = re.compile(r"^(?:Fatal Python error|Windows fatal exception): (.+)$", re.MULTILINE)
_CURRENT = re.compile(r"^(?:Current thread|Thread) 0x[0-9a-f]+.*?\(most recent call first\):\n", re.MULTILINE)
_FRAME = re.compile(r'^  File "(.+)", line (\d+|\?\?\?) in (.+)$')
_LAYER = re.compile(r"torch[/\\]nn[/\\]modules[/\\](\w+)\.py$")
_BACKWARD = re.compile(r"torch[/\\]autograd[/\\]")
_WORDS = {
    "segmentation fault": "a segmentation fault",
    "aborted": "an abort",
    "bus error": "a bus error",
    "floating point exception": "a floating-point exception",
    "illegal instruction": "an illegal instruction",
}


@dataclass(frozen=True, slots=True)
class Crash:
    """How a program ended: `what` in words, where it computed, as far as the report says, and the report."""

    what: str
    node_id: str | None = None
    node: str = ""  # its name, or its type
    place: str = ""  # where it was otherwise, in words: "the backward pass"
    report: Path | None = None

    @property
    def sentence(self) -> str:
        """What happened, for the user at the next start."""
        where = f" in “{self.node}”" if self.node else f" in {self.place}" if self.place else ""
        return f"Last time Neuroloom ended with {self.what}{where}, which no Python code can catch."


class Recorder:
    """The file of one program. `watch` opens it, `close` removes it when the program ends in order."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.file = folder / f"{PREFIX}{uuid4().hex}{SUFFIX}"
        self._lock = hold(_lock_of(self.file))
        self._stream: IO[bytes] = open(self.file, "ab", buffering=0)  # noqa: SIM115 - open as long as it runs
        self._networks: dict[str, dict[str, object]] = {}
        faulthandler.enable(self._stream, all_threads=True)

    def remember(self, file: str, nodes: Mapping[int, tuple[str, str]]) -> None:
        """Keep which node, id and name, each line of a network came from, under its file's name."""
        self._networks.pop(file, None)
        self._networks[file] = {"file": file, "nodes": {str(line): node for line, node in nodes.items()}}
        while len(self._networks) > NETWORKS:
            del self._networks[next(iter(self._networks))]
        text = "".join(f"{_HEAD}{json.dumps(one)}\n" for one in self._networks.values())
        os.truncate(self.file, 0)
        self._stream.write(text.encode("utf-8"))

    def close(self) -> None:
        """The program ends in order."""
        faulthandler.disable()
        self._stream.close()
        self.file.unlink(missing_ok=True)
        _lock_of(self.file).unlink(missing_ok=True)
        if self._lock is not None:
            self._lock.close()


_recorder: Recorder | None = None


def watch(folder: Path) -> None:
    """Write crashes of this program into `folder` from now on; where it cannot be written to, nowhere."""
    global _recorder
    try:
        _recorder = Recorder(folder)
    except OSError:
        _recorder = None


def remember(file: str, nodes: Mapping[int, tuple[str, str]]) -> None:
    """As `Recorder.remember`, where one is open; a full disk is no reason to fail."""
    if _recorder is not None:
        try:
            _recorder.remember(file, nodes)
        except OSError:
            return


def unwatch() -> None:
    """The program ends in order."""
    global _recorder
    if _recorder is not None:
        _recorder.close()
        _recorder = None


def left_behind(folder: Path) -> Crash | None:
    """The newest crash that programs no longer running left in a folder; its report is kept as `REPORT`.

    Files of programs that were ended from outside say nothing, and are removed like all others.
    """
    newest: tuple[float, str] | None = None
    for file in folder.glob(f"{PREFIX}*{SUFFIX}") if folder.is_dir() else ():
        with suppress(OSError):  # one that cannot be read or removed keeps no window from starting
            lock = hold(_lock_of(file))
            if lock is None:
                continue
            with lock:
                if file.is_file():
                    text, when = file.read_text(encoding="utf-8", errors="replace"), file.stat().st_mtime
                    if _FATAL.search(text) and (newest is None or when > newest[0]):
                        newest = when, text
                file.unlink(missing_ok=True)
                _lock_of(file).unlink(missing_ok=True)
    if newest is None:
        return None
    report = folder / REPORT
    with suppress(OSError):
        report.write_text(newest[1][max(0, newest[1].find("Fatal")) :], "utf-8")
    return read(newest[1], report)


def read(text: str, report: Path | None = None) -> Crash:
    """What a file says: the cause, and the node whose line the thread that crashed was in."""
    found = _FATAL.search(text)
    cause = found.group(1).strip() if found else "an unknown error"
    what = _WORDS.get(cause.casefold(), f"a fatal error ({cause})")
    lines = {}
    for line in text.splitlines():
        if line.startswith(_HEAD):
            with suppress(ValueError, LookupError, TypeError):  # the crash came while it was written
                network = json.loads(line[len(_HEAD) :])
                lines[network["file"]] = network["nodes"]
    place = ""
    for file, line in _frames(text):
        node = lines.get(file, {}).get(line)
        if node is not None:
            return Crash(what, node[0], node[1], report=report)
        layer = _LAYER.search(file)
        if not place and layer is not None and layer.group(1) not in ("module", "container"):
            place = f"a {layer.group(1)} layer"
        elif not place and _BACKWARD.search(file):
            place = "the backward pass"
    return Crash(what, place=place, report=report)


def _frames(text: str) -> list[tuple[str, str]]:
    """File and line of each frame of the thread that crashed, the innermost first."""
    starts = list(_CURRENT.finditer(text))
    current = next(
        (one for one in starts if one.group().startswith("Current")), starts[0] if starts else None
    )
    if current is None:
        return []
    frames = []
    for line in text[current.end() :].splitlines():
        found = _FRAME.match(line)
        if found is None:
            break
        frames.append((found.group(1), found.group(2)))
    return frames


def _lock_of(file: Path) -> Path:
    return file.with_suffix(".lock")
