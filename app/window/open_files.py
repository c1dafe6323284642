"""The project files that are open, kept with the user's settings: the next start shows them again."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSettings

_OPEN, _FRONT, _WANTED = "files/open", "files/front", "files/reopen"


class OpenFiles:
    """What a start without files opens: the tabs of the last session, in their order."""

    def __init__(self, settings: QSettings) -> None:
        self._settings = settings

    @property
    def wanted(self) -> bool:
        """Whether the user wants them back."""
        return bool(self._settings.value(_WANTED, True, bool))

    def want(self, wanted: bool) -> None:
        """Remembers whether the next starts show what was open."""
        self._settings.setValue(_WANTED, wanted)

    def paths(self) -> list[Path]:
        """The files of the last session that are still there, in the order of their tabs."""
        stored = self._settings.value(_OPEN, [])
        # A list of one comes back from an INI file as its text.
        names = [stored] if isinstance(stored, str) else stored if isinstance(stored, list) else []
        return [path for path in map(Path, names) if path.is_file()]

    def front(self) -> Path | None:
        """The file that was in front."""
        name = str(self._settings.value(_FRONT, ""))
        return Path(name) if name else None

    def remember(self, paths: list[Path], front: Path | None) -> None:
        """Keeps which files are open, in the order of their tabs."""
        self._settings.setValue(_OPEN, [str(path) for path in paths])
        self._settings.setValue(_FRONT, str(front) if front is not None else "")
