"""Opens exported Python as the project it came from; what is not read of it is told line by line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.widgets.background import Background
from app.widgets.banner import Notice
from engine.errors import NeuroloomError
from engine.values import counted

if TYPE_CHECKING:
    from engine.catalogue import Catalogue
    from engine.importers.findings import Finding
    from engine.importers.opening import Opened

FIRST = 2  # lines that the message itself names, those first that stand for a node


class PythonFiles(QObject):
    """Reads scripts, notebooks and packages beside the window, one after the other.

    `opened` carries the project, what of the file it does not hold and the path; `failed` a sentence.
    """

    opened = Signal(object, object, object)
    failed = Signal(str)

    def __init__(self, catalogue: Catalogue, parent: QObject) -> None:
        super().__init__(parent)
        self._catalogue = catalogue
        self._waiting: list[Path] = []
        self._reader = Background("python-files", self)
        self._reader.finished.connect(self._read)

    def open(self, path: Path) -> None:
        """Read a file, after those that were asked for before it."""
        self._waiting.append(path)
        if len(self._waiting) == 1:
            self._reader.ask(partial(_opened, path, self._catalogue))

    def close(self) -> None:
        """Wait for what is read, and tell of nothing any more."""
        self._waiting.clear()
        self._reader.close()

    def _read(self, found: Opened | None, error: NeuroloomError | None) -> None:
        path = self._waiting.pop(0)
        if self._waiting:
            self._reader.ask(partial(_opened, self._waiting[0], self._catalogue))
        if found is None:
            self.failed.emit(str(error))
        else:
            self.opened.emit(found.project, found.findings, path)


def _opened(path: Path, catalogue: Catalogue) -> Opened:
    from engine.importers.opening import open_python  # with torch, which the window stands without

    return open_python(path, catalogue)


def notice_of(path: Path, findings: Sequence[Finding], show: Callable[[], object]) -> Notice:
    """What is said of a file that was opened."""
    if not findings:
        return Notice(f"“{path.name}” was opened as the project it came from.", "info")
    first = sorted(findings, key=lambda one: one.node_id is None)[:FIRST]
    named = " ".join(str(one)[:1].upper() + str(one)[1:] for one in first)
    text = f"{counted(len(findings), 'line')} of “{path.name}” could not be read as they stand. {named}"
    return Notice(text, "warning", first[0].node_id or "", (("Show all lines", show),))
