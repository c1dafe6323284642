"""A fraction for each unit as upright bars from 0 to 100 %; units that reach the end are marked."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QWidget

from app.charts.plot import Plot, percent
from app.charts.tick_marks import paint_across
from app.theme import SMALL, Theme

LEFT, ABOVE, BELOW = 42, 14, 18
CROSS = 6  # pixels of a bar from which each marked unit has a cross of its own


class UnitFractions(Plot):
    """Fractions `(units,)`, one bar a unit."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._fractions: NDArray[np.float64] = np.empty(0)
        self._what = ""
        self._marked: NDArray[np.bool_] = np.empty(0, bool)

    def show_fractions(self, fractions: NDArray[np.float64], marked: NDArray[np.bool_], what: str) -> None:
        """Show other fractions; `what` says of what, those that are `marked` stand out."""
        self._fractions, self._marked, self._what = fractions, marked, what
        self._message = ""
        self.changed()

    @property
    def fractions(self) -> NDArray[np.float64]:
        """What is on screen."""
        return self._fractions

    def bar(self, index: int) -> QRectF:
        """Where the bar of a unit stands at its full height."""
        area = self._area()
        step = self._step()
        return QRectF(area.left() + index * step, area.top(), step, area.height())

    def _step(self) -> float:
        return min(28.0, self._area().width() / max(1, len(self._fractions)))

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        if not len(self._fractions):
            return
        area, step = self._area(), self._step()
        painter.setFont(theme.mono(SMALL))
        for fraction in (0.0, 0.5, 1.0):
            y = round(area.bottom() - fraction * area.height()) + 0.5
            painter.setPen(theme.line)
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(theme.dim)
            box = QRectF(0, y - 7, LEFT - 6, 14)
            align = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(box, align, f"{100 * fraction:.0f} %")
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, step >= 3)
        gap = 2 if step >= 6 else 1 if step >= 3 else 0
        painter.setPen(Qt.PenStyle.NoPen)
        for index, (fraction, marked) in enumerate(
            zip(self._fractions.tolist(), self._marked.tolist(), strict=True)
        ):
            if fraction > 0:
                bar = self.bar(index)
                tall = max(1.0, bar.height() * fraction)
                painter.setBrush(theme.bad if marked else theme.accent)
                painter.drawRect(QRectF(bar.left(), bar.bottom() - tall, max(1.0, step - gap), tall))
        painter.setPen(QPen(theme.bad, 1.5))
        last = -float(CROSS)
        for index in np.flatnonzero(self._marked).tolist():
            x = self.bar(index).left() + max(1.0, step - gap) / 2
            if x - last >= CROSS:  # never colour alone: a cross above the bar
                painter.drawLine(QPointF(x - 2.5, 4), QPointF(x + 2.5, 9))
                painter.drawLine(QPointF(x - 2.5, 9), QPointF(x + 2.5, 4))
                last = x
        painter.setFont(theme.font(SMALL))
        painter.setPen(theme.dim)
        count = len(self._fractions)
        beside = QRectF(0, area.bottom() + 2, area.left() - 6, 15)
        painter.drawText(beside, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, "unit")
        bars = QRectF(area.left(), area.top(), count * step, area.height())
        paint_across(painter, theme, bars, "whole", (0.5, count + 0.5), (area.left(), self.width()))

    def describe(self, at: QPoint) -> str:
        index = int((at.x() - self._area().left()) // self._step()) if len(self._fractions) else -1
        if not 0 <= index < len(self._fractions):
            return ""
        return f"unit {index + 1}: {percent(float(self._fractions[index]))} {self._what}"

    def sizeHint(self) -> QSize:
        return QSize(280, 150)

    def _area(self) -> QRectF:
        return QRectF(LEFT, ABOVE, max(8, self.width() - LEFT - 2), max(8, self.height() - ABOVE - BELOW))
