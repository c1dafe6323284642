"""A line under the pointer with the values of all curves there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen

from app.theme import SMALL, Theme, current_theme

ROW = 16
PAD = 6
SWATCH = 14
APART = 10  # between the line and the box
WIDEST_NAME = 150


class Reading(NamedTuple):
    """One curve at the line: its value as text, and its point in pixels, None where that is out of view."""

    name: str
    colour: QColor
    text: str
    dashed: bool = False
    point: tuple[float, float] | None = None


class Crosshair:
    """Stands at `x` pixels of a plot; not `visible` while the pointer is elsewhere."""

    def __init__(self) -> None:
        self.visible = False
        self.title = ""
        self.rows: tuple[Reading, ...] = ()
        self._x = self._y = 0.0
        self._shown: tuple[Reading, ...] = ()
        self._width, self._height = 1.0, 1.0
        self._box = QRectF()
        self._name_room = self._left_out = 0

    def read(
        self, at: tuple[float, float], title: str, rows: Sequence[Reading], size: tuple[float, float]
    ) -> None:
        """Show these values at a pixel of a plot of this size; where there are too many, the nearest."""
        (self._x, self._y), (self._width, self._height) = at, size
        self.title, self.rows = title, tuple(rows)
        self._lay_out(current_theme())
        self.visible = True

    @property
    def words(self) -> str:
        """What stands in the box, in one line."""
        return " · ".join([self.title, *(f"{row.name} {row.text}" for row in self.rows)])

    def _lay_out(self, theme: Theme) -> None:
        names, numbers = QFontMetrics(theme.font(SMALL)), QFontMetrics(theme.mono(SMALL))
        room = max(1, int((self._height - 2 * PAD - 2) // ROW) - 1)
        rows = self.rows
        if len(rows) > room:
            nearest = sorted(range(len(rows)), key=lambda index: self._distance(rows[index]))
            rows = tuple(rows[index] for index in sorted(nearest[: max(1, room - 1)]))
        self._shown, shown = rows, len(rows)
        self._left_out = len(self.rows) - shown
        self._name_room = min(
            WIDEST_NAME, max((names.horizontalAdvance(row.name) for row in rows), default=0)
        )
        widest = max((numbers.horizontalAdvance(row.text) for row in rows), default=0)
        wide = max(SWATCH + self._name_room + 10 + widest, names.horizontalAdvance(self.title)) + 2 * PAD
        tall = (1 + shown + bool(self._left_out)) * ROW + PAD
        left = self._x + APART
        if left + wide > self._width:
            left = max(0.0, self._x - APART - wide)
        self._box = QRectF(left, 2, wide, tall)

    def _distance(self, row: Reading) -> float:
        return abs(row.point[1] - self._y) if row.point is not None else float("inf")

    @property
    def shown(self) -> tuple[Reading, ...]:
        """The values there is room for."""
        return self._shown

    def paint(self, painter: QPainter, theme: Theme) -> None:
        """Paint the line, the points and the box; the painter's origin is the plot's corner."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(QPen(theme.faint, 1))
        painter.drawLine(QPointF(round(self._x) + 0.5, 0), QPointF(round(self._x) + 0.5, self._height))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for row in self.rows:
            if row.point is not None:
                painter.setPen(QPen(theme.panel, 1.5))
                painter.setBrush(row.colour)
                painter.drawEllipse(QPointF(*row.point), 4, 4)
        painter.setPen(QPen(theme.line, 1))
        painter.setBrush(theme.raised)
        painter.drawRoundedRect(self._box, 5, 5)
        line = QRectF(self._box.left() + PAD, self._box.top() + PAD / 2, self._box.width() - 2 * PAD, ROW)
        painter.setFont(theme.font(SMALL))
        painter.setPen(theme.dim)
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, self.title)
        for row in self._shown:
            line.translate(0, ROW)
            self._paint_row(painter, theme, line, row)
        if self._left_out:
            line.translate(0, ROW)
            painter.setFont(theme.font(SMALL))
            painter.setPen(theme.dim)
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, f"and {self._left_out} more")

    def _paint_row(self, painter: QPainter, theme: Theme, line: QRectF, row: Reading) -> None:
        pen = QPen(row.colour, 2)
        if row.dashed:
            pen.setDashPattern([1.5, 1])
        painter.setPen(pen)
        middle = line.center().y()
        painter.drawLine(QPointF(line.left(), middle), QPointF(line.left() + SWATCH - 5, middle))
        painter.setFont(theme.font(SMALL))
        painter.setPen(theme.text)
        name = painter.fontMetrics().elidedText(row.name, Qt.TextElideMode.ElideRight, self._name_room)
        painter.drawText(line.adjusted(SWATCH, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, name)
        painter.setFont(theme.mono(SMALL))
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, row.text)
