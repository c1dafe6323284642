"""Moving the canvas while something is dragged to its edge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, QPoint, QRect, QTimer

from app.canvas.scene.canvas import Canvas
from app.canvas.tools.base import Pointer

EDGE = 8  # pixels inside the viewport that count as its edge
FASTEST = 28  # pixels a step
PATIENCE_MS = 160  # before the first step: passing over the edge is no wish to go on
STEP_MS = 30


class EdgePan(QObject):
    """Pans while the pointer of a gesture rests at the edge, or beyond it, and moves the gesture along."""

    def __init__(self, view: Canvas, moved: Callable[[Pointer], None]) -> None:
        super().__init__(view.viewport())
        self._view = view
        self._moved = moved
        self._pointer: Pointer | None = None
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._step)

    def watch(self, pointer: Pointer) -> None:
        """The pointer of a gesture is here now."""
        self._pointer = pointer
        if self._way(pointer.view).isNull():
            self._timer.stop()
        elif not self._timer.isActive():
            self._timer.start(PATIENCE_MS)

    def stop(self) -> None:
        """The gesture has ended."""
        self._pointer = None
        self._timer.stop()

    def _way(self, place: QPoint) -> QPoint:
        """How far to pan in one step: the further outside, the faster."""
        inner: QRect = self._view.viewport().rect().adjusted(EDGE, EDGE, -EDGE, -EDGE)
        x = min(0, place.x() - inner.left()) or max(0, place.x() - inner.right())
        y = min(0, place.y() - inner.top()) or max(0, place.y() - inner.bottom())
        return QPoint(max(-FASTEST, min(FASTEST, x)), max(-FASTEST, min(FASTEST, y)))

    def _step(self) -> None:
        pointer = self._pointer
        if pointer is None:
            self._timer.stop()
            return
        self._timer.setInterval(STEP_MS)
        way = self._way(pointer.view)
        self._view.travel()
        self._view.navigation.pan_by(-way.x(), -way.y())
        self._moved(replace(pointer, scene=self._view.mapToScene(pointer.view)))
