"""Several quantities over the same steps, each a strip with one line a unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QImage, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app.charts.axes import round_ticks
from app.charts.colourmaps import SIGNED, VIRIDIS, limits, shade, to_image
from app.charts.plot import Plot, number
from app.charts.scale import paint_scale
from app.theme import SMALL, Theme, current_theme

GAP, NARROW_GAP = 5, 2
BELOW, TICKS_ONLY = 30, 15
LOW = 150  # pixels of height below which every one counts
SCALE = 62
MOST_NAME = 92


class Strip(NamedTuple):
    """Values `(units, steps)`: viridis from 0 to 1 for fractions, else blue-white-red about zero."""

    name: str
    values: NDArray[np.floating]
    fraction: bool = False

    @property
    def scale(self) -> tuple[float, float]:
        """The values of the first and the last colour."""
        return (0.0, 1.0) if self.fraction else limits(self.values, signed=True)


class Strips(Plot):
    """Strips one above the other; the step under the pointer is marked in all."""

    clicked = Signal(int, int)  # unit and step

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._strips: tuple[Strip, ...] = ()
        self._images: list[QImage] = []
        self._first = 0
        self._units: tuple[int, ...] = ()
        self._x_name = "step"
        self._step = -1
        self.setMouseTracking(True)

    def show_strips(
        self, strips: Sequence[Strip], *, first: int = 0, units: Sequence[int] = (), x_name: str = "step"
    ) -> None:
        """Show other strips; steps count from `first`, `units` are the numbers of the lines."""
        self._strips, self._first, self._x_name = tuple(strips), first, x_name
        self._units = tuple(units)
        self._images = [
            to_image(shade(one.values, VIRIDIS if one.fraction else SIGNED, *one.scale)) for one in strips
        ]
        self._message = ""
        self.changed()

    @property
    def strips(self) -> tuple[Strip, ...]:
        """What is on screen."""
        return self._strips

    def area(self, index: int) -> QRectF:
        """Where a strip stands."""
        left = self._name_room()
        low = self.height() < LOW
        gap, below = (NARROW_GAP, TICKS_ONLY) if low else (GAP, BELOW)
        room = max(8.0, self.height() - below - gap * (len(self._strips) - 1))
        weights = [min(max(len(strip.values), 3), 6) for strip in self._strips]  # few lines: a lower strip
        tops = np.concatenate([[0], np.cumsum(weights)]) / sum(weights) * room
        wide = max(8.0, self.width() - left - SCALE)
        return QRectF(left, tops[index] + gap * index, wide, tops[index + 1] - tops[index])

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        if not self._strips:
            return
        low = self.height() < LOW
        font = theme.font(SMALL)
        metrics = QFontMetrics(font)
        for index, (strip, image) in enumerate(zip(self._strips, self._images, strict=True)):
            area = self.area(index)
            small = image.width() > area.width() or image.height() > area.height()
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, small)
            painter.drawImage(area, image)
            painter.setFont(font)
            painter.setPen(theme.dim)
            box = QRectF(0, area.top(), area.left() - 6, area.height())
            short = max(0.0, metrics.height() - box.height()) / 2
            box.adjust(0, -short, 0, short)
            box.moveTop(max(0.0, box.top()))
            name = metrics.elidedText(strip.name, Qt.TextElideMode.ElideRight, int(box.width()))
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, name)
            first, top = strip.scale
            marks = [(0.0, number(first)), (1.0, number(top))] if area.height() >= 26 else []
            table = VIRIDIS if strip.fraction else SIGNED
            paint_scale(painter, theme, area.right() + 6, area, table, marks)
            if not marks:
                painter.setFont(theme.mono(SMALL))
                beside = QRectF(area.right() + 19, box.top(), SCALE - 19, box.height())
                span = f"0 to {number(top)}" if strip.fraction else f"±{number(top)}"
                painter.drawText(beside, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, span)
        last, steps = self.area(len(self._strips) - 1), self._strips[0].values.shape[1]
        painter.setFont(theme.mono(SMALL))
        painter.setPen(theme.dim)
        room = max(2, int(last.width() // 56))
        for tick in round_ticks(self._first + 1, self._first + steps, room, whole=True):
            x = last.left() + (tick - self._first - 0.5) / steps * last.width()
            painter.drawText(
                QRectF(x - 24, last.bottom() + 2, 48, 13), Qt.AlignmentFlag.AlignHCenter, f"{tick:,.0f}"
            )
        if not low:
            painter.setFont(theme.font(SMALL))
            box = QRectF(last.left(), last.bottom() + 14, last.width(), 16)
            painter.drawText(box, Qt.AlignmentFlag.AlignHCenter, self._x_name)
        if self._step >= 0:
            x = last.left() + (self._step + 0.5) / steps * last.width()
            painter.setPen(QPen(theme.accent, 1))
            painter.drawLine(int(x), 0, int(x), int(last.bottom()))

    def place_of(self, at: QPoint) -> tuple[int, int, int] | None:
        """Strip, line and step at a point."""
        for index, strip in enumerate(self._strips):
            area = self.area(index)
            if area.contains(at):
                lines, steps = strip.values.shape
                line = int((at.y() - area.top()) / area.height() * lines)
                step = int((at.x() - area.left()) / area.width() * steps)
                return index, min(line, lines - 1), min(step, steps - 1)
        return None

    def describe(self, at: QPoint) -> str:
        place = self.place_of(at)
        if place is None:
            return ""
        index, line, step = place
        strip = self._strips[index]
        unit = self._units[line] + 1 if len(self._units) == len(strip.values) else line + 1
        value = number(float(strip.values[line, step]))
        return f"{strip.name}, unit {unit}, {self._x_name} {self._first + step + 1}: {value}"

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = self.place_of(event.position().toPoint())
        self._mark(place[2] if place is not None else -1)

    def leaveEvent(self, event: object) -> None:
        self._mark(-1)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = self.place_of(event.position().toPoint())
        if place is not None and event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit(place[1], place[2])

    def _mark(self, step: int) -> None:
        if step != self._step:
            self._step = step
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(320, 220)

    def _name_room(self) -> float:
        metrics = QFontMetrics(current_theme().font(SMALL))
        widest = max((metrics.horizontalAdvance(strip.name) for strip in self._strips), default=0)
        return min(widest, MOST_NAME) + 10.0
