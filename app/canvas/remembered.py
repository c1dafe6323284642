"""Where a project was last looked at: kept with the user's settings, not in the project file."""

from __future__ import annotations

import math
from hashlib import sha256
from pathlib import Path

from PySide6.QtCore import QPointF

from app.canvas.scene.canvas import Canvas
from app.workspace.settings import Settings

GROUP = "canvas_views"
MOST = 200  # graphs remembered

Place = tuple[float, QPointF]


class RememberedView:
    """Keeps zoom and centre of each graph of a project file from one opening to the next."""

    def __init__(self, view: Canvas, settings: Settings, path: Path | None) -> None:
        self._view = view
        self._settings = settings
        self._path = path
        self._scope = view.workspace.scope
        self._scopes: dict[str, Place | None] = {}  # of the open project, where each was left

    def enter(self, scope: str) -> None:
        """Another graph is shown now: goes where it was left, or shows it whole."""
        if self._view.workspace.loading:
            return  # it belongs to another project, which `switch` is told of next
        self._scopes[self._scope] = self._view.seen_from()
        self._scope = scope
        self._view.show_from(self._scopes.get(scope) or self._read(self._view.workspace.document.path, scope))

    def switch(self, path: Path | None) -> None:
        """Another project is shown now: keeps the view of the last one and goes where this one was left."""
        self.keep(self._path)
        self._path, self._scope = path, self._view.workspace.scope
        self._scopes.clear()
        self._view.show_from(self._read(path, self._scope))

    def keep(self, path: Path | None) -> None:
        """Notes where the graphs of the project, which is now in this file, are looked at from."""
        self._path = path
        self._scopes[self._scope] = self._view.seen_from()
        if path is None:
            return
        keys = self._settings.keys(GROUP)
        self._settings.forget(keys[: max(0, len(keys) + len(self._scopes) - MOST)])
        for scope, place in self._scopes.items():
            if place is not None:
                zoom, centre = place
                self._settings.keep(_key(path, scope), f"{zoom:.4f} {centre.x():.1f} {centre.y():.1f}")

    def _read(self, path: Path | None, scope: str) -> Place | None:
        if path is None:
            return None
        words = self._settings.text(_key(path, scope)).split()
        try:
            zoom, x, y = (float(word) for word in words)
        except ValueError:
            return None  # never seen, or a settings file that someone has edited: the whole graph is shown
        return (zoom, QPointF(x, y)) if all(map(math.isfinite, (zoom, x, y))) else None


def _key(path: Path, scope: str) -> str:
    digest = sha256(str(path.resolve()).encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return f"{GROUP}/{digest}_{scope}" if scope else f"{GROUP}/{digest}"
