"""Histograms through time: one line a moment, the newest in front, all over one axis of values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from app.charts.colourmaps import mixed
from app.charts.histogram import Distribution
from app.charts.plot import Plot, colour_of, number, percent
from app.charts.tick_marks import paint_across, place, ticks_across
from app.theme import SMALL, Theme, current_theme

RISE = 0.24  # of the room: how high the highest ridge of several rises
TAIL = 0.1  # of the moments at each side may reach beyond the axis


@dataclass(frozen=True)
class Ridge:
    """The distribution at one step."""

    step: int
    shown: Distribution


class Ridges(Plot):
    """Ridge lines; the height of each is the square root of the fraction of values, to show the tails."""

    def __init__(self, parent: QWidget | None = None, *, role: str = "accent", unit: str = "") -> None:
        super().__init__(parent)
        self._role = role
        self._unit = unit
        self._rows: tuple[Ridge, ...] = ()
        self._lines: list[QPolygonF] | None = None

    def show_rows(self, rows: Sequence[Ridge], role: str, unit: str) -> None:
        """Show these moments, the oldest first; `unit` says what the axis measures."""
        self._rows, self._role, self._unit = tuple(rows), role, unit
        self._message = ""
        self.changed()

    @property
    def rows(self) -> tuple[Ridge, ...]:
        """The moments on screen."""
        return self._rows

    def changed(self) -> None:
        self._lines = None
        super().changed()

    def reach(self) -> tuple[float, float]:
        """The axis: all of the newest moment and nearly all of the others."""
        edges = [(float(row.shown.edges[0]), float(row.shown.edges[-1])) for row in self._rows]
        beyond = int(TAIL * len(edges))
        low = min(edges[-1][0], sorted(low for low, _ in edges)[beyond])
        high = max(edges[-1][1], sorted(high for _, high in edges)[-1 - beyond])
        return (low, high) if high > low else (low - 0.5, high + 0.5)

    def base(self, index: int) -> float:
        """y of the line of a moment without values."""
        area, count = self._area(), len(self._rows)
        if count == 1:
            return area.bottom()
        return area.bottom() - (count - 1 - index) * self._distance()

    def outline(self, index: int) -> QPolygonF:
        """The ridge of a moment, in pixels."""
        if self._lines is None:
            self._lines = [self._outline(at) for at in range(len(self._rows))]
        return self._lines[index]

    def _tall(self) -> float:
        return self._area().height() * (RISE if len(self._rows) > 1 else 1.0)

    def _distance(self) -> float:
        return (self._area().height() - self._tall()) / max(1, len(self._rows) - 1)

    def _outline(self, index: int) -> QPolygonF:
        area, shown = self._area(), self._rows[index].shown
        low, high = self.reach()
        edges, base = shown.edges, self.base(index)
        values = np.concatenate((edges[:1], (edges[1:] + edges[:-1]) / 2, edges[-1:]))
        fractions = np.concatenate(([0.0], shown.counts / (shown.counts.max() or 1.0), [0.0]))
        inside = (values >= low) & (values <= high)
        x = area.left() + (values[inside] - low) / (high - low) * area.width()
        y = base - np.sqrt(fractions[inside]) * (self._tall() - 2)
        return QPolygonF([QPointF(*point) for point in zip(x.tolist(), y.tolist(), strict=True)])

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        if not self._rows:
            return
        area = self._area()
        low, high = self.reach()
        self._paint_axis(painter, theme, area, low, high)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour, count = colour_of(theme, self._role), len(self._rows)
        for index in range(count):
            base, line = self.base(index), self.outline(index)
            if line.isEmpty():
                continue
            age = (index + 1) / count
            edge = mixed(theme.panel, colour, 0.35 + 0.65 * age)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(mixed(theme.panel, colour, 0.06 + 0.34 * age))
            filled = QPolygonF(line)
            filled << QPointF(line.last().x(), base) << QPointF(line.first().x(), base)
            painter.drawPolygon(filled)
            painter.setPen(QPen(edge, 1.6 if index == count - 1 else 1.0))
            painter.drawPolyline(line)
        self._paint_steps(painter, theme, area)

    def _paint_axis(self, painter: QPainter, theme: Theme, area: QRectF, low: float, high: float) -> None:
        for tick, _ in ticks_across("linear", (low, high), area.width()):
            x = place(tick, (low, high), area.left(), area.width())
            painter.setPen(theme.faint if tick == 0 else theme.line)
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom() + 3))
        paint_across(painter, theme, area, "linear", (low, high), (0.0, self.width()))
        painter.setFont(theme.font(SMALL))
        box = QRectF(area.left(), area.bottom() + 16, area.width(), 13)
        painter.drawText(box, Qt.AlignmentFlag.AlignHCenter, self._unit)

    def _paint_steps(self, painter: QPainter, theme: Theme, area: QRectF) -> None:
        painter.setFont(theme.mono(SMALL))
        painter.setPen(theme.dim)
        last = float("inf")
        for index in range(len(self._rows) - 1, -1, -1):
            y = self.base(index)
            if last - y >= 24 or index == len(self._rows) - 1 or (index == 0 and last - y >= 12):
                box = QRectF(0, y - 12, area.left() - 6, 13)
                painter.drawText(box, Qt.AlignmentFlag.AlignRight, f"{self._rows[index].step:,}")
                last = y
        if last >= 26:
            painter.setFont(theme.font(SMALL))
            painter.drawText(QRectF(0, last - 26, area.left() - 6, 13), Qt.AlignmentFlag.AlignRight, "step")

    def describe(self, at: QPoint) -> str:
        if not self._rows:
            return ""
        index = min(range(len(self._rows)), key=lambda row: abs(self.base(row) - at.y()))
        row = self._rows[index]
        low, high = self.reach()
        area = self._area()
        words = f"step {row.step:,}: {row.shown.sentence()}"
        value = low + (at.x() - area.left()) / area.width() * (high - low)
        place = int(np.searchsorted(row.shown.edges, value, side="right")) - 1
        if area.left() <= at.x() <= area.right() and 0 <= place < len(row.shown.counts):
            fraction = float(row.shown.counts[place]) / (float(row.shown.counts.sum()) or 1.0)
            words += f"\n{percent(fraction)} of values about {number(value)}"
        return words

    def sizeHint(self) -> QSize:
        return QSize(280, 180)

    def _area(self) -> QRectF:
        widest = f"{self._rows[-1].step:,}" if self._rows else ""
        left = max(34, QFontMetrics(current_theme().mono(SMALL)).horizontalAdvance(widest) + 8)
        return QRectF(left, 4, max(8, self.width() - left - 4), max(8, self.height() - 36))
