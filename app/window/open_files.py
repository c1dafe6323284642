"""The project files that are open, kept with the user's settings: the next start shows them again."""

from __future__ import annotations

from os.path import isfile
from pathlib import Path

from app.workspace.settings import Settings

_OPEN, _FRONT, _WANTED = "files/open", "files/front", "files/reopen"


class OpenFiles:
    """What a start without files opens: the tabs of the last session, in their order."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @property
    def wanted(self) -> bool:
        """Whether the user wants them back."""
        return self._settings.flag(_WANTED, True)

    def want(self, wanted: bool) -> None:
        """Remembers whether the next starts show what was open."""
        self._settings.keep(_WANTED, wanted)

    def paths(self) -> list[Path]:
        """The files of the last session that are still there, in the order of their tabs."""
        return [path for path in map(Path, self._settings.texts(_OPEN)) if isfile(path)]

    def front(self) -> Path | None:
        """The file that was in front."""
        name = self._settings.text(_FRONT)
        return Path(name) if name else None

    def remember(self, paths: list[Path], front: Path | None) -> None:
        """Keeps which files are open, in the order of their tabs."""
        self._settings.keep(_OPEN, [str(path) for path in paths])
        self._settings.keep(_FRONT, str(front) if front is not None else "")
