"""A chart to draw on: presses, drags and keys as strokes in values, the brush shown under the pointer."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPen, QWheelEvent
from PySide6.QtWidgets import QWidget

from app.charts.chart import Chart
from app.theme import Theme

SMALLEST, LARGEST = 6.0, 120.0  # radius of the brush in pixels
KEY_STEPS = 40  # steps of the arrow keys from edge to edge
_WAYS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, 1),
    Qt.Key.Key_Down: (0, -1),
}


class DrawingPad(Chart):
    """Tells of strokes: `began`, `dragged`, `ended`, or `dropped` where Esc took one back.

    The right button rubs out, whatever the brush is. The arrow keys move a cross, Space draws at it.
    """

    began = Signal(float, float, bool)  # x, y, whether it rubs out
    dragged = Signal(float, float)
    ended = Signal()
    dropped = Signal()
    resized_brush = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.setMouseTracking(True)
        self.radius = 22.0
        self.round = False  # whether the brush covers an area
        self.rubs = False
        self._button: Qt.MouseButton | None = None
        self._at: QPointF | None = None
        self._cross: QPointF | None = None  # fractions of the area, while keys draw

    @property
    def drawing(self) -> bool:
        """Whether a button is down."""
        return self._button is not None

    def reach(self) -> tuple[float, float]:
        """How far the brush reaches in values, across and up."""
        area, frame = self.area(), self.frame_shown
        return (
            self.radius * (frame.x[1] - frame.x[0]) / area.width(),
            self.radius * (frame.y[1] - frame.y[0]) / area.height(),
        )

    def set_radius(self, radius: float) -> None:
        """Make the brush larger or smaller; a radius in pixels."""
        self.radius = min(max(radius, SMALLEST), LARGEST)
        self.update()

    # -- pointer ----------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        button = event.button()
        left, right = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton
        found = self.to_values(event.position())
        if self._button is not None or button not in (left, right) or found is None:
            return
        self._cross = None
        self._button = button
        self._at = event.position()
        self.began.emit(*found, button == right or self.rubs)
        self.update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.mousePressEvent(event)  # two quick presses are two points

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._at = event.position()
        if self._button is not None:
            self.dragged.emit(*self._inside(event.position()))
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == self._button:
            self._button = None
            self.ended.emit()
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._at = None
        self.update()
        super().leaveEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if not self.round or not event.angleDelta().y():
            event.ignore()
            return
        self.set_radius(self.radius * 1.15 ** (event.angleDelta().y() / 120))
        self.resized_brush.emit()
        event.accept()

    def cancel(self) -> bool:
        """Take back the stroke that is under way, if there is one."""
        if self._button is None:
            return False
        self._button = None
        self.dropped.emit()
        self.update()
        return True

    def _inside(self, at: QPointF) -> tuple[float, float]:
        area = self.area()
        x = min(max(at.x(), area.left()), area.right())
        y = min(max(at.y(), area.top()), area.bottom())
        return self.to_values(QPointF(x, y)) or (0.0, 0.0)

    # -- keys -------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        way = _WAYS.get(key)
        if way is not None:
            cross = self._cross or QPointF(0.5, 0.5)
            x, y = cross.x() + way[0] / KEY_STEPS, cross.y() + way[1] / KEY_STEPS
            self._cross = QPointF(min(max(x, 0.0), 1.0), min(max(y, 0.0), 1.0))
            self.update()
        elif key in (Qt.Key.Key_Space, Qt.Key.Key_Backspace) and not self.drawing:
            self._cross = self._cross or QPointF(0.5, 0.5)
            self.began.emit(*self._at_cross(), key == Qt.Key.Key_Backspace or self.rubs)
            self.ended.emit()
            self.update()
        elif key == Qt.Key.Key_Escape and self.cancel():
            pass
        else:
            super().keyPressEvent(event)

    def _at_cross(self) -> tuple[float, float]:
        cross, frame = self._cross or QPointF(0.5, 0.5), self.frame_shown
        return (
            frame.x[0] + cross.x() * (frame.x[1] - frame.x[0]),
            frame.y[0] + cross.y() * (frame.y[1] - frame.y[0]),
        )

    # -- paint ------------------------------------------------------------------------------------

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = self.area()
        if self._cross is not None:
            x = area.left() + self._cross.x() * area.width()
            y = area.bottom() - self._cross.y() * area.height()
            painter.setPen(QPen(theme.text, 1.4))
            painter.drawLine(QPointF(x - 7, y), QPointF(x + 7, y))
            painter.drawLine(QPointF(x, y - 7), QPointF(x, y + 7))
        rubs = self.rubs or self._button == Qt.MouseButton.RightButton
        if self._at is not None and (self.round or rubs) and area.contains(self._at):
            painter.setClipRect(area)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.bad if rubs else theme.dim, 1.4))
            painter.drawEllipse(self._at, self.radius, self.radius)
