"""The project files opened last, the newest first, kept with the user's settings."""

from __future__ import annotations

from os.path import isfile
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.workspace.settings import Settings

MOST = 10
_KEY = "files/recent"


class RecentFiles(QObject):
    """One list for all documents of a window."""

    changed = Signal()

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings

    def paths(self) -> list[Path]:
        """Those that are still there."""
        return [path for path in map(Path, self._settings.texts(_KEY)) if isfile(path)]

    def remember(self, path: Path) -> None:
        """Puts a file in front."""
        self._store([path, *(one for one in self.paths() if one != path)][:MOST])

    def forget(self, path: Path) -> None:
        """Takes a file that could not be read off the list."""
        self._store([one for one in self.paths() if one != path])

    def _store(self, paths: list[Path]) -> None:
        self._settings.keep(_KEY, [str(one) for one in paths])
        self.changed.emit()
