"""Numbers that fall from the first to the last: bars, and what they were before as a line behind."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF

from app.charts.plane import Plane
from app.charts.plot import colour_of, number
from app.theme import Theme

SMALLEST = 1e-6  # of the largest: where a logarithmic axis ends
THICKEST = 28.0


class Falling(Plane):
    """Values `(k,)` as bars; `before` `(k,)` as a dashed line of steps. More bars than pixels are thinned."""

    def __init__(self) -> None:
        super().__init__()
        self._values: NDArray[np.floating] = np.empty(0)
        self._before: NDArray[np.floating] = np.empty(0)
        self._noun = ""

    def show_values(
        self,
        values: NDArray[np.floating],
        before: NDArray[np.floating],
        names: tuple[str, str],
        noun: str,
        *,
        log: bool = False,
    ) -> None:
        """Show other values; `noun` is what a bar is."""
        self._values, self._before, self._noun = values, before, noun
        whole = np.concatenate([values, before]).astype(np.float64)
        whole = whole[np.isfinite(whole)]
        high = float(whole.max()) if whole.size and whole.max() > 0 else 1.0
        low = 0.0
        if log:
            low = max(float(whole[whole > 0].min()) / 1.5 if (whole > 0).any() else 0.1, high * SMALLEST)
        self.set_axes((0.5, len(values) + 0.5), (low, high), names, log=log, whole=True)

    @property
    def values(self) -> NDArray[np.floating]:
        """What is on screen."""
        return self._values

    @property
    def before(self) -> NDArray[np.floating]:
        """What stands behind."""
        return self._before

    def bar(self, index: int) -> QRectF:
        """Where a bar stands."""
        area = self.area()
        step = area.width() / max(1, len(self._values))
        thick = min(THICKEST, max(1.0, step - (2 if step >= 6 else 1 if step >= 3 else 0)))
        x, y = self.places(np.array([index + 1.0]), self._values[index : index + 1])[0].tolist()
        top = min(area.bottom(), max(area.top(), y if y == y else area.bottom()))
        return QRectF(x - thick / 2, top, thick, area.bottom() - top)

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        count = len(self._values)
        if not count:
            return
        self.paint_axes(painter, theme)
        every = max(1, count // max(1, int(self.area().width())))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.accent)
        painter.drawRects([self.bar(index) for index in range(0, count, every)])
        if len(self._before):
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            at = np.repeat(np.arange(1.0, len(self._before) + 1), 2)
            at[0::2] -= 0.5
            at[1::2] += 0.5
            places = self.places(at, np.repeat(self._before, 2).astype(np.float64))
            places = places[np.isfinite(places).all(axis=1)]
            painter.setPen(QPen(colour_of(theme, "convolution"), 1.4, Qt.PenStyle.DashLine))
            painter.setClipRect(self.area())
            painter.drawPolyline(QPolygonF([QPointF(x, y) for x, y in places.tolist()]))
            painter.setClipping(False)

    def describe(self, at: QPoint) -> str:
        count = len(self._values)
        if not count or not self.area().contains(at):
            return ""
        index = min(count - 1, max(0, round(self.value_at(QPointF(at))[0]) - 1))
        words = f"{self._noun} {index + 1} of {count}: {number(float(self._values[index]))}"
        if index < len(self._before):
            words += f"\nat the start {number(float(self._before[index]))}"
        return words
