"""Folders outside of a project's own that its user has agreed to have read, kept on this computer."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from app.workspace.settings import Settings

MOST = 500
_KEY = "files/agreed"
_BETWEEN = "\t"


class Agreements:
    """Which folders each project file may read; they are a choice of this computer, not of the file."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def holds(self, project: Path, path: str) -> bool:
        """Whether a project may read this path."""
        return _entry(project, path) in self._settings.texts(_KEY)

    def agree(self, project: Path, paths: Iterable[str]) -> None:
        """Remember that a project may read these paths and what lies beside them."""
        known = self._settings.texts(_KEY)
        new = [entry for path in paths if (entry := _entry(project, path)) not in known]
        if new:
            self._settings.keep(_KEY, [*known, *dict.fromkeys(new)][-MOST:])


def _entry(project: Path, path: str) -> str:
    return f"{project}{_BETWEEN}{os.path.dirname(path)}"
