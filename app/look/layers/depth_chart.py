"""A few numbers of each layer in order of depth, on a logarithmic axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, log10

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QMouseEvent, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from app.charts.plot import Plot, colour_of, number
from app.charts.tick_marks import paint_up, place, room_of_numbers, ticks_up
from app.theme import SMALL, Theme

LEFT, RIGHT, ABOVE, BELOW = 52, 12, 22, 22


@dataclass(frozen=True)
class Series:
    """One line: a value a layer (NaN: none), the theme's role of its colour, and "circle" or "square"."""

    name: str
    values: NDArray[np.float64]
    role: str
    shape: str = "circle"


class Depth(Plot):
    """Points over the layers, joined where they follow each other; a click tells which layer."""

    picked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._names: tuple[str, ...] = ()
        self._series: tuple[Series, ...] = ()
        self._low, self._high = -1.0, 1.0
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def show_series(self, names: Sequence[str], series: Sequence[Series]) -> None:
        """Show other values; `names` are the layers in order."""
        self._names, self._series = tuple(names), tuple(series)
        values = np.concatenate([one.values for one in series]) if series else np.empty(0)
        values = np.log10(values[np.isfinite(values) & (values > 0)])
        low, high = (float(values.min()), float(values.max())) if len(values) else (-1.0, 1.0)
        room = max(0.1, 0.06 * (high - low), (1.0 - (high - low)) / 2)  # a level line looks level
        self._low, self._high = low - room, high + room
        self._message = ""
        self.changed()

    @property
    def series(self) -> tuple[Series, ...]:
        """What is on screen."""
        return self._series

    def place(self, layer: int, value: float) -> QPointF:
        """Where a value of a layer stands; at the lower edge when it is zero."""
        area, last = self._area(), max(1, len(self._names) - 1)
        at = log10(value) if value > 0 and isfinite(value) else self._low
        x = area.center().x() if len(self._names) == 1 else area.left() + layer / last * area.width()
        return QPointF(x, area.bottom() - (at - self._low) / (self._high - self._low) * area.height())

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        if not self._names:
            return
        area = self._area()
        self._paint_axes(painter, theme, area)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        size = 3.5 if area.width() / len(self._names) > 9 else 2.0
        for one in self._series:
            colour = colour_of(theme, one.role)
            painter.setPen(QPen(colour, 1.8))
            for piece in self._pieces(one):
                painter.drawPolyline(piece)
            painter.setPen(QPen(theme.panel, 0.8))
            painter.setBrush(colour)
            for layer, value in enumerate(one.values.tolist()):
                if value == value:
                    self._paint_point(painter, theme, one, self.place(layer, value), value, size)

    def _paint_point(
        self, painter: QPainter, theme: Theme, one: Series, at: QPointF, value: float, size: float
    ) -> None:
        if value <= 0 or not isfinite(value):  # nothing there, or out of bounds: a cross at the edge
            area = self._area()
            y = area.bottom() - 5 if value <= 0 else area.top() + 5
            painter.save()
            painter.setPen(QPen(theme.bad, 1.6))
            painter.drawLine(QPointF(at.x() - 3, y - 3), QPointF(at.x() + 3, y + 3))
            painter.drawLine(QPointF(at.x() - 3, y + 3), QPointF(at.x() + 3, y - 3))
            painter.restore()
        elif one.shape == "square":
            painter.drawRect(QRectF(at.x() - size, at.y() - size, 2 * size, 2 * size))
        else:
            painter.drawEllipse(at, size, size)

    def _pieces(self, one: Series) -> list[QPolygonF]:
        pieces: list[QPolygonF] = []
        points: list[QPointF] = []
        for layer, value in enumerate(one.values.tolist()):
            if value != value:  # a layer that has none is passed over
                continue
            if value <= 0 or not isfinite(value):
                pieces.append(QPolygonF(points))
                points = []
            else:
                points.append(self.place(layer, value))
        return [*pieces, QPolygonF(points)]

    def _paint_axes(self, painter: QPainter, theme: Theme, area: QRectF) -> None:
        span = self._low, self._high
        painter.setPen(theme.line)
        for tick, _ in ticks_up("log", span, area.height()):
            y = place(tick, span, area.bottom(), -area.height())
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
        paint_up(painter, theme, area, "log", span)
        painter.setFont(theme.font(SMALL))
        painter.setPen(theme.dim)
        metrics = painter.fontMetrics()
        taken = -1.0
        for layer, name in enumerate(self._names):
            x = self.place(layer, 1.0).x()
            wide = min(metrics.horizontalAdvance(name), 84)
            left = min(max(0.0, x - wide / 2), self.width() - wide - 1.0)
            if left >= taken:
                text = metrics.elidedText(name, Qt.TextElideMode.ElideRight, wide + 1)
                painter.drawText(QPointF(left, area.bottom() + 16), text)
                taken = left + wide + 10
        self._paint_legend(painter, theme)

    def _paint_legend(self, painter: QPainter, theme: Theme) -> None:
        painter.setFont(theme.font(SMALL))
        metrics = QFontMetrics(painter.font())
        x = 4.0
        for one in self._series:
            painter.setPen(QPen(colour_of(theme, one.role), 2))
            painter.drawLine(QPointF(x, 9), QPointF(x + 16, 9))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour_of(theme, one.role))
            if one.shape == "square":
                painter.drawRect(QRectF(x + 5, 6, 6, 6))
            else:
                painter.drawEllipse(QPointF(x + 8, 9), 3.2, 3.2)
            painter.setPen(theme.dim)
            painter.drawText(QPointF(x + 22, 13), one.name)
            x += 22 + metrics.horizontalAdvance(one.name) + 14

    def _layer_at(self, x: float) -> int:
        return min(range(len(self._names)), key=lambda layer: abs(self.place(layer, 1.0).x() - x))

    def describe(self, at: QPoint) -> str:
        if not self._names:
            return ""
        layer = self._layer_at(at.x())
        words = [self._names[layer]]
        for one in self._series:
            value = float(one.values[layer])
            words.append(f"{one.name}: {number(value) if value == value else 'none'}")
        return "\n".join(words)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._names:
            self.picked.emit(self._layer_at(event.position().x()))

    def sizeHint(self) -> QSize:
        return QSize(300, 180)

    def _area(self) -> QRectF:
        high = max(8.0, self.height() - ABOVE - BELOW)
        left = max(LEFT, room_of_numbers("log", (self._low, self._high), high))
        return QRectF(left, ABOVE, max(8, self.width() - left - RIGHT), high)
