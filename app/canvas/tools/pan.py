"""Dragging the canvas itself."""

from __future__ import annotations

from PySide6.QtCore import Qt

from app.canvas.scene.canvas import Canvas
from app.canvas.tools.base import Interaction, Pointer


class Pan(Interaction):
    """Middle button, or the left one with the space bar: the graph follows the pointer."""

    cursor = Qt.CursorShape.ClosedHandCursor

    def __init__(self, view: Canvas, start: Pointer) -> None:
        super().__init__(view, start)
        self.view = view
        self._last = start.view

    def move(self, pointer: Pointer) -> None:
        by = pointer.view - self._last
        self._last = pointer.view
        self.view.navigation.pan_by(by.x(), by.y())
