"""A chart on which a point is dragged."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QWidget

from app.charts.chart import Chart


class Pad(Chart):
    """Tells where the pointer presses and drags, in values; the arrow keys tell small steps."""

    moved = Signal(float, float)
    nudged = Signal(int, int)  # steps to the right and up

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.CrossCursor)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._tell(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._tell(event.position())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        ways = {
            Qt.Key.Key_Left: (-1, 0),
            Qt.Key.Key_Right: (1, 0),
            Qt.Key.Key_Up: (0, 1),
            Qt.Key.Key_Down: (0, -1),
        }
        way = ways.get(Qt.Key(event.key()))
        if way is None:
            super().keyPressEvent(event)
        else:
            self.nudged.emit(*way)

    def _tell(self, at: QPointF) -> None:
        area = self.area()
        inside = QPointF(
            min(max(at.x(), area.left()), area.right()), min(max(at.y(), area.top()), area.bottom())
        )
        found = self.to_values(inside)
        if found is not None:
            self.moved.emit(*found)
