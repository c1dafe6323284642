"""Rows of small images with a name before each row: as given, as recalled, as it should be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QFontMetrics, QImage, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app.charts.colourmaps import GREY, Table, limits, opaque, shade, to_image
from app.charts.plot import Plot, number
from app.theme import SMALL, Theme, current_theme

GAP = 3
CAPTION = 16
MOST_NAME = 96
LEAST_CELL = 10
LARGEST_CELL = 128


class ImageRow(NamedTuple):
    """Images `(n, h, w)`, or `(n, h, w, 3)` of red, green and blue, under one name.

    `scale` are the values of black and white, those of the whole row where there are none.
    """

    name: str
    images: NDArray[np.generic]
    scale: tuple[float, float] | None = None
    table: Table = GREY


class ImageRows(Plot):
    """As many columns as fit; `captions` stand below the columns, `held` `(h, w)` is hatched on `hatched`."""

    clicked = Signal(int, int)  # row and column

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[ImageRow, ...] = ()
        self._images: list[list[QImage]] = []
        self._captions: tuple[str, ...] = ()
        self._held: NDArray[np.bool_] | None = None
        self._hatched: frozenset[int] = frozenset()

    def show_rows(
        self,
        rows: Sequence[ImageRow],
        *,
        captions: Sequence[str] = (),
        held: NDArray[np.bool_] | None = None,
        hatched: Sequence[int] = (),
    ) -> None:
        """Show other rows; `hatched` are the rows on which `held` is marked."""
        self._rows, self._captions = tuple(rows), tuple(captions)
        self._held, self._hatched = held, frozenset(hatched)
        self._images = [_images_of(row) for row in rows]
        self._message = ""
        self.changed()

    @property
    def rows(self) -> tuple[ImageRow, ...]:
        """What is on screen."""
        return self._rows

    def cell(self, row: int, column: int) -> QRectF:
        """Where an image stands."""
        high, wide = self._rows[0].images.shape[1:3]
        left = self._name_room()
        columns = max(len(one) for one in self._images)
        below = CAPTION if self._captions else 0
        room = (
            (self.width() - left + GAP) / columns - GAP,
            (self.height() - below + GAP) / len(self._rows) - GAP,
        )
        scale = max(min(room[0] / wide, room[1] / high), LEAST_CELL / max(high, wide))
        scale = min(scale, LARGEST_CELL / max(high, wide))
        return QRectF(
            left + column * (wide * scale + GAP), row * (high * scale + GAP), wide * scale, high * scale
        )

    @property
    def shown(self) -> int:
        """How many columns have room."""
        if not self._rows:
            return 0
        first, second = self.cell(0, 0), self.cell(0, 1)
        columns = int((self.width() - first.left() + GAP + 0.5) // (second.left() - first.left()))
        return max(1, min(columns, max(len(images) for images in self._images)))

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        if not self._rows:
            return
        painter.setFont(theme.font(SMALL))
        metrics, left, shown = QFontMetrics(painter.font()), self._name_room(), self.shown
        for index, (row, images) in enumerate(zip(self._rows, self._images, strict=True)):
            first = self.cell(index, 0)
            if first.top() > self.height():
                break
            text = metrics.elidedText(row.name, Qt.TextElideMode.ElideRight, int(left - 8))
            painter.setPen(theme.dim)
            box = QRectF(0, first.top(), left - 8, first.height())
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
            large = first.width() < row.images.shape[2]
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, large)
            for column, image in enumerate(images[:shown]):
                cell = self.cell(index, column)
                painter.drawImage(cell, image)
                if self._held is not None and index in self._hatched:
                    self._hatch(painter, theme, cell)
        painter.setFont(theme.mono(SMALL))
        painter.setPen(theme.dim)
        last = self.cell(len(self._rows) - 1, 0)
        for column, text in enumerate(self._captions[:shown]):
            cell = self.cell(len(self._rows) - 1, column)
            if column % max(1, round(30 / (last.width() + GAP))) == 0:
                box = QRectF(cell.center().x() - 30, cell.bottom() + 2, 60, CAPTION - 2)
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def _hatch(self, painter: QPainter, theme: Theme, cell: QRectF) -> None:
        assert self._held is not None
        rows = np.nonzero(self._held.any(axis=1))[0]
        if not len(rows):
            return
        high = cell.height() / len(self._held)
        top, bottom = cell.top() + rows[0] * high, cell.top() + (rows[-1] + 1) * high
        part = QRectF(cell.left(), top, cell.width(), bottom - top)
        colour = QColor(theme.family("convolution"))
        colour.setAlphaF(0.55)
        painter.fillRect(part, QBrush(colour, Qt.BrushStyle.BDiagPattern))
        painter.setPen(QPen(theme.family("convolution"), 1))
        painter.drawRect(part.adjusted(0.5, 0.5, -0.5, -0.5))

    def place_of(self, at: QPoint) -> tuple[int, int] | None:
        """Row and column of the image at a point."""
        for row, images in enumerate(self._images):
            for column in range(min(len(images), self.shown)):
                if self.cell(row, column).contains(at):
                    return row, column
        return None

    def describe(self, at: QPoint) -> str:
        place = self.place_of(at)
        if place is None:
            return ""
        row, column = place
        image = np.asarray(self._rows[row].images[column], np.float64)
        caption = self._captions[column] if column < len(self._captions) else str(column + 1)
        return f"{self._rows[row].name}, {caption}\n{number(image.min())} to {number(image.max())}"

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = self.place_of(event.position().toPoint())
        if place is not None and event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit(*place)

    def sizeHint(self) -> QSize:
        return QSize(300, 160)

    def _name_room(self) -> float:
        metrics = QFontMetrics(current_theme().font(SMALL))
        widest = max((metrics.horizontalAdvance(row.name) for row in self._rows), default=0)
        return min(widest, MOST_NAME) + 9.0 if widest else 0.0


def _images_of(row: ImageRow) -> list[QImage]:
    values = np.asarray(row.images, np.float64)
    low, high = row.scale or limits(values)
    if values.ndim == 3:
        return [to_image(colours) for colours in shade(values, row.table, low, high)]
    bright = np.nan_to_num((values - low) / ((high - low) or 1.0) * 255).clip(0, 255)
    return [to_image(one) for one in opaque(*np.moveaxis(bright, -1, 0))]
