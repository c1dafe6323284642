"""The project files opened last, the newest first, kept with the user's settings."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QSettings, Signal

MOST = 10
_KEY = "files/recent"


class RecentFiles(QObject):
    """One list for all documents of a window."""

    changed = Signal()

    def __init__(self, settings: QSettings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings

    def paths(self) -> list[Path]:
        """Those that are still there."""
        stored = self._settings.value(_KEY, [])
        # A list of one comes back from an INI file as its text.
        names = [stored] if isinstance(stored, str) else stored if isinstance(stored, list) else []
        return [path for path in map(Path, names) if path.is_file()]

    def remember(self, path: Path) -> None:
        """Puts a file in front."""
        self._store([path, *(one for one in self.paths() if one != path)][:MOST])

    def forget(self, path: Path) -> None:
        """Takes a file that could not be read off the list."""
        self._store([one for one in self.paths() if one != path])

    def _store(self, paths: list[Path]) -> None:
        self._settings.setValue(_KEY, [str(one) for one in paths])
        self.changed.emit()
