"""Why training would stop before its first step, looked for beside the window.

Small files are read for that; of large ones only what shows without them is looked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.widgets.background import Background
from app.workspace.data_files import DataFiles, Read
from app.workspace.open_document import TrainableDocument
from engine.catalogue import Catalogue
from engine.document.graph import Project
from engine.document.shipped import datasets_folder
from engine.errors import NeuroloomError
from engine.shapes.problems import Problem

if TYPE_CHECKING:
    from engine.train.sources import Sources

MOST_BYTES, MOST_FILES = 8 << 20, 1_000  # that are read unasked

Marks = tuple[tuple[str, int, int], ...]  # path, size and time of change of each file


class StartCheck(QObject):
    """Lists what `neuroloom check` says of the start of training among the problems of a document.

    It is a warning: once the file is right again, nothing stands in the way of the button that trains.
    """

    def __init__(self, workspace: TrainableDocument, files: DataFiles, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace, self._files = workspace, files
        self._reading = _Reading()
        self._revision = 0
        self._shown: Problem | None = None
        self._worker = Background("start-check", self)
        self._worker.finished.connect(self._told)
        files.looked.connect(self.look)
        workspace.closing.connect(self._worker.close)

    def look(self) -> None:
        """Tries the start, beside the window, where nothing else stands in its way."""
        workspace, reads = self._workspace, self._files.reads()
        if workspace.engine is None or not reads or workspace.errors() or self._files.states:
            self._show(None)
            return
        self._revision = workspace.document.revision
        project = workspace.document.snapshot()
        self._worker.ask(partial(self._reading.refusal, project, workspace.catalogue, reads))

    def _told(self, found: Problem | None, error: NeuroloomError | None) -> None:
        if self._revision != self._workspace.document.revision or self._files.states:
            return
        whole = found is not None and found.severity == "error"  # what a network lacks yet is told already
        self._show(found if whole else None)

    def _show(self, found: Problem | None) -> None:
        if found != self._shown:
            self._shown = found
            told = [replace(found, severity="warning")] if found is not None else ()
            self._workspace.note("start", told)


class _Reading:
    """The data that were read last; used by the worker's thread alone."""

    def __init__(self) -> None:
        self._sources: Sources | None = None
        self._marks: Marks = ()

    def refusal(self, project: Project, catalogue: Catalogue, reads: Sequence[Read]) -> Problem | None:
        from engine.train.begin import refusal
        from engine.train.sources import Sources

        marks = _marks(reads)
        if marks is None:
            self._sources = None
            return refusal(project, catalogue, Sources(catalogue, datasets_folder()), read=False)
        if self._sources is None or marks != self._marks:
            self._sources, self._marks = Sources(catalogue, datasets_folder()), marks
        return refusal(project, catalogue, self._sources)


def _marks(reads: Sequence[Read]) -> Marks | None:
    """Marks of the files that are read; None where they are too many or too large to be read unasked."""
    found: list[tuple[str, int, int]] = []
    try:
        for read in reads:
            path = Path(read.path)
            for one in islice(path.rglob("*"), MOST_FILES + 1) if path.is_dir() else (path,):
                about = one.stat()
                found.append((str(one), about.st_size, about.st_mtime_ns))
    except OSError:
        return None
    small = len(found) <= MOST_FILES and sum(size for _, size, _ in found) <= MOST_BYTES
    return tuple(found) if small else None
