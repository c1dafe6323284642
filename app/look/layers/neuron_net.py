"""A small dense net, every unit a circle and every weight a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QLineF, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QMouseEvent, QPainter, QPen

from app.charts.colourmaps import SIGNED, mixed, shade
from app.charts.plot import Plot, number
from app.charts.scale import NARROWEST, WIDTH, ends, paint_scale
from app.theme import SMALL, Theme

WIDEST, FINEST = 6.0, 0.4  # pixels of a line
NEAR = 5.0
SHADES = 12  # widths and strengths of lines
FAINTEST = 0.02  # of the largest weight: what is smaller is not drawn


@dataclass(frozen=True)
class UnitColumn:
    """Units of one node: their values (n,), and what they are made of: `weights` (n, m) and `biases` (n,)
    from the column at the place `before`, None and -1 for inputs. `names` are those of the units, if any."""

    title: str
    node_id: str
    values: NDArray[np.floating]
    before: int = -1
    weights: NDArray[np.floating] | None = None
    biases: NDArray[np.floating] | None = None
    names: tuple[str, ...] = ()


class NeuronNet(Plot):
    """Columns from left to right. Lines: red above zero, blue below, thicker for larger weights.

    Circles are coloured by the unit's value on the same scale of colours, with a scale of its own.
    """

    clicked = Signal(str)  # the node of a unit

    def __init__(self) -> None:
        super().__init__()
        self._columns: tuple[UnitColumn, ...] = ()
        self._largest = 1.0
        self._reach = 1.0
        self._depths: list[int] = []  # of each column
        self._begins: list[int] = []  # the row of each column's first unit
        self._rows: list[int] = []  # how many rows there are at each depth
        self._places: list[NDArray[np.float64]] = []
        self._settled = (0, 0)
        self._unit: tuple[int, int] | None = None
        self._line: tuple[int, int, int] | None = None
        self.setMouseTracking(True)

    def show_columns(self, columns: Sequence[UnitColumn]) -> None:
        """Show another net, or other numbers of the same."""
        self._columns = tuple(columns)
        matrices = [column.weights for column in columns if column.weights is not None]
        self._largest = max((float(np.abs(matrix).max()) for matrix in matrices if matrix.size), default=1.0)
        self._reach = max((float(np.abs(column.values).max()) for column in columns), default=1.0)
        self._arrange()
        self._message = ""
        self.changed()

    @property
    def columns(self) -> tuple[UnitColumn, ...]:
        """What is on screen."""
        return self._columns

    def _arrange(self) -> None:
        """Columns that are as far from the inputs have one place, one above the other."""
        self._depths, self._begins, self._rows = [], [], []
        self._settled = (0, 0)
        for column in self._columns:
            depth = 0 if column.before < 0 else self._depths[column.before] + 1
            if depth >= len(self._rows):
                self._rows.append(0)
            self._depths.append(depth)
            self._begins.append(self._rows[depth] + (self._rows[depth] > 0))
            self._rows[depth] = self._begins[-1] + len(column.values)

    def place(self, column: int, unit: int) -> QPointF:
        """The middle of a unit's circle."""
        return QPointF(*self._spots()[column][unit].tolist())

    def _spots(self) -> list[NDArray[np.float64]]:
        """The middles (n, 2) of the circles of each column, kept while the size stays."""
        size = (self.width(), self.height())
        if size != self._settled:
            self._settled, area, count = size, self._area(), len(self._rows)
            self._places = []
            for column, depth, begin in zip(self._columns, self._depths, self._begins, strict=True):
                rows = self._rows[depth]
                x = area.left() + (area.width() * depth / (count - 1) if count > 1 else area.width() / 2)
                step = min(area.height() / rows, 3.2 * 2 * self.radius)
                units = begin + np.arange(len(column.values))
                y = area.center().y() + (units - (rows - 1) / 2) * step
                self._places.append(np.column_stack([np.full(len(units), x), y]))
        return self._places

    @property
    def radius(self) -> float:
        """Of a circle, in pixels."""
        most = max(self._rows, default=1)
        return float(max(3.0, min(16.0, 0.4 * self._area().height() / most)))

    def width_of(self, weight: float) -> float:
        """How thick the line of a weight is, in pixels; 0 where none is drawn."""
        fraction = abs(weight) / self._largest if self._largest > 0 else 0.0
        return FINEST + (self._widest - FINEST) * fraction if fraction >= FAINTEST else 0.0

    @property
    def _widest(self) -> float:
        return min(WIDEST, 0.6 * self.radius)

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        if not self._columns:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for index, column in enumerate(self._columns):
            if column.weights is not None and column.before >= 0:
                self._paint_lines(painter, theme, index, column)
        for index, column in enumerate(self._columns):
            self._paint_units(painter, theme, index, column)
        self._paint_titles(painter, theme)
        if self._line is not None:
            self._paint_line(painter, theme, *self._line)
        words = self._words()
        if words:
            self._paint_words(painter, theme, words)
        if self.width() >= NARROWEST + WIDTH:
            area = QRectF(0, 18, 1, max(40.0, min(160.0, self.height() - 40)))
            reach = self._reach
            paint_scale(painter, theme, self.width() - WIDTH + 4, area, SIGNED, ends(-reach, reach))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        unit = self._unit_at(event.position())
        line = None if unit is not None else self._line_at(event.position())
        if (unit, line) != (self._unit, self._line):
            self._unit, self._line = unit, line
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        if (self._unit, self._line) != (None, None):
            self._unit = self._line = None
            self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        unit = self._unit_at(event.position())
        if unit is not None and event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit(self._columns[unit[0]].node_id)

    # -- what is under the pointer ----------------------------------------------------------------

    def _unit_at(self, at: QPointF) -> tuple[int, int] | None:
        for column, spots in enumerate(self._spots()):
            away = np.hypot(spots[:, 0] - at.x(), spots[:, 1] - at.y())
            if len(away) and away.min() <= self.radius + 2:
                return column, int(away.argmin())
        return None

    def _line_at(self, at: QPointF) -> tuple[int, int, int] | None:
        """Column, unit and the unit before of the line nearest to a point."""
        best, nearest, spots = None, NEAR, self._spots()
        for index, column in enumerate(self._columns):
            if column.weights is None or column.before < 0:
                continue
            begin, end = spots[column.before], spots[index]
            left, right = begin[0, 0], end[0, 0]
            if not min(left, right) < at.x() < max(left, right):
                continue
            fraction = (at.x() - left) / (right - left)
            heights = (1 - fraction) * begin[None, :, 1] + fraction * end[:, None, 1]
            away = np.abs(heights - at.y())
            if away.min() < nearest:
                unit, source = divmod(int(away.argmin()), away.shape[1])
                best, nearest = (index, unit, source), float(away.min())
        return best

    def _words(self) -> str:
        if self._line is not None:
            column, unit, source = self._line
            weights = self._columns[column].weights
            assert weights is not None
            before = self._columns[self._columns[column].before]
            value = float(weights[unit, source])
            carried = value * float(before.values[source])
            here = self._columns[column]
            return (
                f"{_unit_name(before, source)} → {_unit_name(here, unit)}\n"
                f"weight {value:.4g} × {float(before.values[source]):.4g} = {carried:.4g}"
            )
        if self._unit is not None:
            column, unit = self._unit
            units = self._columns[column]
            words = f"{_unit_name(units, unit)}\nvalue {float(units.values[unit]):.4g}"
            if units.biases is not None:
                words += f" · bias {float(units.biases[unit]):.4g}"
            return words
        return ""

    # -- painting ---------------------------------------------------------------------------------

    def _paint_lines(self, painter: QPainter, theme: Theme, index: int, column: UnitColumn) -> None:
        """All lines into a column, the strongest on top; those of a unit under the pointer stand out."""
        assert column.weights is not None
        fractions = np.abs(column.weights) / (self._largest or 1.0)
        levels = np.ceil(fractions * SHADES).astype(int)
        levels[fractions < FAINTEST] = 0
        signs = column.weights >= 0
        chosen = np.zeros(fractions.shape, bool)
        if self._unit is not None:
            at, unit = self._unit
            if at == index:
                chosen[unit] = True
            elif at == column.before:
                chosen[:, unit] = True
        begin, end = self._spots()[column.before], self._spots()[index]
        for strong in (False, True):
            for level in range(1, SHADES + 1):
                for sign in (False, True):
                    found = np.argwhere((levels == level) & (signs == sign) & (chosen == strong))
                    if not len(found):
                        continue
                    colour = sign_colour(theme, 1.0 if sign else -1.0)
                    if not strong:
                        quiet = 0.12 if self._unit is not None else 0.3
                        colour = mixed(theme.panel, colour, quiet + 0.5 * level / SHADES)
                    painter.setPen(QPen(colour, self.width_of(self._largest * (level - 0.5) / SHADES)))
                    places = np.hstack([begin[found[:, 1]], end[found[:, 0]]]).tolist()
                    painter.drawLines([QLineF(*place) for place in places])

    def _paint_line(self, painter: QPainter, theme: Theme, index: int, unit: int, source: int) -> None:
        """One line, stronger than it is."""
        column = self._columns[index]
        assert column.weights is not None
        weight = float(column.weights[unit, source])
        painter.setPen(QPen(sign_colour(theme, weight), self.width_of(weight) + 1.5))
        painter.drawLine(self.place(column.before, source), self.place(index, unit))

    def _paint_units(self, painter: QPainter, theme: Theme, index: int, column: UnitColumn) -> None:
        colours = shade(column.values.astype(np.float64), SIGNED, -self._reach, self._reach).tolist()
        radius = self.radius
        painter.setFont(theme.mono(SMALL))
        for unit, colour in enumerate(colours):
            at = self.place(index, unit)
            fill = QColor.fromRgba(colour)
            bias = 0.0 if column.biases is None else float(column.biases[unit])
            ring = QPen(theme.faint, 1)
            if column.biases is not None and self.width_of(bias):
                ring = QPen(sign_colour(theme, bias), max(1.0, 0.6 * self.width_of(bias)))
            painter.setPen(ring)
            painter.setBrush(fill)
            painter.drawEllipse(at, radius, radius)
            if radius >= 13:
                light = fill.redF() * 0.3 + fill.greenF() * 0.59 + fill.blueF() * 0.11 > 0.5
                painter.setPen(QColor("#101318" if light else "#f2f4f8"))
                box = QRectF(at.x() - radius, at.y() - 8, 2 * radius, 16)
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, _short(float(column.values[unit])))
        painter.setPen(theme.dim)
        painter.setFont(theme.font(SMALL))
        metrics = QFontMetrics(painter.font())
        if column.names and self._name_room() and self.place(index, 0).y() > 0:
            first = index == 0
            for unit, name in enumerate(column.names):
                at = self.place(index, unit)
                room = self._name_room() - radius - 8
                text = metrics.elidedText(name, Qt.TextElideMode.ElideRight, int(room))
                if first:
                    box = QRectF(at.x() - radius - 6 - room, at.y() - 8, room, 16)
                    painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
                else:
                    box = QRectF(at.x() + radius + 6, at.y() - 8, room, 16)
                    painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)

    def _paint_titles(self, painter: QPainter, theme: Theme) -> None:
        painter.setFont(theme.font(SMALL))
        painter.setPen(theme.dim)
        metrics = QFontMetrics(painter.font())
        area, count = self._area(), max(1, len(self._rows) - 1)
        inner = area.width() / count - 8
        edge = area.width() / count / 2 + min(area.left(), self.width() - area.right()) - 4
        for depth in range(len(self._rows)):
            here = [index for index, at in enumerate(self._depths) if at == depth]
            x = self.place(here[0], 0).x()
            room = min(inner, edge) if depth in (0, count) else inner
            title = ", ".join(dict.fromkeys(self._columns[index].title for index in here))
            text = metrics.elidedText(title, Qt.TextElideMode.ElideRight, int(max(30.0, room)))
            wide = metrics.horizontalAdvance(text)
            left = min(max(0.0, x - wide / 2), self.width() - wide)
            painter.drawText(QRectF(left, self.height() - 17, wide + 2, 16), Qt.AlignmentFlag.AlignLeft, text)

    def _paint_words(self, painter: QPainter, theme: Theme, words: str) -> None:
        painter.setFont(theme.font(SMALL))
        lines = words.split("\n")
        wide = max(painter.fontMetrics().horizontalAdvance(line) for line in lines) + 14
        box = QRectF(4, 2, wide, 16 * len(lines) + 6)
        painter.setPen(theme.line)
        painter.setBrush(theme.raised)
        painter.drawRoundedRect(box, 4, 4)
        painter.setPen(theme.text)
        for index, line in enumerate(lines):
            at = QRectF(box.left() + 7, box.top() + 3 + 16 * index, wide, 16)
            painter.drawText(at, Qt.AlignmentFlag.AlignVCenter, line)

    def _name_room(self) -> float:
        if self.width() < 420 or not any(column.names for column in self._columns):
            return 0.0
        return 110.0 if self.radius >= 7 else 0.0

    def _area(self) -> QRectF:
        side = 18.0
        if self.width() >= 420 and any(column.names for column in self._columns):
            side = 110.0
        right = side + (WIDTH if self.width() >= NARROWEST + WIDTH else 0)
        return QRectF(side, 10, max(20.0, self.width() - side - right), max(20.0, self.height() - 34))


def sign_colour(theme: Theme, value: float) -> QColor:
    """Red above zero and blue below, in tones that stand out on the theme."""
    if value >= 0:
        return QColor("#f4775e" if theme.dark else "#b2182b")
    return QColor("#5ba4e0" if theme.dark else "#2166ac")


def _unit_name(column: UnitColumn, unit: int) -> str:
    return f"{column.title} {column.names[unit] if unit < len(column.names) else unit + 1}"


def _short(value: float) -> str:
    return f"{round(value, 1) + 0.0:.1f}" if abs(value) < 10 else number(value)
