"""A map of numbers laid over the image that it speaks of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app.charts.arrays.cells import cell_box, fitted, laid_over, paint_map
from app.charts.colourmaps import GREY, SIGNED, VIRIDIS, Table, limits, to_image
from app.charts.plot import Plot, number
from app.charts.scale import NARROWEST, WIDTH, ends, paint_scale
from app.theme import SMALL, Theme

HEAD, GAP = 16, 12
BESIDE = 1.45  # width to height from which the image stands alone beside the map over it

Map = NDArray[np.floating]


class Overlay(Plot):
    """An image `(H, W)` or `(H, W, 3)`, and beside it the same under a map `(H, W)`.

    The stronger the map, the more of its colour covers the image. `outline` marks the pixels that are true.
    """

    clicked = Signal(int, int)  # row and column of a cell of the image

    def __init__(self, parent: QWidget | None = None, *, signed: bool = True) -> None:
        super().__init__(parent)
        self._table: Table = SIGNED if signed else VIRIDIS
        self._signed = signed
        self.image: Map = np.empty((0, 0))
        self.values: Map = np.empty((0, 0))
        self.outline: NDArray[np.bool_] | None = None
        self.opacity = 0.85
        self._titles = ("input", "")
        self._boxes: tuple[QRectF, ...] = ()

    def show_map(
        self,
        image: Map,
        values: Map,
        titles: tuple[str, str] = ("input", ""),
        outline: NDArray[np.bool_] | None = None,
    ) -> None:
        """Show another map over another image."""
        self.image, self.values, self._titles, self.outline = image, values, titles, outline
        self._message = ""
        self.changed()

    def set_opacity(self, fraction: float) -> None:
        """How much of the image the strongest places cover, 0 to 1."""
        self.opacity = fraction
        self.changed()

    @property
    def boxes(self) -> tuple[QRectF, ...]:
        """Where the image, if there is room for it, and the map over it were painted last."""
        return self._boxes

    @property
    def scale(self) -> tuple[float, float]:
        """The values of the first and the last colour."""
        low, high = limits(self.values, signed=self._signed)
        return (low, high) if self._signed else (min(0.0, low), high)

    def colours(self) -> NDArray[np.uint32]:
        """The image under the map, `(H, W)` of 0xAARRGGBB."""
        return laid_over(self.image, self.values, self._table, *self.scale, self.opacity)

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        if not self.values.size:
            return
        strip = WIDTH + 6 if self.width() >= NARROWEST else 0
        room = QRectF(0, 0, self.width() - strip, self.height())
        shape = self.values.shape
        both = room.width() / max(1.0, room.height() - HEAD) > BESIDE * shape[1] / shape[0]
        wide = (room.width() - GAP) / 2 if both else room.width()
        painter.setFont(theme.font(SMALL))
        told = self._titles if both else self._titles[1:]
        longest = max(painter.fontMetrics().horizontalAdvance(words) for words in told)
        head = HEAD if longest <= wide else 2 * painter.fontMetrics().lineSpacing()  # in two lines
        areas = [QRectF(index * (wide + GAP), head, wide, room.height() - head) for index in range(1 + both)]
        self._boxes = tuple(fitted(area, shape) for area in areas)
        if both:
            paint_map(painter, self._boxes[0], self.image, GREY, *limits(self.image))
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
        painter.drawImage(self._boxes[-1], to_image(self.colours()))
        for index, (box, area) in enumerate(zip(self._boxes, areas, strict=True)):
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.line, 1))
            painter.drawRect(box)
            if self.outline is not None:
                self._paint_outline(painter, box)
            painter.setPen(theme.dim)
            at = QRectF(area.left(), box.top() - head, area.width(), head)
            centred = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom
            painter.drawText(at, centred | Qt.TextFlag.TextWordWrap, told[index])
        if strip:
            box = self._boxes[-1]
            area = QRectF(0, box.top(), 1, max(40.0, min(160.0, box.height())))
            paint_scale(painter, theme, self.width() - WIDTH + 4, area, self._table, ends(*self.scale))

    def _paint_outline(self, painter: QPainter, box: QRectF) -> None:
        assert self.outline is not None
        edges = list(edges_of(self.outline))
        for pen in (QPen(QColor("#101318"), 4), QPen(QColor("#ffb000"), 2)):
            painter.setPen(pen)
            for row, column, down, across in edges:
                start = cell_box(box, self.outline.shape, row, column).topLeft()
                end = cell_box(box, self.outline.shape, row + down, column + across).topLeft()
                painter.drawLine(start, end)

    def cell_at(self, at: QPointF) -> tuple[int, int] | None:
        """Row and column of the image at a point."""
        for box in self._boxes:
            if box.contains(at):
                high, wide = self.values.shape
                row = min(high - 1, int((at.y() - box.top()) / box.height() * high))
                return row, min(wide - 1, int((at.x() - box.left()) / box.width() * wide))
        return None

    def describe(self, at: QPoint) -> str:
        cell = self.cell_at(QPointF(at))
        if cell is None:
            return ""
        row, column = cell
        return f"row {row + 1}, column {column + 1}: {number(float(self.values[row, column]))}"

    def mousePressEvent(self, event: QMouseEvent) -> None:
        cell = self.cell_at(event.position())
        if cell is not None and event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit(*cell)
        else:
            super().mousePressEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(340, 180)


def edges_of(seen: NDArray[np.bool_]) -> list[tuple[int, int, int, int]]:
    """The lines around true cells: row and column of the beginning, length down, length across."""
    padded = np.pad(seen, 1)
    across = padded[1:, 1:-1] != padded[:-1, 1:-1]
    down = padded[1:-1, 1:] != padded[1:-1, :-1]
    found = [(int(row), int(column), 0, 1) for row, column in np.argwhere(across)]
    return found + [(int(row), int(column), 1, 0) for row, column in np.argwhere(down)]
