"""One number a unit as upright bars about zero: what a dense layer answers to one example."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from app.charts.plot import Plot, number
from app.charts.tick_marks import paint_up, room_of_numbers
from app.theme import Theme

LEFT = 44


class Columns(Plot):
    """Values `(units,)`; accent above zero, orange below; more units than pixels show their extremes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values: NDArray[np.floating] = np.empty(0)

    def show_values(self, values: NDArray[np.floating]) -> None:
        """Show other values."""
        self._values = values
        self._message = ""
        self.changed()

    @property
    def values(self) -> NDArray[np.floating]:
        """What is on screen."""
        return self._values

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        values = np.nan_to_num(self._values, nan=0.0, posinf=0.0, neginf=0.0)
        if not len(values):
            return
        area, (low, high) = self._area(), self._span()
        span = high - low
        zero = area.bottom() - area.height() * (0 - low) / span
        count = min(len(values), max(1, int(area.width())))
        edges = np.linspace(0, len(values), count + 1).astype(int)
        above = np.maximum(np.maximum.reduceat(values, edges[:-1]), 0)
        below = np.minimum(np.minimum.reduceat(values, edges[:-1]), 0)
        step = min(24.0, area.width() / count)
        thick = max(1.0, step - (2 if step >= 6 else 1 if step >= 3 else 0))
        painter.setPen(Qt.PenStyle.NoPen)
        for sizes, colour, sign in ((above, theme.accent, -1), (below, theme.family("convolution"), 1)):
            painter.setBrush(colour)
            scaled = np.abs(sizes) * (area.height() / span)
            rects = [
                QRectF(area.left() + index * step, zero - tall if sign < 0 else zero, thick, tall)
                for index, tall in enumerate(scaled.tolist())
                if tall >= 0.3
            ]
            painter.drawRects(rects)
        painter.setPen(theme.line)
        painter.drawLine(int(area.left()), int(zero), int(area.right()), int(zero))
        paint_up(painter, theme, area, "linear", (low, low + span))

    def describe(self, at: QPoint) -> str:
        area = self._area()
        count = len(self._values)
        if not count or not area.contains(at):
            return ""
        drawn = min(count, max(1, int(area.width())))
        step = min(24.0, area.width() / drawn)
        index = int((at.x() - area.left()) / step * count / drawn)
        return f"unit {index + 1} of {count}: {number(float(self._values[index]))}" if index < count else ""

    def sizeHint(self) -> QSize:
        return QSize(240, 110)

    def _span(self) -> tuple[float, float]:
        values = np.nan_to_num(self._values, nan=0.0, posinf=0.0, neginf=0.0)
        low, high = min(0.0, float(values.min(initial=0))), max(0.0, float(values.max(initial=0)))
        return low, high if high > low else low + 1.0

    def _area(self) -> QRectF:
        high = max(8.0, self.height() - 16.0)
        left = max(LEFT, room_of_numbers("linear", self._span(), high))
        return QRectF(left, 8, max(8, self.width() - left), high)
