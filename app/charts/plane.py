"""Base of plots with two axes that are painted by hand."""

from __future__ import annotations

from math import log10

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter

from app.charts.axes import robust_span
from app.charts.chart import Chart, Frame
from app.theme import Theme

BOTTOM, TOP, RIGHT = 34, 18, 8
LOWEST, LOW_BOTTOM, LOW_TOP = 120, 18, 5  # lower plots leave the names of the axes out

Span = tuple[float, float]


class Plane(Chart):
    """A chart whose subclass paints between the axes by itself, by `places`; their names lie across.

    On a logarithmic axis `places` takes plain values; what is not above zero has no place (NaN).
    """

    def __init__(self) -> None:
        super().__init__()
        self.right = RIGHT  # room that a subclass needs there

    def set_axes(
        self, x: Span, y: Span, names: tuple[str, str], *, log: bool = False, whole: bool = False
    ) -> None:
        """Show these stretches. `log` is of y, `whole` of x; `names` are of x and y, with their units."""
        if log:
            y = log10(max(y[0], 1e-30)), log10(max(y[1], 1e-30))
        scales = "whole" if whole else "linear", "log" if log else "linear"
        self.show_layers(Frame(opened(x), opened(y), *names, False, *scales), ())

    def area(self) -> QRectF:
        top, bottom = (LOW_TOP, LOW_BOTTOM) if self.low else (TOP, BOTTOM)
        high = max(8, self.height() - top - bottom)
        left = self._number_room(high)
        return QRectF(left, top, max(8, self.width() - left - self.right), high)

    @property
    def low(self) -> bool:
        """Whether there is no room for the names of the axes."""
        return self.height() < LOWEST

    @property
    def _log(self) -> bool:
        return self.frame_shown.y_scale == "log"

    def places(self, x: NDArray[np.floating], y: NDArray[np.floating]) -> NDArray[np.float64]:
        """Pixels (n, 2) of points (n,)."""
        if self._log:
            with np.errstate(divide="ignore", invalid="ignore"):
                y = np.where(y > 0, np.log10(y), np.nan)
        return np.column_stack(self.to_pixels(x, y))

    def value_at(self, at: QPointF) -> tuple[float, float]:
        """The point under a pixel of the area."""
        x, y = self.to_values(at) or (np.nan, np.nan)
        return x, 10.0**y if self._log else y

    def paint_axes(self, painter: QPainter, theme: Theme, *, grid: bool = True) -> None:
        """Ticks, names and faint lines."""
        if grid:
            self._paint_grid(painter, theme, self.area())
        self._paint_axes(painter, theme, self.area())

    def _paint_names(self, painter: QPainter, area: QRectF) -> None:
        if not self.low:
            below = QRectF(area.left(), area.bottom() + 17, area.width(), 16)
            painter.drawText(below, Qt.AlignmentFlag.AlignRight, self.frame_shown.x_name)
            above = QRectF(0, 0, self.width(), 16)
            painter.drawText(above, Qt.AlignmentFlag.AlignLeft, self.frame_shown.y_name)


def around(values: NDArray[np.floating], room: float = 0.06) -> Span:
    """The stretch of the finite values, but for what lies far out, with some room at both ends."""
    low, high = robust_span(values) or (0.0, 1.0)
    more = (high - low) * room
    return low - more, high + more


def opened(span: Span) -> Span:
    """A span wider than nothing, so that its value has a place in the middle."""
    low, high = span
    if high > low:
        return span
    half = abs(low) * 0.1 or 0.5
    return low - half, high + half
