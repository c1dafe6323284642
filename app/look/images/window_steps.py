"""A window that steps over a map: what lies under it, what is made of that, and the map that comes out."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app.charts.arrays.cells import cell_box, fitted, paint_map, paint_numbers
from app.charts.colourmaps import GREY, SIGNED, VIRIDIS, Table, limits
from app.charts.plot import Plot, number
from app.look.images.sums import NAMED, Field, Map, Stepped, Sums, size_words, sums_at
from app.theme import SMALL, Theme

HEAD, LINE = 16, 15
LARGEST = 44.0  # pixels of a cell of the kernel
ROOMY = 430  # pixels of width that leave room for the numbers in the middle
SYMBOL = 18.0
FORMULA_FROM = 150  # pixels of height that leave room for the size of the map


class Stepping(Plot):
    """The channel with the window on the left, the numbers in the middle, the map that fills up on the right.

    A press or drag on either map moves the window, as the arrow keys do.
    """

    moved = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.found: Stepped | None = None
        self.field: Field | None = None
        self._step = 0
        self._given = self._made = QRectF()
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)

    def show_found(self, found: Stepped) -> None:
        """Show other numbers; the window stays where it is, as far as the map reaches."""
        self.found = found
        self._step = min(self._step, found.made.size - 1)
        self._message = ""
        self.changed()

    @property
    def step(self) -> int:
        """Where the window stands, counted row by row from 0."""
        return self._step

    @property
    def place(self) -> tuple[int, int]:
        """Row and column of the number that is computed."""
        wide = self.found.made.shape[1] if self.found is not None else 1
        return divmod(self._step, wide)

    @property
    def maps(self) -> tuple[QRectF, QRectF]:
        """Where the channel, without its padding, and the map that comes out were painted last."""
        return self._given, self._made

    def begin_at(self, step: int) -> None:
        """Where the window stands once there is something to see."""
        self._step = max(0, step)
        if self.found is not None:
            self.show_found(self.found)

    def go(self, step: int) -> None:
        """Put the window somewhere else; beyond the last place it begins again."""
        if self.found is not None and step % self.found.made.size != self._step:
            self._step = step % self.found.made.size
            self.changed()
            self.moved.emit()

    def sums(self) -> Sums | None:
        """The numbers where the window stands."""
        return None if self.found is None else sums_at(self.found, *self.place)

    # -- painting ---------------------------------------------------------------------------------

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        found, sums = self.found, self.sums()
        if found is None or sums is None:
            return
        roomy = self.width() >= ROOMY
        foot = self._foot(found, roomy)
        body = QRectF(0, 0, self.width(), max(40.0, self.height() - LINE * len(foot) - 4))
        field = self.field if roomy else None
        side = body.width() * ((0.19 if field is not None else 0.25) if roomy else 0.46)
        begins = side + 14 if field is not None else 0.0
        left = QRectF(begins, HEAD, side, body.height() - HEAD)
        right = QRectF(body.width() - side, HEAD, side, body.height() - HEAD)
        if field is not None:
            self._paint_field(painter, theme, QRectF(0, HEAD, side, body.height() - HEAD), field)
        self._paint_given(painter, theme, left, found)
        self._paint_made(painter, theme, right, found)
        if roomy:
            start = begins + side + 14
            middle = QRectF(start, 0, body.width() - side - 14 - start, body.height())
            self._paint_middle(painter, theme, middle, found, sums)
        painter.setFont(theme.mono(SMALL) if roomy else theme.font(SMALL))
        for index, (words, colour) in enumerate(foot):
            painter.setPen(getattr(theme, colour))
            at = QRectF(0, body.bottom() + 4 + index * LINE, self.width(), LINE)
            told = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, self.width())
            painter.drawText(at, Qt.AlignmentFlag.AlignVCenter, told)

    def _foot(self, found: Stepped, roomy: bool) -> list[tuple[str, str]]:
        lines = [] if roomy else [(self.sentence(), "text")]
        rows, columns = size_words(found, 0), size_words(found, 1)
        if not roomy and self.height() < FORMULA_FROM:
            return lines
        one_row = found.x.shape[0] == 1 and found.made.shape[0] == 1
        if one_row or rows == columns:
            return [*lines, (columns, "dim")]
        if roomy and self.width() >= 620:
            return [*lines, (f"rows {rows}   columns {columns}", "dim")]
        return [*lines, (f"rows {rows}", "dim"), (f"columns {columns}", "dim")]

    def sentence(self) -> str:
        """The sum in one line."""
        found, sums = self.found, self.sums()
        if found is None or sums is None:
            return ""
        if found.kernel is None:
            return f"{found.kind} = {number(sums.made)}"
        words = number(sums.own)
        if found.channels > 1:
            words += f" + others {number(sums.others)}"
        words += f" + bias {number(sums.bias)}" if found.with_bias else ""
        words += f" = {number(sums.total)}" if words != number(sums.own) else ""
        return words if found.activation == "none" else f"{words} → {number(sums.made)}"

    def _title(self, painter: QPainter, theme: Theme, words: str, over: QRectF, room: float) -> None:
        """A title over a box, as wide as there is room."""
        painter.setFont(theme.font(SMALL))
        painter.setPen(theme.dim)
        told = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, int(room))
        at = QRectF(over.center().x() - room / 2, over.top() - HEAD, room, HEAD)
        painter.drawText(at, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignVCenter, told)

    def _paint_field(self, painter: QPainter, theme: Theme, area: QRectF, field: Field) -> None:
        """The image of the data, with the pixels outlined that the place depends on."""
        shape = field.image.shape[:2]
        box = fitted(area, shape)
        paint_map(painter, box, field.image, GREY, *limits(field.image))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.line, 1))
        painter.drawRect(box)
        top, left, bottom, right = field.box(*self.place)
        if bottom > top:
            seen = cell_box(box, shape, top, left).united(cell_box(box, shape, bottom - 1, right - 1))
            for pen in self._outlines():
                painter.setPen(pen)
                painter.drawRect(seen)
        words = f"sees {bottom - top} × {right - left} pixels" if bottom > top else "sees nothing"
        self._title(painter, theme, words, box, area.width())

    def _paint_given(self, painter: QPainter, theme: Theme, area: QRectF, found: Stepped) -> None:
        at, (high, wide) = found.window, found.x.shape
        whole = (high + at.before[0] + at.behind[0], wide + at.before[1] + at.behind[1])
        outer = fitted(area, whole)
        corner = cell_box(outer, whole, at.before[0], at.before[1])
        box = QRectF(corner.left(), corner.top(), corner.width() * wide, corner.height() * high)
        self._given = box
        if whole != (high, wide):
            painter.fillRect(outer, theme.raised)
            painter.fillRect(outer, QBrush(theme.faint, Qt.BrushStyle.BDiagPattern))
        low, top = limits(found.x)
        table = GREY if found.image else VIRIDIS
        if found.framed is not None:
            paint_map(painter, outer, found.framed, table, low, top)
            painter.setOpacity(0.45)
            painter.fillRect(outer, theme.raised)
            painter.setOpacity(1.0)
            painter.fillRect(outer, QBrush(theme.faint, Qt.BrushStyle.BDiagPattern))
        paint_map(painter, box, found.x, table, low, top)
        paint_numbers(painter, theme, box, found.x, table, low, top)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.line, 1))
        painter.drawRect(outer)
        row, column = self.place
        places = [(y, x) for y in at.rows(row) for x in at.columns(column)]
        first, last = (
            cell_box(box, found.x.shape, *places[0]),
            cell_box(box, found.x.shape, *places[-1]),
        )
        for pen in self._outlines():
            painter.setPen(pen)
            painter.drawRect(first.united(last))
            if at.dilation != (1, 1):
                for y, x in places:
                    painter.drawRect(cell_box(box, found.x.shape, y, x))
        if found.kind in ("max", "min"):
            y, x = places[_winner(sums_at(found, row, column).under, found.kind)]
            self._mark(painter, cell_box(box, found.x.shape, y, x))
        words = "input" if found.channels == 1 else "input channel"
        self._title(painter, theme, f"{words} {high} × {wide}", outer, area.width())

    def _outlines(self) -> tuple[QPen, QPen]:
        """A dark line under a bright one, so that it is seen on every colour."""
        return QPen(QColor("#101318"), 4), QPen(QColor("#ffb000"), 2)

    def _mark(self, painter: QPainter, cell: QRectF) -> None:
        """The cell that wins: a ring and a cross of lines through it where there is room."""
        for pen in (QPen(QColor("#101318"), 4), QPen(QColor("#ff5c8a"), 2)):
            painter.setPen(pen)
            painter.drawRect(cell)

    def _paint_made(self, painter: QPainter, theme: Theme, area: QRectF, found: Stepped) -> None:
        box = fitted(area, found.made.shape)
        self._made = box
        low, high = limits(found.made)
        painter.fillRect(box, theme.raised)
        row, column = self.place
        wide = found.made.shape[1]
        paint_filled(painter, box, found.made, VIRIDIS, (low, high), row * wide + column + 1)
        paint_numbers(painter, theme, box, found.made, VIRIDIS, low, high, self._step + 1)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.line, 1))
        painter.drawRect(box)
        for pen in self._outlines():
            painter.setPen(pen)
            painter.drawRect(cell_box(box, found.made.shape, row, column))
        high_, wide_ = found.made.shape
        self._title(painter, theme, f"output {high_} × {wide_}", box, area.width())

    def _paint_middle(
        self, painter: QPainter, theme: Theme, area: QRectF, found: Stepped, sums: Sums
    ) -> None:
        lines = self._lines(found, sums)
        shape = sums.under.shape
        kernel = found.kernel_at(*self.place)
        count = 1 if kernel is None else 3
        room = area.height() - HEAD - LINE * len(lines) - 8
        side = min(LARGEST, (area.width() - SYMBOL * (count - 1)) / (count * shape[1]), room / shape[0])
        side = max(4.0, float(int(side)))
        wide, high = side * shape[1], side * shape[0]
        whole = count * wide + SYMBOL * (count - 1)
        left = area.left() + (area.width() - whole) / 2
        top = area.top() + HEAD + max(0.0, (room - high) / 2)
        low, most = limits(found.x)
        table = GREY if found.image else VIRIDIS
        parts: list[tuple[str, Map, Table, float, float]] = [("window", sums.under, table, low, most)]
        if kernel is not None:
            parts.append(("kernel", kernel, SIGNED, *limits(kernel, signed=True)))
            reach = float(np.abs(found.x).max()) * float(np.abs(kernel).max()) or 1.0
            parts.append(("products", sums.products, SIGNED, -reach, reach))
        for index, (title, values, colours, bottom, up) in enumerate(parts):
            box = QRectF(round(left + index * (wide + SYMBOL)), round(top), wide, high)
            shown = np.nan_to_num(values, nan=low)
            paint_map(painter, box, shown, colours, bottom, up)
            paint_numbers(painter, theme, box, shown, colours, bottom, up)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.line, 1))
            painter.drawRect(box)
            self._title(painter, theme, title, box, wide + 16)
            if index:
                painter.setFont(theme.font())
                painter.setPen(theme.text)
                at = QRectF(box.left() - SYMBOL, box.top(), SYMBOL, high)
                painter.drawText(at, Qt.AlignmentFlag.AlignCenter, "×" if index == 1 else "=")
            if found.kind in ("max", "min"):
                row, column = np.unravel_index(_winner(sums.under, found.kind), shape)
                self._mark(painter, cell_box(box, shape, int(row), int(column)))
        self._paint_lines(painter, theme, lines, QRectF(area.left(), top + high + 6, area.width(), 0))

    def _lines(self, found: Stepped, sums: Sums) -> list[tuple[str, str]]:
        if found.kernel is None:
            return [(NAMED.get(found.kind, found.kind), number(sums.made))]
        lines = [("sum of products", number(sums.own))]
        if found.channels > 1:
            more = found.channels - 1
            lines.append((f"+ {more} other channel{'s' if more > 1 else ''}", number(sums.others)))
        if found.with_bias:
            lines += [("+ bias", number(sums.bias)), ("= sum", number(sums.total))]
        elif found.channels > 1:
            lines.append(("= sum", number(sums.total)))
        if found.activation != "none":
            lines.append((f"{found.activation}(sum)", number(sums.made)))
        return lines

    def _paint_lines(
        self, painter: QPainter, theme: Theme, lines: list[tuple[str, str]], area: QRectF
    ) -> None:
        wide = min(area.width(), 210.0)
        left = area.left() + (area.width() - wide) / 2
        for index, (name, value) in enumerate(lines):
            at = QRectF(left, area.top() + index * LINE, wide, LINE)
            last = index == len(lines) - 1
            painter.setFont(theme.font(SMALL, bold=last))
            painter.setPen(theme.text if last else theme.dim)
            painter.drawText(at, Qt.AlignmentFlag.AlignVCenter, name)
            painter.setFont(theme.mono(SMALL, bold=last))
            painter.setPen(theme.text)
            painter.drawText(at, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, value)

    # -- moving -----------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._move_to(event.position()):
            event.accept()
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._move_to(event.position())

    def _move_to(self, at: QPointF) -> bool:
        found = self.found
        if found is None:
            return False
        if self._made.contains(at):
            row, column = _cell(self._made, found.made.shape, at)
        else:
            row, column = _cell(self._given, found.x.shape, at)
            window = found.window
            reach = [window.dilation[a] * (window.kernel[a] - 1) / 2 - window.before[a] for a in (0, 1)]
            edge = 3 + max(window.before) * self._given.width() / found.x.shape[1]
            if not self._given.adjusted(-edge, -edge, edge, edge).contains(at):
                return False
            row = round((row - reach[0]) / window.stride[0])
            column = round((column - reach[1]) / window.stride[1])
        high, wide = found.made.shape
        self.go(min(max(0, row), high - 1) * wide + min(max(0, column), wide - 1))
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        wide = self.found.made.shape[1] if self.found is not None else 1
        moves = {
            Qt.Key.Key_Left: -1,
            Qt.Key.Key_Right: 1,
            Qt.Key.Key_Up: -wide,
            Qt.Key.Key_Down: wide,
        }
        move = moves.get(Qt.Key(event.key()))
        if move is None:
            super().keyPressEvent(event)
        else:
            self.go(self._step + move)

    def sizeHint(self) -> QSize:
        return QSize(560, 240)


def _winner(under: Map, kind: str) -> int:
    """Which of the numbers under a window a pool keeps, row by row."""
    return int(np.nanargmax(under) if kind == "max" else np.nanargmin(under))


def paint_filled(
    painter: QPainter, box: QRectF, values: Map, table: Table, scale: tuple[float, float], count: int
) -> None:
    """The first `count` cells of a map, row by row."""
    high, wide = values.shape
    rows, rest = divmod(count, wide)
    if rows:
        part = QRectF(box.left(), box.top(), box.width(), box.height() * rows / high)
        paint_map(painter, part, values[:rows], table, *scale)
    if rest:
        part = QRectF(
            box.left(),
            box.top() + box.height() * rows / high,
            box.width() * rest / wide,
            box.height() / high,
        )
        paint_map(painter, part, values[rows : rows + 1, :rest], table, *scale)


def _cell(box: QRectF, shape: tuple[int, ...], at: QPointF) -> tuple[int, int]:
    row = int((at.y() - box.top()) // (box.height() / shape[0]))
    return row, int((at.x() - box.left()) // (box.width() / shape[1]))
