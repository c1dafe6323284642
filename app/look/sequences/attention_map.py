"""Attention as a map of queries and keys for each head."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QFontMetrics, QImage, QMouseEvent, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QWidget

from app.charts.colourmaps import VIRIDIS, shade, to_image
from app.charts.plot import Plot, number
from app.charts.scale import NARROWEST, WIDTH, ends, paint_scale
from app.theme import SMALL, Theme, current_theme

NAMES_FROM = 11.0  # pixels of a cell that leave room for its token
MOST_NAME = 86
HEAD = 15  # the line over a map
GAP = 8


class AttentionMap(Plot):
    """Weights `(heads, queries, keys)`: one map a head, or one head alone with its tokens.

    Barred places are hatched. A click on a head shows it alone, another brings all back.
    """

    head_chosen = Signal(int)  # the head that is shown alone, -1 for all

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._weights: NDArray[np.floating] = np.empty((0, 1, 1))
        self._barred: NDArray[np.bool_] | None = None
        self._queries: tuple[str, ...] = ()
        self._keys: tuple[str, ...] = ()
        self._marks: NDArray[np.intp] | None = None
        self._names: tuple[str, ...] = ()
        self._axes = ("query", "key")
        self._images: list[QImage] = []
        self._high = 1.0
        self._one = -1

    def show_weights(
        self,
        weights: NDArray[np.floating],
        *,
        barred: NDArray[np.bool_] | None = None,
        queries: Sequence[str] = (),
        keys: Sequence[str] = (),
        names: Sequence[str] = (),
        marks: NDArray[np.intp] | None = None,
        axes: tuple[str, str] = ("query", "key"),
    ) -> None:
        """Show other weights; `marks` are the keys of the queries that get a ring, `names` those of heads."""
        self._weights, self._barred, self._marks = weights.astype(np.float32), barred, marks
        self._queries, self._keys, self._axes = tuple(queries), tuple(keys), axes
        self._names = tuple(names) or tuple(f"head {index + 1}" for index in range(len(weights)))
        self._high = float(np.nanmax(self._weights)) if self._weights.size else 1.0
        self._images = [to_image(shade(one, VIRIDIS, 0.0, self._high)) for one in self._weights]
        if self._one >= len(weights):
            self._one = -1
        self._message = ""
        self.changed()

    @property
    def weights(self) -> NDArray[np.floating]:
        """What is on screen."""
        return self._weights

    @property
    def alone(self) -> int:
        """The head that is shown alone, -1 for all."""
        return 0 if len(self._weights) == 1 else self._one

    def show_head(self, index: int) -> None:
        """Show one head alone; -1 shows all."""
        index = index if -1 <= index < len(self._weights) else -1
        if index != self._one:
            self._one = index
            self.changed()

    def area(self, head: int) -> QRectF:
        """Where the map of a head stands; empty where it does not."""
        rows, columns = self._weights.shape[1:]
        right = WIDTH + 6 if self.width() >= NARROWEST else 0
        if self.alone >= 0:
            left, below = self._name_room(self._queries), self._below()
            wide, high = max(8.0, self.width() - left - right), max(8.0, self.height() - below)
            cell = min(wide / columns, high / rows)
            stretch = min(1.6 * cell, wide / columns), min(1.6 * cell, high / rows)
            return (
                QRectF(left, 0, stretch[0] * columns, stretch[1] * rows) if head == self.alone else QRectF()
            )
        count = len(self._weights)
        best = (0.0, 1)
        for across in range(1, count + 1):
            down = ceil(count / across)
            wide = ((self.width() - right + GAP) / across - GAP) / columns
            high = ((self.height() + GAP) / down - GAP - HEAD) / rows
            best = max(best, (min(wide, high), across))
        cell, across = max(best[0], 0.1), best[1]
        row, column = divmod(head, across)
        wide, high = cell * columns, cell * rows
        return QRectF(column * (wide + GAP), HEAD + row * (high + HEAD + GAP), wide, high)

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        if not self._images:
            return
        heads = [self.alone] if self.alone >= 0 else range(len(self._images))
        for head in heads:
            area = self.area(head)
            shrunk = self._images[head].width() > area.width()
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, shrunk)
            painter.drawImage(area, self._images[head])
            self._paint_barred(painter, theme, area)
            if self.alone < 0:
                painter.setFont(theme.font(SMALL))
                painter.setPen(theme.dim)
                box = QRectF(area.left(), area.top() - HEAD, max(area.width(), 60.0), HEAD)
                painter.drawText(box, Qt.AlignmentFlag.AlignLeft, self._names[head])
            painter.setPen(QPen(theme.line, 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(area)
        if self.alone >= 0:
            self._paint_names(painter, theme, self.area(self.alone))
            self._paint_marks(painter, self.area(self.alone))
        if self.width() >= NARROWEST:
            areas = [self.area(head) for head in heads]
            left = max(area.right() for area in areas) + 10
            height = max(
                60.0, min(self.height() - 20.0, max(area.bottom() for area in areas) - areas[0].top())
            )
            strip = QRectF(left, areas[0].top(), 10, height)
            paint_scale(painter, theme, left, strip, VIRIDIS, ends(0.0, self._high))

    def _paint_barred(self, painter: QPainter, theme: Theme, area: QRectF) -> None:
        if self._barred is None or not self._barred.any():
            return
        rows, columns = self._barred.shape
        high, wide = area.height() / rows, area.width() / columns
        path = QPainterPath()
        for row in range(rows):
            edges = np.diff(np.concatenate([[0], self._barred[row].astype(np.int8), [0]]))
            for start, end in zip(np.nonzero(edges == 1)[0], np.nonzero(edges == -1)[0], strict=True):
                path.addRect(
                    QRectF(area.left() + start * wide, area.top() + row * high, (end - start) * wide, high)
                )
        painter.fillPath(path, theme.panel)
        painter.fillPath(path, QBrush(theme.faint, Qt.BrushStyle.BDiagPattern))

    def _paint_names(self, painter: QPainter, theme: Theme, area: QRectF) -> None:
        rows, columns = self._weights.shape[1:]
        painter.setFont(theme.font(SMALL))
        painter.setPen(theme.dim)
        metrics = QFontMetrics(painter.font())
        high, wide = area.height() / rows, area.width() / columns
        every = max(1, ceil(NAMES_FROM / max(high, 0.1)))
        names = self._queries or tuple(str(index + 1) for index in range(rows))
        for row in range(0, rows, every):
            box = QRectF(0, area.top() + row * high, area.left() - 5, max(high, 12.0))
            box.moveCenter(QPointF(box.center().x(), area.top() + (row + 0.5) * high))
            text = metrics.elidedText(names[row], Qt.TextElideMode.ElideRight, int(box.width()))
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        keys = self._keys or tuple(str(index + 1) for index in range(columns))
        longest = max(metrics.horizontalAdvance(name) for name in keys) + 6
        if longest <= wide or not self._keys:
            every = max(1, ceil(max(16.0, longest) / max(wide, 0.1)))
            for column in range(0, columns, every):
                box = QRectF(area.left() + (column + 0.5) * wide - 40, area.bottom() + 2, 80, 14)
                painter.drawText(box, Qt.AlignmentFlag.AlignHCenter, keys[column])
        else:
            every = max(1, ceil(NAMES_FROM / max(wide, 0.1)))
            for column in range(0, columns, every):
                painter.save()
                painter.translate(area.left() + (column + 0.5) * wide, area.bottom() + 4)
                painter.rotate(-90)
                room = int(self.height() - area.bottom() - 4)
                text = metrics.elidedText(keys[column], Qt.TextElideMode.ElideRight, room)
                painter.drawText(
                    QRectF(-room, -8, room, 16),
                    Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
                    text,
                )
                painter.restore()
        if not self._keys:
            box = QRectF(area.left(), area.bottom() + 15, max(area.width(), 120.0), 15)
            painter.drawText(box, Qt.AlignmentFlag.AlignLeft, f"{self._axes[1]} →   {self._axes[0]} ↓")

    def _paint_marks(self, painter: QPainter, area: QRectF) -> None:
        if self._marks is None:
            return
        rows, columns = self._weights.shape[1:]
        high, wide = area.height() / rows, area.width() / columns
        size = max(2.0, min(7.0, 0.32 * min(high, wide)))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for row, column in enumerate(self._marks.tolist()):
            centre = QPointF(area.left() + (column + 0.5) * wide, area.top() + (row + 0.5) * high)
            for colour, width in ((QColor("#101318"), 3.4), (QColor("#f2f4f8"), 1.6)):
                painter.setPen(QPen(colour, width))
                painter.drawEllipse(centre, size, size)

    def place_of(self, at: QPoint) -> tuple[int, int, int] | None:
        """Head, query and key at a point."""
        if not self._weights.size:
            return None
        rows, columns = self._weights.shape[1:]
        for head in [self.alone] if self.alone >= 0 else range(len(self._weights)):
            area = self.area(head)
            if area.contains(at):
                row = int((at.y() - area.top()) / area.height() * rows)
                column = int((at.x() - area.left()) / area.width() * columns)
                return head, min(row, rows - 1), min(column, columns - 1)
        return None

    def describe(self, at: QPoint) -> str:
        place = self.place_of(at)
        if place is None:
            return ""
        head, row, column = place
        query = self._queries[row] if self._queries else str(row + 1)
        key = self._keys[column] if self._keys else str(column + 1)
        if self._barred is not None and self._barred[row, column]:
            told = "barred by the mask"
        else:
            told = number(float(self._weights[place]))
        total = number(float(self._weights[head, row].sum()))
        words = f"{self._names[head]}\n{self._axes[0]} {query} → {self._axes[1]} {key}: {told}"
        return f"{words}\nthe row sums to {total}"

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and len(self._weights) > 1:
            place = self.place_of(event.position().toPoint())
            if place is not None:
                self.show_head(-1 if self._one >= 0 else place[0])
                self.head_chosen.emit(self._one)

    def sizeHint(self) -> QSize:
        return QSize(320, 220)

    def _name_room(self, names: tuple[str, ...]) -> float:
        metrics = QFontMetrics(current_theme().font(SMALL))
        shown = names or (str(self._weights.shape[1]),)
        return min(max(metrics.horizontalAdvance(name) for name in shown) + 8.0, MOST_NAME)

    def _below(self) -> float:
        if not self._keys:
            return 32.0
        metrics = QFontMetrics(current_theme().font(SMALL))
        longest = max(metrics.horizontalAdvance(name) for name in self._keys) + 8.0
        wide = max(8.0, self.width() - MOST_NAME - WIDTH) / self._weights.shape[2]
        return 18.0 if longest <= wide else min(longest, 64.0)
