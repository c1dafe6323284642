"""Lines over a common index: a time series, or what a model predicts beside what is right."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from app.charts.plot import Plot, colour_of, number
from app.theme import Theme, current_theme

TICK = 10


class Line(NamedTuple):
    """One line: `values` (n,), its name, and the theme's role of its colour."""

    name: str
    values: NDArray[np.floating]
    role: str = "accent"


def extremes(values: NDArray[np.floating], columns: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """At most two points a column, the smallest and the largest in the order they come; no spike is lost.

    Returns index and value. A column without a finite value gives NaN.
    """
    count = len(values)
    if count <= 2 * columns:
        return np.arange(count, dtype=np.float64), np.asarray(values, dtype=np.float64)
    starts = (np.arange(columns) * count) // columns
    clean = np.where(np.isfinite(values), values, np.nan).astype(np.float64)
    index = np.empty((columns, 2))
    for column, (start, end) in enumerate(zip(starts, [*starts[1:], count], strict=True)):
        part = clean[start:end]
        if np.isnan(part).all():
            index[column] = start
        else:
            index[column] = sorted((start + int(np.nanargmin(part)), start + int(np.nanargmax(part))))
    at = index.ravel()
    return at, clean[at.astype(int)]


class SeriesPlot(Plot):
    """Lines `(n,)` over their index; the first index is `start`, `unit` says what the index counts."""

    def __init__(self, parent: QWidget | None = None, *, unit: str = "row") -> None:
        super().__init__(parent)
        self._lines: tuple[Line, ...] = ()
        self._start = 0
        self._unit = unit
        self._low, self._high = 0.0, 1.0
        self._polygons: list[tuple[str, list[QPolygonF]]] | None = None

    def show_lines(self, lines: Sequence[Line], start: int = 0) -> None:
        """Show other lines; the last lies on top."""
        self._lines = tuple(lines)
        self._start = start
        self._message = ""
        finite = [line.values[np.isfinite(line.values)] for line in lines]
        finite = [values for values in finite if values.size]
        if finite:
            self._low = float(min(values.min() for values in finite))
            self._high = float(max(values.max() for values in finite))
        self.changed()

    @property
    def lines(self) -> tuple[Line, ...]:
        """What is on screen."""
        return self._lines

    def changed(self) -> None:
        self._polygons = None
        super().changed()

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        if not self._lines:
            return
        area = self._area()
        painter.setPen(theme.line)
        for y in (area.top(), area.center().y(), area.bottom()):
            painter.drawLine(QPointF(area.left(), round(y)), QPointF(area.right(), round(y)))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._polygons is None:
            self._polygons = [(line.role, self._polygon(line.values, area)) for line in self._lines]
        for role, pieces in self._polygons:
            painter.setPen(QPen(colour_of(theme, role), 1.4))
            for piece in pieces:
                painter.drawPolyline(piece)
        painter.setFont(theme.mono(TICK))
        painter.setPen(theme.dim)
        left = QRectF(0, 0, area.left() - 8, 14)
        for value, y in (
            (self._high, area.top()),
            ((self._low + self._high) / 2, area.center().y()),
            (self._low, area.bottom()),
        ):
            left.moveTop(min(max(0.0, y - 7), self.height() - 14))
            painter.drawText(left, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, number(value))
        below = QRectF(area.left(), area.bottom() + 4, area.width(), 14)
        last = self._start + max(len(line.values) for line in self._lines) - 1
        painter.drawText(below, Qt.AlignmentFlag.AlignLeft, f"{self._unit} {self._start:,}")
        painter.drawText(below, Qt.AlignmentFlag.AlignRight, f"{last:,}")

    def describe(self, at: QPoint) -> str:
        area = self._area()
        if not self._lines or not area.contains(at):
            return ""
        count = max(len(line.values) for line in self._lines)
        index = round((at.x() - area.left()) / max(1.0, area.width()) * (count - 1))
        words = [f"{self._unit} {self._start + index:,}"]
        words += [
            f"{line.name}: {number(float(line.values[index]))}"
            for line in self._lines
            if index < len(line.values)
        ]
        return "\n".join(words)

    def sizeHint(self) -> QSize:
        return QSize(320, 140)

    def _area(self) -> QRectF:
        metrics = QFontMetricsF(current_theme().mono(TICK))
        marks = (self._low, (self._low + self._high) / 2, self._high)
        left = max(48.0, ceil(max(metrics.horizontalAdvance(number(value)) for value in marks)) + 10)
        return QRectF(left, 7, max(8, self.width() - left - 4), max(8, self.height() - 30))

    def _polygon(self, values: NDArray[np.floating], area: QRectF) -> list[QPolygonF]:
        """The line in pieces between values that are not finite."""
        at, kept = extremes(values, max(8, int(area.width())))
        span = self._high - self._low or 1.0
        count = max(len(line.values) for line in self._lines)
        x = area.left() + at * (area.width() / max(1, count - 1))
        y = area.bottom() - (kept - self._low) * (area.height() / span)
        finite = np.isfinite(kept)
        pieces, start = [], None
        for index, fine in enumerate([*finite.tolist(), False]):
            if fine and start is None:
                start = index
            elif not fine and start is not None:
                points = zip(x[start:index].tolist(), y[start:index].tolist(), strict=True)
                pieces.append(QPolygonF([QPointF(*point) for point in points]))
                start = None
        return pieces
