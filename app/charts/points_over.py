"""Numbers over an index or over steps: as dots or a line, with levels drawn across."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF

from app.charts.plane import Plane, around
from app.charts.plot import colour_of, number
from app.theme import SMALL, Theme

SMALLEST = 1e-8  # what a logarithmic axis shows of the largest value

Line = tuple[float, str]  # a level and its name


class PointsOver(Plane):
    """Values `(n,)` at `(n,)`; `levels` are dashed lines across. Marks: "line" or "dots".

    On a logarithmic axis dots stand at the size of their value, and those below zero are rings.
    """

    def __init__(self) -> None:
        super().__init__()
        self._at: NDArray[np.floating] = np.empty(0)
        self._values: NDArray[np.floating] = np.empty(0)
        self._sizes: NDArray[np.floating] = np.empty(0)
        self._levels: tuple[Line, ...] = ()
        self._style = "line"
        self._noun = ""

    def show_values(
        self,
        at: NDArray[np.floating],
        values: NDArray[np.floating],
        names: tuple[str, str],
        *,
        style: str = "line",
        levels: Sequence[Line] = (),
        log: bool = False,
        noun: str = "step",
    ) -> None:
        """Show other values; `noun` is what `at` counts, for the tool tip."""
        self._at, self._values, self._levels = at, values, tuple(levels)
        self._style, self._noun = style, noun
        near = [level for level, _ in levels]
        self._sizes = np.abs(values) if log and style == "dots" else values
        whole = np.concatenate([self._sizes, np.asarray(near, np.float64)])
        shown = whole[whole > 0] if log else whole
        low, high = around(shown if shown.size else np.array([1.0]))
        if log and shown.size:
            high = 1.3 * float(shown.max())
            low = max(float(shown.min()) / 1.3, high * SMALLEST)
        stretch = (float(at.min()), float(at.max())) if len(at) else (0.0, 1.0)
        self.set_axes(stretch, (low, high), names, log=log, whole=True)

    @property
    def values(self) -> NDArray[np.floating]:
        """What is on screen."""
        return self._values

    @property
    def levels(self) -> tuple[Line, ...]:
        """The lines across."""
        return self._levels

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        if not len(self._values):
            return
        self.paint_axes(painter, theme)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = self.area()
        painter.setFont(theme.font(SMALL))
        for level, name in self._levels:
            y = float(self.places(np.zeros(1), np.array([level]))[0, 1])
            if not area.top() - 1 <= y <= area.bottom() + 1:
                continue
            painter.setPen(QPen(colour_of(theme, "convolution"), 1.5, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(theme.dim)
            above = y - 17 if y - 17 > area.top() else y + 2
            painter.drawText(QRectF(area.left() + 4, above, area.width() - 8, 16), name)
        places = self.places(self._at, self._sizes)
        fine = np.isfinite(places).all(axis=1) & (places[:, 1] <= area.bottom() + 3)
        points = [QPointF(x, y) for x, y in places[fine].tolist()]
        if self._style == "line":
            painter.setPen(QPen(theme.accent, 2))
            painter.drawPolyline(QPolygonF(points))
            if len(points) >= 30:
                return
        for point, below in zip(points, (self._values[fine] < 0).tolist(), strict=True):
            ring = below and self._style == "dots"
            painter.setPen(QPen(colour_of(theme, "convolution"), 1.2) if ring else Qt.PenStyle.NoPen)
            painter.setBrush(Qt.BrushStyle.NoBrush if ring else theme.accent)
            painter.drawEllipse(point, 2.2, 2.2)

    def describe(self, at: QPoint) -> str:
        if not len(self._values) or not self.area().contains(at):
            return ""
        x, _ = self.value_at(QPointF(at))
        index = int(np.abs(self._at - x).argmin())
        return f"{self._noun} {self._at[index]:,.0f}: {number(float(self._values[index]))}"
