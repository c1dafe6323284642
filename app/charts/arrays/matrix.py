"""A matrix as coloured cells, with the name and the number of the one under the pointer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QImage, QMouseEvent, QPainter
from PySide6.QtWidgets import QWidget

from app.charts.colourmaps import SIGNED, VIRIDIS, Table, limits, shade, to_image
from app.charts.plot import Plot, number
from app.charts.scale import NARROWEST, WIDTH, ends, paint_scale
from app.theme import SMALL, Theme, current_theme

LARGEST = 56.0  # pixels of a cell
STRETCH = 3.0  # how much longer than wide a cell may be
LEAST = 48.0  # pixels of a side, for which cells are stretched further
CAPTION = 18

Tell = Callable[[int, int], str]


class Matrix(Plot):
    """Values `(rows, columns)`: blue-white-red about zero when `signed`, else viridis.

    Row names stand before the rows, and columns are numbered as these; without names a caption says what
    rows and columns are.
    """

    clicked = Signal(int, int)  # row and column of a cell

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values: NDArray[np.floating] | None = None
        self._table: Table = VIRIDIS
        self._cells: QImage | None = None
        self._scale = (0.0, 1.0)
        self._names: tuple[str, ...] = ()
        self._captions = ("", "")
        self._tell: Tell | None = None

    def show_matrix(
        self,
        values: NDArray[np.floating],
        *,
        signed: bool = False,
        scale: tuple[float, float] | None = None,
        names: Sequence[str] = (),
        captions: tuple[str, str] = ("", ""),
        tell: Tell | None = None,
    ) -> None:
        """Show another matrix; `tell(row, column)` is the tool tip, `captions` are of rows and columns."""
        self._values, self._names, self._captions, self._tell = values, tuple(names), captions, tell
        self._table = SIGNED if signed else VIRIDIS
        self._scale = scale or limits(values, signed=signed)
        self._cells = to_image(shade(values, self._table, *self._scale))
        self._message = ""
        self.changed()

    @property
    def values(self) -> NDArray[np.floating] | None:
        """What is on screen."""
        return self._values

    @property
    def scale(self) -> tuple[float, float]:
        """The values of the first and the last colour."""
        return self._scale

    @property
    def area(self) -> QRectF:
        """Where the cells are, in pixels."""
        rows, columns = self._values.shape if self._values is not None else (1, 1)
        left = self._name_room()
        right = WIDTH if self.width() >= NARROWEST else 0
        wide, high = max(8, self.width() - left - right - 6), max(8, self.height() - CAPTION)
        cell_wide, cell_high = min(LARGEST, wide / columns), min(LARGEST, high / rows)
        cell_wide = min(cell_wide, max(1.0, STRETCH * cell_high, LEAST / columns))
        cell_high = min(cell_high, max(1.0, STRETCH * cell_wide, LEAST / rows))
        return QRectF(left, 0, cell_wide * columns, cell_high * rows)

    def cell_at(self, at: QPoint) -> tuple[int, int] | None:
        """Row and column of the cell under a point."""
        area, values = self.area, self._values
        if values is None or not area.contains(at):
            return None
        row = int((at.y() - area.top()) / area.height() * values.shape[0])
        column = int((at.x() - area.left()) / area.width() * values.shape[1])
        return min(row, values.shape[0] - 1), min(column, values.shape[1] - 1)

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        if self._values is None or self._cells is None:
            return
        area = self.area
        shrunk = self._cells.width() > area.width() or self._cells.height() > area.height()
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, shrunk)
        painter.drawImage(area, self._cells)
        self._paint_names(painter, theme, area)
        self._paint_numbers(painter, theme, area)
        if self.width() >= NARROWEST:
            strip = QRectF(area.left(), 0, area.width(), max(60.0, min(area.height(), self.height() - 4)))
            paint_scale(painter, theme, area.right() + 8, strip, self._table, ends(*self._scale))

    def describe(self, at: QPoint) -> str:
        cell = self.cell_at(at)
        if cell is None or self._values is None:
            return ""
        if self._tell is not None:
            return self._tell(*cell)
        return f"row {cell[0] + 1}, column {cell[1] + 1}: {number(float(self._values[cell]))}"

    def mousePressEvent(self, event: QMouseEvent) -> None:
        cell = self.cell_at(event.position().toPoint())
        if cell is not None and event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit(*cell)

    def _paint_names(self, painter: QPainter, theme: Theme, area: QRectF) -> None:
        painter.setFont(theme.font(SMALL))
        painter.setPen(theme.dim)
        if not self._names:
            below = QRectF(0, area.bottom() + 2, self.width(), 16).translated(area.left(), 0)
            painter.drawText(below, Qt.AlignmentFlag.AlignLeft, self._captions[1])
            painter.save()
            painter.translate(0, area.bottom())
            painter.rotate(-90)
            beside = QRectF(0, 0, max(area.height(), self.height() - CAPTION), 16)
            painter.drawText(beside, Qt.AlignmentFlag.AlignLeft, self._captions[0])
            painter.restore()
            return
        metrics = QFontMetrics(painter.font())
        high, wide = area.height() / len(self._names), area.width() / len(self._names)
        every = max(1, -(-metrics.height() // max(1, int(high))))
        across = max(1, -(-16 // max(1, int(wide))))
        for index, name in enumerate(self._names):
            if index % every == 0:
                box = QRectF(0, area.top() + index * high, area.left() - 6, high)
                text = metrics.elidedText(f"{name} {index + 1}", Qt.TextElideMode.ElideLeft, int(box.width()))
                painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
            if index % across == 0:
                box = QRectF(area.left() + index * wide, area.bottom() + 2, wide * across, 16)
                flag = Qt.AlignmentFlag.AlignHCenter if across == 1 else Qt.AlignmentFlag.AlignLeft
                painter.drawText(box, flag, str(index + 1))

    def _paint_numbers(self, painter: QPainter, theme: Theme, area: QRectF) -> None:
        values = self._values
        assert values is not None
        rows, columns = values.shape
        wide, high = area.width() / columns, area.height() / rows
        if wide < 40 or high < 15:
            return
        painter.setFont(theme.mono(SMALL))
        colours = shade(values, self._table, *self._scale)
        for row in range(rows):
            for column in range(columns):
                colour = QColor.fromRgba(int(colours[row, column]))
                light = colour.redF() * 0.3 + colour.greenF() * 0.59 + colour.blueF() * 0.11 > 0.5
                painter.setPen(QColor("#101318" if light else "#f2f4f8"))
                box = QRectF(area.left() + column * wide, area.top() + row * high, wide, high)
                value = float(values[row, column])
                painter.drawText(
                    box, Qt.AlignmentFlag.AlignCenter, f"{value:.2f}" if abs(value) < 10 else number(value)
                )

    def _name_room(self) -> float:
        if not self._names:
            return 18.0 if self._captions[0] else 0.0
        metrics = QFontMetrics(current_theme().font(SMALL))
        longest = max(metrics.horizontalAdvance(f"{name} {len(self._names)}") for name in self._names)
        return min(longest + 10.0, 0.34 * self.width())
