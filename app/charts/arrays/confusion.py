"""The confusion matrix: rows are the true classes, columns the predicted ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QImage, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app.charts.colourmaps import VIRIDIS, shade, to_image
from app.charts.plot import Plot
from app.theme import SMALL, Theme, current_theme

AXIS = 18
TITLE, TITLES_FROM = 15, 140  # pixels of the names of the axes, and of a plot's height that has room for them
FROM_MATRIX = 2  # pixels between the matrix and the names below it
GAP = 4  # pixels between two names side by side
LINES = 3  # of names below the columns, at most
ROOMY_CELL = 38  # pixels of a cell that holds its number with ease


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


def short_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names without the words that all of them begin with: "class 1", "class 2" as "1", "2"."""
    first, last = min(names, default=""), max(names, default="")
    alike = next((at for at, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), 0)
    shared = max(first[:alike].rfind(mark) for mark in " _-/·") + 1
    short = tuple(name[shared:] for name in names)
    return short if all(short) else tuple(names)


class Below(NamedTuple):
    """The names below the columns of a matrix: how many lines they take, and where each stands."""

    lines: int
    places: tuple[tuple[str, int, int], ...]  # name, line from 0, pixels from the left end of the matrix


def names_below(
    names: Sequence[str], widths: Sequence[int], side: int, room: range, most: int = LINES
) -> Below:
    """Names of `widths` pixels in the middle below columns of `side` pixels, none in the way of another.

    They stand within `room`, in pixels from the left end of the matrix, on as few lines as do. Where `most`
    lines are too few, every second, third, ... name stands there alone.
    """
    lefts = [int((at + 0.5) * side - width / 2) for at, width in enumerate(widths)]
    for every in range(1, len(names) + 1):
        shown = range(0, len(names), every)
        if any(lefts[at] < room.start or lefts[at] + widths[at] > room.stop for at in shown):
            continue
        for lines in range(1, most + 1 if every == 1 else 2):
            pairs = zip(shown, shown[lines:], strict=False)
            if all(lefts[one] + widths[one] + GAP <= lefts[other] for one, other in pairs):
                return Below(lines, tuple((names[at], at // every % lines, lefts[at]) for at in shown))
    return Below(1, ())


COUNTS, OF_RIGHT, OF_ANSWERED = "counts", "of right", "of answered"


class Confusion(Plot):
    """Counts `(classes, classes)`; each cell is coloured by its fraction, on a logarithmic scale.

    The fraction is of its row, or of its column for OF_ANSWERED; the numbers are counts, else per cent.
    """

    picked = Signal(int, int)  # a click on a cell: the true class, the predicted one

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._matrix: NDArray[np.integer] | None = None
        self._names: tuple[str, ...] = ()
        self._side = 1  # logical pixels of a cell
        self._left = AXIS
        self._below = Below(1, ())
        self._fractions = COUNTS
        self._chosen: tuple[int, int] | None = None
        self.pickable = False

    @property
    def chosen(self) -> tuple[int, int] | None:
        """The cell that stands out, (true, predicted)."""
        return self._chosen

    def choose(self, cell: tuple[int, int] | None) -> None:
        """Have a cell stand out."""
        if cell != self._chosen:
            self._chosen = cell
            self.update()

    def set_fractions(self, fractions: str) -> None:
        """Show counts, or fractions of the right class or of the answered one."""
        if fractions != self._fractions:
            self._fractions = fractions
            self.changed()

    def parts(self) -> NDArray[np.floating]:
        """Each cell's fraction of its row, or of its column."""
        assert self._matrix is not None
        totals = self._matrix.sum(axis=int(self._fractions != OF_ANSWERED), keepdims=True).clip(min=1)
        fractions: NDArray[np.floating] = self._matrix / totals
        return fractions

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
        wide, high = width / ratio - self._left, height / ratio - self._title
        line = QFontMetrics(current_theme().mono(SMALL)).height()
        for lines in range(1, LINES + 1):  # a line more leaves smaller cells
            self._side = max(1, int(min(wide, high - lines * line - FROM_MATRIX) // classes))
            self._below = self._names_below(int(wide))
            if self._below.lines <= lines:
                break
        pixels = max(1, int(self._side * ratio))
        fractions = np.log1p(self.parts() * 1000) / np.log1p(1000)
        colours = shade(fractions, VIRIDIS, 0.0, 1.0)
        return to_image(np.repeat(np.repeat(colours, pixels, axis=0), pixels, axis=1))

    def image_origin(self) -> QPoint:
        return QPoint(self._left, 0)

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        matrix = self._matrix
        if matrix is None:
            return
        painter.setFont(theme.mono(SMALL))
        painter.setPen(theme.dim)
        metrics = QFontMetrics(painter.font())
        every = max(1, -(-metrics.height() // self._side))
        names, left = self._fitting(self._left - 6 - self._title), self._left - 6 - self._title
        high, end = max(self._side, metrics.height()), 0
        for index, name in enumerate(names):
            row = QRect(self._title, index * self._side - (high - self._side) // 2, left, high)
            row.moveTop(max(0, row.top()))
            if index % every == 0 and row.top() >= end:
                end = row.top() + high
                label = metrics.elidedText(name, Qt.TextElideMode.ElideRight, left)
                painter.drawText(row, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, label)
        top = len(matrix) * self._side + FROM_MATRIX + metrics.ascent()
        for name, line, x in self._below.places:
            painter.drawText(self._left + x, top + line * metrics.height(), name)
        self._paint_titles(painter, theme, self._side * len(matrix))
        if self._side >= 18:
            self._numbers(painter, theme, matrix)
        if self._chosen is not None:
            painter.setPen(QPen(theme.accent, 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.rect_of(*self._chosen))

    def _paint_titles(self, painter: QPainter, theme: Theme, size: int) -> None:
        if not self._title:
            return
        painter.setFont(theme.font(SMALL))
        middle = Qt.AlignmentFlag.AlignCenter
        below = size + FROM_MATRIX + self._below.lines * QFontMetrics(theme.mono(SMALL)).height()
        painter.drawText(QRect(self._left - 20, below, size + 40, TITLE), middle, "predicted")
        painter.save()
        painter.rotate(-90)
        painter.drawText(QRect(-max(size, 40), 0, max(size, 40), TITLE), middle, "true")
        painter.restore()

    def _numbers(self, painter: QPainter, theme: Theme, matrix: NDArray[np.integer]) -> None:
        painter.setFont(theme.mono(SMALL))
        metrics = QFontMetrics(painter.font())
        parts = self.parts()
        for row in range(len(matrix)):
            for column in range(len(matrix)):
                count = int(matrix[row, column])
                part = float(parts[row, column])
                text = str(count) if self._fractions == COUNTS else f"{100 * part:.0f}"
                if count and metrics.horizontalAdvance(text) <= self._side - 2:
                    bright = np.log1p(part * 1000) / np.log1p(1000) > 0.6
                    painter.setPen(QColor("#101318" if bright else "#f2f4f8"))
                    cell = QRectF(self._left + column * self._side, row * self._side, self._side, self._side)
                    painter.drawText(cell, Qt.AlignmentFlag.AlignCenter, text)

    def describe(self, at: QPoint) -> str:
        if self._matrix is None:
            return ""
        cell = self.cell_at(at)
        if cell is None:
            return ""
        row, column = cell
        count, total = int(self._matrix[row, column]), int(self._matrix[row].sum())
        name = self._names[row]
        if row == column:
            return f"{name}: {count:,} of {total:,} right"
        return f"{name} taken for {self._names[column]}: {count:,} of {total:,}"

    def cell_at(self, at: QPoint) -> tuple[int, int] | None:
        """The cell at a point, (true, predicted)."""
        row, column = at.y() // self._side, (at.x() - self._left) // self._side
        count = 0 if self._matrix is None else len(self._matrix)
        return (row, column) if 0 <= row < count and 0 <= column < count else None

    def rect_of(self, row: int, column: int) -> QRect:
        """Where a cell stands, for a pointer."""
        return QRect(self._left + column * self._side, row * self._side, self._side, self._side)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        cell = self.cell_at(event.position().toPoint())
        if self.pickable and cell is not None and event.button() == Qt.MouseButton.LeftButton:
            self.picked.emit(*cell)
        else:
            super().mousePressEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(240, 240)

    def _name_room(self) -> int:
        metrics = QFontMetrics(current_theme().mono(SMALL))
        high = self.height() - FROM_MATRIX - metrics.height() - self._title  # and the matrix is no wider
        left_over = self.width() - min(high, ROOMY_CELL * len(self._names))  # few classes leave names more
        most = max(AXIS, self.width() // 3, left_over) - self._title
        return min(_widest(metrics, self._fitting(most - 8)) + 8, most) + self._title

    def _names_below(self, wide: int) -> Below:
        """The names below cells of this size, without what all begin with where more fit so."""
        metrics = QFontMetrics(current_theme().mono(SMALL))
        # where rows are too low for all of their names, columns have no further lines either
        most = LINES if self._side >= metrics.height() else 1
        narrow = 2 * self._side - GAP
        cut = tuple(metrics.elidedText(name, Qt.TextElideMode.ElideRight, narrow) for name in self._names)
        whole, short, cut_short = (
            names_below(
                names,
                [metrics.horizontalAdvance(name) for name in names],
                self._side,
                range(-self._left, wide),
                most,
            )
            for names in (self._names, short_names(self._names), cut)
        )
        best = max(whole, short, key=lambda way: (len(way.places), -way.lines))
        return best if best.places else cut_short  # where not even one name fits

    @property
    def _title(self) -> int:
        """Pixels beside and below that the names of the axes take."""
        return TITLE if self.height() >= TITLES_FROM else 0

    def _fitting(self, room: int) -> tuple[str, ...]:
        """The names of the classes, without what all begin with where they would be cut."""
        metrics = QFontMetrics(current_theme().mono(SMALL))
        return self._names if _widest(metrics, self._names) <= room else short_names(self._names)


def _widest(metrics: QFontMetrics, names: Sequence[str]) -> int:
    return max((metrics.horizontalAdvance(name) for name in names), default=0)
