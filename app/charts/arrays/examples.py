"""A sheet of examples, each as an image or a row of numbers with two lines of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app.charts.colourmaps import GREY, limits, shade, to_image
from app.charts.plot import Plot, number
from app.theme import SMALL, Theme, current_theme

LINE, HEAD, GAP = 14, 17, 8
LEAST_SIDE, MOST_SIDE = 40, 220
ROW, LEAST_CELL = 19, 52.0
BETWEEN = 20  # pixels between groups beside each other
ENOUGH = 96.0  # pixels of a side beyond which more examples are worth more than larger ones


class Example(NamedTuple):
    """One example: its words, whether it was answered right, and the heading it stands under."""

    lines: tuple[str, ...]
    right: bool
    heading: str = ""


class _Fit(NamedTuple):
    """How images stand: their side, so many in a row, rows a group, lines of words; where groups stand."""

    side: float
    columns: int
    rows: int
    lines: int
    beside: bool


class Examples(Plot):
    """Images `(n, h, w)` as tiles, or numbers `(n, k)` as rows under their names; groups under headings."""

    picked = Signal(int)  # index of the example that was clicked

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._array: NDArray[np.floating] = np.empty((0, 0))
        self._examples: tuple[Example, ...] = ()
        self._names: tuple[str, ...] = ()
        self._places: list[QRectF] = []
        self._shown: list[int] = []

    def show_examples(
        self, array: NDArray[np.floating], examples: Sequence[Example], names: Sequence[str] = ()
    ) -> None:
        """Show other examples; `names` are those of the numbers."""
        self._array, self._examples, self._names = array, tuple(examples), tuple(names)
        self._message = ""
        self.changed()

    @property
    def examples(self) -> tuple[Example, ...]:
        """What is on screen, as far as there is room."""
        return self._examples

    @property
    def places(self) -> list[QRectF]:
        """Where each of them was painted last."""
        return self._places

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        self._places, self._shown = [], []
        if not self._examples:
            return
        if self._array.ndim >= 3:
            self._paint_tiles(painter, theme)
        else:
            self._paint_rows(painter, theme)

    def _groups(self) -> list[tuple[str, list[int]]]:
        groups: list[tuple[str, list[int]]] = []
        for index, example in enumerate(self._examples):
            if not groups or groups[-1][0] != example.heading:
                groups.append((example.heading, []))
            groups[-1][1].append(index)
        return groups

    def _paint_tiles(self, painter: QPainter, theme: Theme) -> None:
        groups = self._groups()
        head = HEAD if groups[0][0] else 0
        fit = self._fit(groups, head)
        side, lines = fit.side, fit.lines
        low, high = limits(self._array)
        metrics = QFontMetrics(theme.font(SMALL))
        part = self._part(len(groups) if fit.beside else 1)
        wide = (part + GAP) / fit.columns - GAP
        x = y = 0.0
        for heading, members in groups:
            if heading:
                self._heading(painter, theme, heading, x, y)
            for place, index in enumerate(members[: fit.columns * fit.rows]):
                row, column = divmod(place, fit.columns)
                left = x + column * (wide + GAP)
                top = y + head + row * (side + lines * LINE + GAP)
                image = to_image(shade(self._array[index], GREY, low, high))
                scale = side / max(image.width(), image.height())
                box = QRectF(left, top, image.width() * scale, image.height() * scale)
                painter.drawImage(box, image)
                example = self._examples[index]
                self._edge(painter, theme, box, example.right)
                self._places.append(QRectF(left, top, wide, side + lines * LINE))
                self._shown.append(index)
                painter.setFont(theme.font(SMALL))
                for line, words in enumerate(example.lines[:lines]):
                    painter.setPen(theme.text if not line else theme.dim)
                    at = QRectF(left, top + side + 1 + line * LINE, wide, LINE)
                    told = metrics.elidedText(words, Qt.TextElideMode.ElideRight, int(wide))
                    painter.drawText(at, Qt.AlignmentFlag.AlignVCenter, told)
            if fit.beside:
                x += part + BETWEEN
            else:
                y += head + min(fit.rows, -(-len(members) // fit.columns)) * (side + lines * LINE + GAP)

    def _part(self, groups: int) -> float:
        """The width of one of so many groups beside each other."""
        return (self.width() + BETWEEN) / groups - BETWEEN

    def _fit(self, groups: list[tuple[str, list[int]]], head: int) -> _Fit:
        """Groups below or beside each other, whichever shows more; all lines of words if there is room."""
        lines = max(len(example.lines) for example in self._examples)
        most = max(len(members) for _, members in groups)
        for count in range(lines, 0, -1):
            room = (self.height() + GAP) / len(groups) - head - 1
            fitting = [self._tiles(self.width(), room, count, most, beside=False)]
            if len(groups) > 1:
                room = self.height() + GAP - head - 1
                fitting.append(self._tiles(self._part(len(groups)), room, count, most, beside=True))
            if found := [fit for fit in fitting if fit is not None]:
                return max(found, key=lambda fit: min(most, fit.columns * fit.rows) * min(fit.side, ENOUGH))
        columns = max(1, int((self.width() + GAP) // (LEAST_SIDE + GAP)))
        return _Fit(LEAST_SIDE, columns, 1, 1, False)

    def _tiles(self, width: float, room: float, lines: int, most: int, *, beside: bool) -> _Fit | None:
        """How tiles stand in a group: the most of `most`, then the largest.

        None where not even one row of the smallest has room.
        """
        metrics = QFontMetrics(current_theme().font(SMALL))
        words = [line for example in self._examples for line in example.lines[:lines]]
        least = min(96, max(map(metrics.horizontalAdvance, words), default=0))
        best: _Fit | None = None
        shown = 0
        for side in range(LEAST_SIDE, MOST_SIDE + 1, 2):
            columns = max(1, int((width + GAP) // (max(side, least) + GAP)))
            rows = int(room // (side + lines * LINE + GAP))
            if rows < 1 or side > width:
                break
            if min(most, columns * rows) >= shown:
                best, shown = _Fit(side, columns, rows, lines, beside), min(most, columns * rows)
        return best

    def _paint_rows(self, painter: QPainter, theme: Theme) -> None:
        metrics = QFontMetrics(theme.font(SMALL))
        count = self._array.shape[1]
        words = [" · ".join(example.lines) for example in self._examples]
        if max(map(metrics.horizontalAdvance, words)) + 24 + min(2, count) * LEAST_CELL > self.width():
            words = [example.lines[0] for example in self._examples]
        told = min(self.width() * 0.7, max(map(metrics.horizontalAdvance, words)) + 24)
        if not count:  # texts say all
            words, told = [" · ".join(example.lines) for example in self._examples], float(self.width())
        cell = max(LEAST_CELL, min(84.0, (self.width() - told) / max(1, count)))
        shown = max(0, min(count, int((self.width() - told) // cell)))
        y = 0.0
        if self._names and shown:
            painter.setFont(theme.font(SMALL))
            painter.setPen(theme.hint)
            for column in range(shown):
                box = QRectF(told + column * cell, y, cell - 6, ROW)
                name = metrics.elidedText(self._names[column], Qt.TextElideMode.ElideRight, int(cell - 6))
                painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, name)
        groups = self._groups()
        heads = bool(self._names) or bool(groups[0][0])
        room = int((self.height() + 1) // ROW) - heads * len(groups)
        each = max(1, room // len(groups))  # of all groups as many
        rows: list[tuple[str, int | None]] = []
        for heading, members in groups:
            rows += [(heading, None)] * heads
            rows += [(heading, index) for index in members[:each]]
        for heading, index in rows:
            if index is None:
                self._heading(painter, theme, heading, 0.0, y)
                y += ROW
                continue
            example = self._examples[index]
            if y + ROW > self.height() + 1:
                break
            self._places.append(QRectF(0, y, self.width(), ROW))
            self._shown.append(index)
            painter.setFont(theme.font(SMALL))
            painter.setPen(theme.text)
            line = metrics.elidedText(words[index], Qt.TextElideMode.ElideRight, int(told - 14))
            painter.fillRect(QRectF(0, y + 4, 3, ROW - 8), theme.good if example.right else theme.bad)
            painter.drawText(QRectF(8, y, told - 8, ROW), Qt.AlignmentFlag.AlignVCenter, line)
            painter.setFont(theme.mono(SMALL))
            painter.setPen(theme.dim)
            for column in range(shown):
                box = QRectF(told + column * cell, y, cell - 6, ROW)
                value = number(float(self._array[index, column]))
                painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, value)
            y += ROW

    def _heading(self, painter: QPainter, theme: Theme, heading: str, x: float, y: float) -> None:
        painter.setFont(theme.font(SMALL, bold=True))
        painter.setPen(theme.dim)
        painter.drawText(QRectF(x, y, self.width() - x, HEAD), Qt.AlignmentFlag.AlignVCenter, heading)

    def _edge(self, painter: QPainter, theme: Theme, box: QRectF, right: bool) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        style = Qt.PenStyle.SolidLine if right else Qt.PenStyle.DashLine
        painter.setPen(QPen(theme.good if right else theme.bad, 1.5, style))
        painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5))

    def describe(self, at: QPoint) -> str:
        index = self.index_at(at)
        return "\n".join(self._examples[index].lines) if index >= 0 else ""

    def index_at(self, at: QPoint) -> int:
        """The example at a point, -1 for none."""
        found = zip(self._shown, self._places, strict=True)
        return next((index for index, box in found if box.contains(at)), -1)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.index_at(event.position().toPoint())
        if index >= 0 and event.button() == Qt.MouseButton.LeftButton:
            self.picked.emit(index)
        else:
            super().mousePressEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(300, 200)
