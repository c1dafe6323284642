"""A table of measures: a row a layer, a column a measure, each cell coloured within its column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from app.charts.colourmaps import VIRIDIS, shade
from app.charts.plot import Plot, number, percent
from app.theme import SMALL, Theme, current_theme

ROW, HEAD = 19, 18
NARROWEST = 40  # pixels of a column
BRIGHT = 0.55  # of the colour map: from here on dark text stands on it


class Measure(NamedTuple):
    """One column: `log` colours by the exponent; `fraction` puts the full colour at 1, not at the largest."""

    title: str
    about: str
    log: bool = False
    fraction: bool = False
    word: Callable[[float], str] = number


class Cells(Plot):
    """The rows; only those in view are painted, so 300 layers cost what a screenful costs."""

    picked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.names: tuple[str, ...] = ()
        self.measures: tuple[Measure, ...] = ()
        self.values: NDArray[np.float64] = np.empty((0, 0))
        self._levels: NDArray[np.float64] = np.empty((0, 0))
        self._colours: NDArray[np.uint32] = np.empty((0, 0), np.uint32)
        self.chosen = -1
        self._widest: int | None = None  # pixels of the names
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def show_values(
        self, names: Sequence[str], measures: Sequence[Measure], values: NDArray[np.float64]
    ) -> None:
        """Show `values` `(rows, columns)`; NaN is an empty cell."""
        grown = len(names) != len(self.names)
        if tuple(names) != self.names:
            self._widest = None
        self.names, self.measures, self.values = tuple(names), tuple(measures), values
        self._levels = np.column_stack(
            [_levels(values[:, index], measure) for index, measure in enumerate(measures)]
        )
        self._colours = shade(np.nan_to_num(self._levels), VIRIDIS, 0.0, 1.0)
        self._message = ""
        if grown:
            self.updateGeometry()
        self.changed()

    def columns(self) -> tuple[int, float]:
        """Room for the names, and the width of a column, in pixels."""
        if self._widest is None:
            metrics = QFontMetrics(current_theme().font(SMALL))
            self._widest = max((metrics.horizontalAdvance(name) for name in self.names), default=0) + 12
        count = max(1, len(self.measures))
        names = max(40, min(self._widest, self.width() - count * NARROWEST, self.width() * 2 // 5))
        return names, (self.width() - names) / count

    def cell(self, row: int, column: int) -> QRectF:
        """Where a cell stands."""
        names, wide = self.columns()
        return QRectF(names + column * wide, row * ROW, wide, ROW).adjusted(1, 1, -1, -1)

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        clip = self.visibleRegion().boundingRect()
        first, last = max(0, clip.top() // ROW), min(len(self.names), clip.bottom() // ROW + 1)
        room, _ = self.columns()
        names, numbers = theme.font(SMALL), theme.mono(SMALL)
        metrics = QFontMetrics(names)
        for row in range(first, last):
            if row == self.chosen:
                painter.fillRect(QRectF(0, row * ROW, room - 2, ROW), theme.selection)
            painter.setFont(names)
            painter.setPen(theme.text if row == self.chosen else theme.dim)
            text = metrics.elidedText(self.names[row], Qt.TextElideMode.ElideMiddle, room - 8)
            painter.drawText(QRect(2, row * ROW, room - 6, ROW), Qt.AlignmentFlag.AlignVCenter, text)
            painter.setFont(numbers)
            for column, measure in enumerate(self.measures):
                self._paint_cell(painter, theme, row, column, measure)
        if self.hasFocus() and 0 <= self.chosen < len(self.names):
            painter.setPen(theme.accent)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(0.5, self.chosen * ROW + 0.5, self.width() - 1, ROW - 1))

    def _paint_cell(self, painter: QPainter, theme: Theme, row: int, column: int, measure: Measure) -> None:
        box, value = self.cell(row, column), float(self.values[row, column])
        level = self._levels[row, column]
        if np.isnan(value):
            painter.fillRect(box, theme.raised)
            painter.setPen(theme.dim)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, "–")
            return
        if np.isnan(level):  # infinite, or zero where only an exponent has a colour
            painter.fillRect(box, theme.raised)
            painter.setPen(theme.bad_text if np.isinf(value) else theme.text)
        else:
            painter.fillRect(box, QColor.fromRgb(int(self._colours[row, column])))
            painter.setPen(QColor("#101318" if level > BRIGHT else "#f2f4f8"))
        word = "∞" if np.isinf(value) else measure.word(value)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, word)

    def describe(self, at: QPoint) -> str:
        row = at.y() // ROW
        room, wide = self.columns()
        if not 0 <= row < len(self.names):
            return ""
        column = int((at.x() - room) // wide)
        if not 0 <= column < len(self.measures):
            return f"{self.names[row]}: click to show it on the canvas"
        measure, value = self.measures[column], float(self.values[row, column])
        told = "there is none" if np.isnan(value) else measure.word(value)
        return f"{self.names[row]}, {measure.about}: {told}"

    def mousePressEvent(self, event: QMouseEvent) -> None:
        row = event.position().toPoint().y() // ROW
        if event.button() == Qt.MouseButton.LeftButton and 0 <= row < len(self.names):
            self._pick(row)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        if step and self.names:
            self._pick(min(max(0, self.chosen + step), len(self.names) - 1))
        else:
            super().keyPressEvent(event)

    def _pick(self, row: int) -> None:
        self.choose(row)
        self.picked.emit(row)

    def choose(self, row: int) -> None:
        """Mark a row as the selected node's; -1 for none."""
        if row != self.chosen:
            self.chosen = row
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(280, max(1, len(self.names)) * ROW)

    def minimumSizeHint(self) -> QSize:
        return QSize(100, max(1, len(self.names)) * ROW)


