"""Recovery copies: what is unsaved in an open document outlives a crash.

A recovery copy is a project file like any other, with the path of the file it belongs to. The
program that writes it holds a lock beside it for as long as it runs; a copy whose lock is free
belongs to a program that is gone, and is offered at the next start.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO
from uuid import uuid4

from engine.document.files import load_project, reason, to_text, write_atomically
from engine.document.graph import Project
from engine.document.locks import hold
from engine.errors import ProjectFileError

SUFFIX = ".recovery.nloom"
_NOTE = "recovery"  # the field of the copy that says where it belongs; a project file has none


@dataclass(frozen=True)
class Recovered:
    """A copy left behind: `path` is the file it belongs to (None: never saved), `saved` a Unix time.

    `project` is None where the copy cannot be read; `error` then says why.
    """

    file: Path
    path: Path | None
    saved: float
    project: Project | None
    error: str = ""
    lock: IO[bytes] | None = field(default=None, repr=False, compare=False)


class Autosave:
    """Keeps the recovery copy of one open document in a folder.

    Each document has a copy of its own, so two windows or tabs never cross. `write` as often as you
    like: each call leaves the old or the new copy, whole.
    """

    def __init__(self, folder: Path) -> None:
        self.file = folder / f"{uuid4().hex}{SUFFIX}"
        self._lock: IO[bytes] | None = None

    def write(self, project: Project, path: Path | None) -> None:
        """Store the project as it is now. Raises ProjectFileError if the folder cannot be written to."""
        note = {"path": None if path is None else str(path.absolute()), "saved": time.time()}
        copy = project.copy()
        copy.extra[_NOTE] = note
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            if self._lock is None:
                self._lock = hold(_lock_file(self.file))
            write_atomically(self.file, to_text(copy).encode("utf-8"))
        except (OSError, ValueError, RecursionError, ProjectFileError) as error:
            raise ProjectFileError(f"The recovery copy cannot be written: {reason(error)}.") from error

    def discard(self) -> None:
        """Remove the copy: the document was saved, or closed on purpose. Another `write` starts again."""
        self.file.unlink(missing_ok=True)

    def close(self, keep: bool = False) -> None:
        """Let go of the document; unless `keep`, its copy is removed."""
        if not keep:
            self.discard()
        _release(self._lock, self.file, remove=not keep)
        self._lock = None

    def __enter__(self) -> Autosave:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(keep=kind is not None)


def find(folder: Path) -> list[Recovered]:
    """Return the copies that programs no longer running left in a folder, the newest first.

    Each is locked for this program, so that no other offers it too, until `discard` or `release`.
    Locks of programs that were killed without a copy are removed.
    """
    found = []
    locks = (lock.with_suffix(".nloom") for lock in folder.glob("*.recovery.lock"))
    for file in sorted({*folder.glob(f"*{SUFFIX}"), *locks}):
        with suppress(OSError):  # somebody else's, say, or no file at all: the others are offered beside it
            lock = hold(_lock_file(file))
            if lock is None:
                continue
            if file.exists():
                found.append(_read(file, lock))
            else:
                _release(lock, file, remove=True)
    return sorted(found, key=lambda one: one.saved, reverse=True)


def discard(recovered: Recovered) -> None:
    """Remove a copy that was restored and saved elsewhere, or isn't wanted."""
    recovered.file.unlink(missing_ok=True)
    _release(recovered.lock, recovered.file, remove=True)


def release(recovered: Recovered) -> None:
    """Leave a copy where it is, to be offered again at another start."""
    _release(recovered.lock, recovered.file, remove=False)


def _read(file: Path, lock: IO[bytes]) -> Recovered:
    saved = file.stat().st_mtime
    try:
        project = load_project(file)
    except ProjectFileError as error:
        return Recovered(file, None, saved, None, error.message, lock)
    note = project.extra.pop(_NOTE, None)
    path = note.get("path") if isinstance(note, dict) else None
    return Recovered(file, Path(path) if isinstance(path, str) else None, saved, project, "", lock)


def _lock_file(file: Path) -> Path:
    return file.with_suffix(".lock")


def _release(lock: IO[bytes] | None, file: Path, *, remove: bool) -> None:
    if lock is None:
        return
    if remove and os.name != "nt":
        _lock_file(file).unlink(missing_ok=True)
    lock.close()
    if remove and os.name == "nt":  # where an open file cannot be removed
        _lock_file(file).unlink(missing_ok=True)
