"""Where a project was last looked at: kept with the user's settings, not in the project file."""

from __future__ import annotations

import math
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QSettings

if TYPE_CHECKING:
    from app.editor.view import GraphView

GROUP = "canvas_views"
MOST = 100  # files remembered


class RememberedView:
    """Keeps zoom and centre of each project file from one opening to the next."""

    def __init__(self, view: GraphView, settings: QSettings, path: Path | None) -> None:
        self._view = view
        self._settings = settings
        self._path = path
        self._scope = ""
        self._scopes: dict[str, tuple[float, QPointF] | None] = {}  # of the open project, where each was left

    def enter(self, scope: str) -> None:
        """Another graph of the project is shown now: goes where it was left, or shows it whole."""
        self._scopes[self._scope] = self._view.seen_from()
        self._scope = scope
        self._view.show_from(self._scopes.get(scope))

    def switch(self, path: Path | None) -> None:
        """Another project is shown now: keeps the view of the last one and goes where this one was left."""
        self.keep(self._path)
        self._path = path
        self._scopes.clear()
        self._view.show_from(self._read(path))

    def keep(self, path: Path | None) -> None:
        """Notes where the project, which is now in this file, is looked at from."""
        self._path = path
        place = self._scopes.get("") if self._scope else self._view.seen_from()
        if self._path is None or place is None:
            return
        zoom, centre = place
        self._settings.beginGroup(GROUP)
        keys = self._settings.childKeys()
        for key in keys[: max(0, len(keys) - MOST)]:
            self._settings.remove(key)
        self._settings.setValue(_key(self._path), f"{zoom:.4f} {centre.x():.1f} {centre.y():.1f}")
        self._settings.endGroup()

    def _read(self, path: Path | None) -> tuple[float, QPointF] | None:
        if path is None:
            return None
        words = str(self._settings.value(f"{GROUP}/{_key(path)}", "")).split()
        try:
            zoom, x, y = (float(word) for word in words)
        except ValueError:
            return None  # never seen, or a settings file that someone has edited: the whole project is shown
        return (zoom, QPointF(x, y)) if all(map(math.isfinite, (zoom, x, y))) else None


def _key(path: Path) -> str:
    return sha256(str(path.resolve()).encode("utf-8", "surrogatepass")).hexdigest()[:24]
