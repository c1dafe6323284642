"""The confusion matrix: rows are the true classes, columns the predicted ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QImage, QPainter
from PySide6.QtWidgets import QWidget

from app.theme import SMALL, Theme, current_theme
from app.views.colourmaps import VIRIDIS, shade, to_image
from app.views.picture import Picture

TICK = 10
AXIS = 18


def most_confused(
    matrix: NDArray[np.integer], names: Sequence[str], count: int = 6
) -> list[tuple[str, str, int]]:
    """The largest off-diagonal cells as (true, predicted, how often), largest first, zeros left out."""
    wrong = matrix.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:count]
    cells = (divmod(int(index), matrix.shape[1]) for index in order)
    return [
        (names[row], names[column], int(wrong[row, column]))
        for row, column in cells
        if wrong[row, column] > 0
    ]


class Confusion(Picture):
    """Counts `(classes, classes)`; each cell is coloured by its share of its row, on a logarithmic scale."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._matrix: NDArray[np.integer] | None = None
        self._names: tuple[str, ...] = ()
        self._side = 1  # logical pixels of a cell
        self._left = AXIS

    def show_matrix(self, matrix: NDArray[np.integer], names: Sequence[str]) -> None:
        """Show another matrix; `names` are the classes in order."""
        self._matrix = matrix
        self._names = tuple(names)
        self._message = ""
        self.changed()

    @property
    def matrix(self) -> NDArray[np.integer] | None:
        """The counts on screen."""
        return self._matrix

    def build(self, width: int, height: int, ratio: float) -> QImage | None:
        matrix = self._matrix
        if matrix is None or not matrix.size:
            return None
        self._left = self._name_room()
        classes = len(matrix)
        room = min(width / ratio - self._left, height / ratio - AXIS)
        self._side = max(1, int(room // classes))
        pixels = max(1, int(self._side * ratio))
        rows = matrix.sum(axis=1, keepdims=True).clip(min=1)
        shares = np.log1p(matrix / rows * 1000) / np.log1p(1000)
        colours = shade(shares, VIRIDIS, 0.0, 1.0)
        return to_image(np.repeat(np.repeat(colours, pixels, axis=0), pixels, axis=1))

    def image_origin(self) -> QPoint:
        return QPoint(self._left, 0)

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        matrix = self._matrix
        if matrix is None:
            return
        painter.setFont(theme.mono(TICK))
        painter.setPen(theme.dim)
        metrics = QFontMetrics(painter.font())
        every = max(1, -(-metrics.height() // self._side))
        wide = max((metrics.horizontalAdvance(name) for name in self._names), default=0)
        across = max(1, -(-min(wide + 4, 30) // self._side))
        for index, name in enumerate(self._names):
            at = index * self._side
            if index % every == 0:
                row = QRect(0, at, self._left - 6, self._side)
                label = metrics.elidedText(name, Qt.TextElideMode.ElideRight, self._left - 6)
                painter.drawText(row, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, label)
            if index % across == 0:
                room = min(self._side * across, len(matrix) * self._side - at)
                column = QRect(self._left + at, len(matrix) * self._side + 4, room, AXIS - 4)
                label = metrics.elidedText(name, Qt.TextElideMode.ElideRight, room - 2 * (across > 1))
                align = Qt.AlignmentFlag.AlignHCenter if across == 1 else Qt.AlignmentFlag.AlignLeft
                painter.drawText(column, align | Qt.AlignmentFlag.AlignTop, label)
        if self._side >= 18:
            self._numbers(painter, theme, matrix)

    def _numbers(self, painter: QPainter, theme: Theme, matrix: NDArray[np.integer]) -> None:
        painter.setFont(theme.mono(9 if self._side < 28 else SMALL))
        metrics = QFontMetrics(painter.font())
        rows = matrix.sum(axis=1).clip(min=1)
        for row in range(len(matrix)):
            for column in range(len(matrix)):
                count = int(matrix[row, column])
                text = str(count)
                if count and metrics.horizontalAdvance(text) <= self._side - 2:
                    bright = np.log1p(count / rows[row] * 1000) / np.log1p(1000) > 0.6
                    painter.setPen(QColor("#101318" if bright else "#f2f4f8"))
                    cell = QRectF(self._left + column * self._side, row * self._side, self._side, self._side)
                    painter.drawText(cell, Qt.AlignmentFlag.AlignCenter, text)

    def describe(self, at: QPoint) -> str:
        if self._matrix is None:
            return ""
        row, column = at.y() // self._side, (at.x() - self._left) // self._side
        if not (0 <= row < len(self._matrix) and 0 <= column < len(self._matrix)):
            return ""
        count, total = int(self._matrix[row, column]), int(self._matrix[row].sum())
        name = self._names[row]
        if row == column:
            return f"{name}: {count:,} of {total:,} right"
        return f"{name} taken for {self._names[column]}: {count:,} of {total:,}"

    def sizeHint(self) -> QSize:
        return QSize(240, 240)

    def _name_room(self) -> int:
        metrics = QFontMetrics(current_theme().mono(TICK))
        wide = max((metrics.horizontalAdvance(name) for name in self._names), default=0)
        return min(wide + 8, max(AXIS, self.width() // 3))
