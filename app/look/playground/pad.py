"""A pad to draw on: brush, eraser, nothing else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QContextMenuEvent, QImage, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.theme import SMALL, current_theme, themes

SIDE = 224  # pixels of the drawing, whatever the size on screen
LEAST = 96  # pixels on screen: less is too small to draw on
BRUSH = 1 / 12  # of the pad's side


class Pad(QWidget):
    """White ink on black; the left button draws, the right one erases, `erasing` turns them round."""

    drawn = Signal()  # with each piece of a stroke

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("drawingPad")
        self.setAccessibleName("Drawing pad")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(LEAST, LEAST)
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.erasing = False
        self.empty = True
        self._image = QImage(SIDE, SIDE, QImage.Format.Format_Grayscale8)
        self._image.fill(0)
        self._last: QPointF | None = None
        themes.theme_changed.connect(self._theme_changed)

    def clear(self) -> None:
        """Remove the drawing."""
        self._image.fill(0)
        self.empty = True
        self.update()
        self.drawn.emit()

    def ink(self) -> NDArray[np.float32]:
        """The drawing `(224, 224)`, 0 without ink to 1."""
        bits = np.frombuffer(self._image.constBits(), np.uint8).reshape(SIDE, self._image.bytesPerLine())
        return bits[:, :SIDE].astype(np.float32) / np.float32(255)

    def stroke(self, start: QPointF, end: QPointF, *, erase: bool = False) -> None:
        """A piece of a line between two points of the widget."""
        painter = QPainter(self._image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour = QColor(0, 0, 0) if erase else QColor(255, 255, 255)
        width = SIDE * BRUSH * (2 if erase else 1)
        painter.setPen(
            QPen(colour, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)
        )
        a, b = self._inside(start), self._inside(end)
        if a == b:
            painter.drawPoint(a)
        else:
            painter.drawLine(a, b)
        painter.end()
        self.empty = False
        self.update()
        self.drawn.emit()

    def area(self) -> QRectF:
        """The square that is drawn on."""
        side = min(self.width(), self.height())
        return QRectF(0, 0, side, side)

    def _inside(self, at: QPointF) -> QPointF:
        area = self.area()
        scale = SIDE / max(1.0, area.width())
        return QPointF((at.x() - area.left()) * scale, (at.y() - area.top()) * scale)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton):
            self._last = event.position()
            self.stroke(self._last, self._last, erase=self._erases(event.button()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._last is None:
            return
        right = bool(event.buttons() & Qt.MouseButton.RightButton)
        button = Qt.MouseButton.RightButton if right else Qt.MouseButton.LeftButton
        start, self._last = self._last, event.position()
        self.stroke(start, self._last, erase=self._erases(button))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._last = None

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        event.accept()

    def _erases(self, button: Qt.MouseButton) -> bool:
        return (button == Qt.MouseButton.RightButton) != self.erasing

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, area = current_theme(), self.area()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(area, self._image)
        painter.setPen(theme.line)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(area.adjusted(0.5, 0.5, -0.5, -0.5))
        if self.empty:
            painter.setFont(theme.font(SMALL))
            painter.setPen(QColor("#98a2b3"))
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, "draw here")

    def sizeHint(self) -> QSize:
        return QSize(180, 180)

    def minimumSizeHint(self) -> QSize:
        return QSize(60, 60)

    def _theme_changed(self, theme: object) -> None:
        self.update()