class _Head(Plot):
    """The titles of the columns, which stay while the rows scroll."""

    def __init__(self, cells: Cells) -> None:
        super().__init__()
        self._cells = cells
        self.setFixedHeight(HEAD)

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        painter.setFont(theme.font(SMALL))
        painter.setPen(theme.dim)
        room, wide = self._cells.columns()
        for column, measure in enumerate(self._cells.measures):
            box = QRectF(room + column * wide, 0, wide, HEAD - 2)
            text = painter.fontMetrics().elidedText(measure.title, Qt.TextElideMode.ElideRight, int(wide))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def describe(self, at: QPoint) -> str:
        room, wide = self._cells.columns()
        column = int((at.x() - room) // wide)
        measures = self._cells.measures
        return measures[column].about if 0 <= column < len(measures) else ""


class Measures(QWidget):
    """The table with its head; a click on a row tells which one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.cells = Cells()
        self._head = _Head(self.cells)
        self._scroll = QScrollArea()
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(self.cells)
        self._scroll.setAccessibleName("Layers and measures")
        self.cells.setProperty("role", "page")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._head)
        column.addWidget(self._scroll, 1)

    def show_values(
        self, names: Sequence[str], measures: Sequence[Measure], values: NDArray[np.float64]
    ) -> None:
        """As `Cells.show_values`."""
        self.cells.show_values(names, measures, values)
        self._head.update()

    def show_chosen(self, row: int) -> None:
        """Mark a row, and bring it into view."""
        if row != self.cells.chosen:
            self.cells.choose(row)
            if row >= 0:
                self._scroll.ensureVisible(0, row * ROW + ROW // 2, 0, ROW)


def _levels(values: NDArray[np.float64], measure: Measure) -> NDArray[np.float64]:
    """Places on the colour map, 0 to 1; NaN where a value has none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        shown = np.where(values > 0, np.log10(values), np.nan) if measure.log else values.astype(float)
    shown[~np.isfinite(shown)] = np.nan
    if measure.fraction:
        return np.clip(shown, 0.0, 1.0)
    if np.isnan(shown).all():
        return shown
    low, high = float(np.nanmin(shown)), float(np.nanmax(shown))
    return (shown - low) / (high - low) if high > low else np.where(np.isnan(shown), np.nan, 0.5)


def fraction_words(value: float) -> str:
    """A fraction of 1 in whole per cent, with one decimal below ten."""
    return "0 %" if value == 0 else percent(round(value, 3))
