"""Which stored runs have kept their views, and what those showed, read beside the window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject

from app.widgets.background import Background
from app.workspace.open_document import TrainableDocument
from engine.errors import NeuroloomError
from engine.feed.history import History, recorded
from engine.runs.index import RunIndex, RunRecord

MOST = 15  # runs in a menu
_KEPT = 4  # histories in memory, each up to the budget

Then = Callable[[str, History], None]


class StoredRuns(QObject):
    """Lists runs with recorded views, and reads one after the other."""

    def __init__(self, workspace: TrainableDocument, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._index = RunIndex(workspace.places.runs)
        self._known: dict[str, History] = {}
        self._waiting: list[tuple[str, Then]] = []
        self._reader = Background("recorded views", self)
        self._reader.finished.connect(self._read)
        workspace.closing.connect(self._reader.close)

    def list(self) -> list[RunRecord]:
        """The newest runs that have kept views, without the one that is going on."""
        try:
            runs = self._index.refresh()
        except NeuroloomError as error:
            self._workspace.message.emit(str(error), "error")
            return []
        trainer = self._workspace.trainer
        here = trainer.folder if trainer is not None else None
        return [run for run in runs if run.folder != here and recorded(run.folder)][:MOST]

    def read(self, name: str, then: Then) -> None:
        """Calls `then` with the history of a run once it is there; says in a message why it isn't."""
        if name in self._known:
            then(name, self._known[name])
            return
        self._waiting.append((name, then))
        self._next()

    def _next(self) -> None:
        if self._waiting and not self._reader.busy:
            folder = self._workspace.places.runs / self._waiting[0][0]
            self._reader.ask(_Reading(folder))

    def _read(self, found: object, error: NeuroloomError | None) -> None:
        name, then = self._waiting.pop(0)
        if isinstance(found, History):
            self._known[name] = found
            for old in list(self._known)[:-_KEPT]:
                del self._known[old]
            then(name, found)
        else:
            words = str(error) if error is not None else f"The run {name} has no recorded views."
            self._workspace.message.emit(words, "warning")
        self._next()


class _Reading:
    """Reads one folder; called in the reader's thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self) -> History | None:
        history = History()
        return history if history.load(self._folder) else None
