"""Base of pictures with two axes that are painted by hand."""

from __future__ import annotations

from math import log10

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter

from app.charts.axes import tick_text, ticks
from app.charts.picture import Picture
from app.theme import SMALL, Theme

TICK = 10
LEFT, BOTTOM, TOP, RIGHT = 46, 34, 18, 8
LOWEST, LOW_BOTTOM, LOW_TOP = 120, 18, 5  # lower pictures leave the names of the axes out

Span = tuple[float, float]


class Plane(Picture):
    """Axes with few round ticks; a subclass paints between them by `places`.

    On a logarithmic axis `places` takes plain values; what is not above zero has no place (NaN).
    """

    def __init__(self) -> None:
        super().__init__()
        self._x: Span = (0.0, 1.0)
        self._y: Span = (0.0, 1.0)
        self._names = ("", "")
        self._log = False
        self._whole = False
        self.right = RIGHT  # room that a subclass needs there

    def set_axes(
        self, x: Span, y: Span, names: tuple[str, str], *, log: bool = False, whole: bool = False
    ) -> None:
        """Show these stretches. `log` is of y, `whole` of x; `names` are of x and y, with their units."""
        self._x, self._y = _opened(x), (_opened(y) if not log else y)
        self._names, self._log, self._whole = names, log, whole
        if log:
            low = log10(max(y[0], 1e-30))
            self._y = _opened((low, log10(max(y[1], 1e-30))))
        self._message = ""
        self.changed()

    @property
    def area(self) -> QRectF:
        """Where the plot is, in pixels."""
        top, bottom = (LOW_TOP, LOW_BOTTOM) if self.low else (TOP, BOTTOM)
        return QRectF(
            LEFT, top, max(8, self.width() - LEFT - self.right), max(8, self.height() - top - bottom)
        )

    @property
    def low(self) -> bool:
        """Whether there is no room for the names of the axes."""
        return self.height() < LOWEST

    def places(self, x: NDArray[np.floating], y: NDArray[np.floating]) -> NDArray[np.float64]:
        """Pixels (n, 2) of points (n,)."""
        area = self.area
        if self._log:
            with np.errstate(divide="ignore", invalid="ignore"):
                y = np.where(y > 0, np.log10(y), np.nan)
        across = area.left() + (np.asarray(x) - self._x[0]) / (self._x[1] - self._x[0]) * area.width()
        down = area.bottom() - (np.asarray(y) - self._y[0]) / (self._y[1] - self._y[0]) * area.height()
        return np.column_stack([across, down])

    def value_at(self, at: QPointF) -> tuple[float, float]:
        """The point under a pixel."""
        area = self.area
        x = self._x[0] + (at.x() - area.left()) / area.width() * (self._x[1] - self._x[0])
        y = self._y[0] + (area.bottom() - at.y()) / area.height() * (self._y[1] - self._y[0])
        return x, 10.0**y if self._log else y

    def paint_axes(self, painter: QPainter, theme: Theme, *, grid: bool = True) -> None:
        """Ticks, names and faint lines."""
        area = self.area
        painter.setFont(theme.mono(TICK))
        scale = "log" if self._log else "linear"
        for tick in ticks(scale, *self._y, int(area.height() // 32)):
            y = area.bottom() - (tick - self._y[0]) / (self._y[1] - self._y[0]) * area.height()
            if grid:
                painter.setPen(theme.line)
                painter.drawLine(QPointF(area.left(), round(y)), QPointF(area.right(), round(y)))
            painter.setPen(theme.dim)
            box = QRectF(0, y - 7, LEFT - 6, 14)
            right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(box, right, tick_text(scale, tick))
        painter.setPen(theme.dim)
        scale = "whole" if self._whole else "linear"
        for tick in ticks(scale, *self._x, int(area.width() // 64)):
            x = area.left() + (tick - self._x[0]) / (self._x[1] - self._x[0]) * area.width()
            box = QRectF(x - 30, area.bottom() + 3, 60, 14)
            painter.drawText(box, Qt.AlignmentFlag.AlignHCenter, tick_text(scale, tick))
        painter.setPen(theme.line)
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        if self.low:
            return
        painter.setPen(theme.dim)
        painter.setFont(theme.font(SMALL))
        across = QRectF(area.left(), area.bottom() + 17, area.width(), 16)
        painter.drawText(across, Qt.AlignmentFlag.AlignRight, self._names[0])
        painter.drawText(QRectF(0, 0, self.width(), 16), Qt.AlignmentFlag.AlignLeft, self._names[1])


def around(values: NDArray[np.floating], room: float = 0.06) -> Span:
    """The stretch of the finite values with some room at both ends."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    more = (high - low) * room
    return low - more, high + more


def _opened(span: Span) -> Span:
    low, high = span
    if high > low:
        return span
    half = abs(low) * 0.1 or 0.5
    return low - half, high + half
