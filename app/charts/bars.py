"""Horizontal bars with names and numbers: gradient norms by layer, predicted classes."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.charts.plot import Plot, colour_of, number, numbers, percent, percents
from app.theme import SMALL, Theme

ROW = 20
THICK = 8
SAME = 4  # letters by which all names begin alike
PROBABILITY, OF_UNITS = "probability", "of the units"
IN_PERCENT = (PROBABILITY, OF_UNITS)  # the units of values that are written in per cent
COUNT = "parameters"  # of those that are written to the last digit


class Bar(NamedTuple):
    """One row: `role` names the theme's colour, `note` goes into the tool tip, a `strong` name stands out."""

    name: str
    value: float
    role: str = "good"
    note: str = ""
    strong: bool = False


def how_to_cut(names: Sequence[str]) -> Qt.TextElideMode:
    """Where names that are too long are cut: in the middle, where they differ at their ends only."""
    numbered = len(names) > 1 and len({name[:SAME] for name in names}) == 1
    return Qt.TextElideMode.ElideMiddle if numbered else Qt.TextElideMode.ElideRight


class Bars(Plot):
    """Rows of bars on one scale from zero to the largest value."""

    def __init__(self, parent: QWidget | None = None, *, unit: str = "") -> None:
        super().__init__(parent)
        self._bars: tuple[Bar, ...] = ()
        self._unit = unit
        self._top: float | None = None
        self._name_room = 96
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def show_bars(self, bars: Sequence[Bar], top: float | None = None) -> None:
        """Show these rows; `top` is the value of a full bar (default: the largest)."""
        grown = len(bars) != len(self._bars)
        self._bars = tuple(bars)
        self._top = top
        self._message = ""
        if grown:
            self.updateGeometry()
        self.changed()

    @property
    def bars(self) -> tuple[Bar, ...]:
        """The rows on screen."""
        return self._bars

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        bars = self._bars
        if not bars:
            return
        names, numbers = theme.font(SMALL), theme.mono(SMALL)
        metrics = QFontMetrics(names)
        wide = max((metrics.horizontalAdvance(bar.name) for bar in bars[:200]), default=0) + 12
        name_room = max(40, min(wide, self.width() * 2 // 5))
        texts = self.texts()
        cut = how_to_cut([bar.name for bar in bars[:200]])
        widest = max([*texts, "8.8e-88"], key=len)  # which most are shorter than: bars keep their length
        value_room = QFontMetrics(numbers).horizontalAdvance(widest) + 8
        track = QRectF(name_room, 0, max(8, self.width() - name_room - value_room), THICK)
        full = self._full()
        first, last = self._visible()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for index in range(first, last):
            bar = bars[index]
            y = index * ROW
            painter.setFont(names)
            painter.setPen(theme.text if bar.strong else theme.dim)
            text = metrics.elidedText(bar.name, cut, name_room - 8)
            painter.drawText(QRectF(0, y, name_room, ROW), Qt.AlignmentFlag.AlignVCenter, text)
            painter.setFont(numbers)
            painter.drawText(
                QRectF(self.width() - value_room, y, value_room, ROW),
                Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight,
                texts[index],
            )
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.raised)
            track.moveTop(y + (ROW - THICK) / 2)
            painter.drawRoundedRect(track, 2, 2)
            filled = QRectF(track)
            filled.setWidth(track.width() * self._fraction(bar.value, full))
            if filled.width() > 0.5:
                painter.setBrush(colour_of(theme, bar.role if isfinite(bar.value) else "bad"))
                painter.drawRoundedRect(filled, 2, 2)

    def describe(self, at: QPoint) -> str:
        index = at.y() // ROW
        if not 0 <= index < len(self._bars):
            return ""
        bar = self._bars[index]
        value = self._text(bar.value) if self._unit in (COUNT, OF_UNITS) else f"{bar.value:.6g}"
        text = f"{bar.name}: {value}{' ' + self._unit if self._unit else ''}"
        return f"{text}\n{bar.note}" if bar.note else text

    def texts(self) -> list[str]:
        """What stands beside the bars."""
        values = [bar.value for bar in self._bars]
        if self._unit in IN_PERCENT:
            return percents(values)
        return [self._text(value) for value in values] if self._unit == COUNT else numbers(values)

    def _text(self, value: float) -> str:
        if self._unit == COUNT:
            return f"{value:,.0f}"
        return percent(value) if self._unit in IN_PERCENT and isfinite(value) else number(value)

    def sizeHint(self) -> QSize:
        return QSize(240, max(1, len(self._bars)) * ROW)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, max(1, len(self._bars)) * ROW)

    def _visible(self) -> tuple[int, int]:
        # Painted into an image it is on no screen.
        clip = self.visibleRegion().boundingRect() if self.isVisible() else self.rect()
        return max(0, clip.top() // ROW), min(len(self._bars), clip.bottom() // ROW + 1)

    def _full(self) -> float:
        finite = [bar.value for bar in self._bars if isfinite(bar.value)]
        return self._top if self._top is not None else max(finite, default=1.0) or 1.0

    def _fraction(self, value: float, full: float) -> float:
        if not isfinite(value):
            return 1.0
        if value <= 0 or full <= 0:
            return 0.0
        return min(1.0, value / full)
