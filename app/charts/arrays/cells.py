"""Small maps whose cells are large enough to be read: colours with the numbers in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app.charts.colourmaps import GREY, SIGNED, VIRIDIS, Table, limits, opaque, shade, to_image
from app.charts.plot import Plot, number
from app.charts.scale import WIDTH, ends, paint_scale
from app.theme import SMALL, Theme

READABLE = 38.0  # pixels of a cell that hold five digits
HEAD, GAP = 16, 10
TITLED = 22  # pixels of height from which a map has room for its title
SCALE_FROM = 74  # pixels of height that leave room for the scale of colours
DARK_INK, LIGHT_INK = QColor("#101318"), QColor("#f2f4f8")

DIMMED = 0.7  # of an image's light under a map, so that its colours stand out

Map = NDArray[np.floating]


def fitted(area: QRectF, shape: tuple[int, ...], largest: float = 1e9) -> QRectF:
    """The largest box of whole pixels a cell that holds `shape` (h, w) in the middle of an area."""
    side = min(area.width() / shape[1], area.height() / shape[0], largest)
    side = float(int(side)) if side >= 2 else max(0.1, side)
    wide, high = side * shape[1], side * shape[0]
    return QRectF(
        round(area.left() + (area.width() - wide) / 2),
        round(area.top() + (area.height() - high) / 2),
        wide,
        high,
    )


def cell_box(box: QRectF, shape: tuple[int, ...], row: float, column: float) -> QRectF:
    """Where one cell of a map stands; also for cells beyond its edge."""
    wide, high = box.width() / shape[1], box.height() / shape[0]
    return QRectF(box.left() + column * wide, box.top() + row * high, wide, high)


def paint_map(painter: QPainter, box: QRectF, values: Map, table: Table, low: float, high: float) -> None:
    """A map `(h, w)`, or an image `(h, w, 3)` in the range from `low` to `high`."""
    if values.ndim == 3:
        levels = np.clip((values - low) / (high - low or 1.0) * 255, 0, 255)
        colours = opaque(*np.moveaxis(levels, -1, 0))
    else:
        colours = shade(values.astype(np.float64), table, low, high)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
    painter.drawImage(box, to_image(colours))


def paint_numbers(
    painter: QPainter,
    theme: Theme,
    box: QRectF,
    values: Map,
    table: Table,
    low: float,
    high: float,
    count: int | None = None,
) -> None:
    """The numbers of a map in its cells, where those are large enough; of the first `count`, row by row."""
    cell = cell_box(box, values.shape, 0, 0)
    if cell.width() < READABLE or cell.height() < 15:
        return
    painter.setFont(theme.mono(SMALL))
    colours = shade(values.astype(np.float64), table, low, high)
    for row, column in list(np.ndindex(*values.shape))[:count]:
        painter.setPen(ink_on(QColor.fromRgba(int(colours[row, column]))))
        here = cell_box(box, values.shape, row, column)
        painter.drawText(here, Qt.AlignmentFlag.AlignCenter, short(float(values[row, column])))


def ink_on(colour: QColor) -> QColor:
    """A colour of text that can be read on another colour."""
    light = colour.redF() * 0.3 + colour.greenF() * 0.59 + colour.blueF() * 0.11
    return DARK_INK if light > 0.5 else LIGHT_INK


def short(value: float) -> str:
    """A number in five characters or so, as it stands in a cell."""
    if value != value or abs(value) == float("inf"):
        return "nan" if value != value else "inf"
    size = abs(value)
    digits = 2 if size < 10 else 1 if size < 100 else 0
    return f"{round(value, digits) + 0.0:.{digits}f}" if size < 1e4 else f"{value:.0e}"


@dataclass(frozen=True)
class Sheet:
    """One map with its title, and whether its colours lie about zero."""

    title: str
    values: Map
    signed: bool = True
    marked: bool = False  # stands out, on a scale of its own
    plain: bool = False  # an image in grey or in its colours, on a scale of its own
    over: Map | None = None  # the image `(H, W)` or `(H, W, 3)` that the map lies on, a cell on each patch


def laid_over(
    image: Map, values: Map, table: Table, low: float, high: float, opacity: float = 0.85
) -> NDArray[np.uint32]:
    """An image `(H, W)` or `(H, W, 3)` under a map `(h, w)`, each cell of which covers a patch of it.

    The stronger the map, the more of its colour covers the image.
    """
    times = image.shape[0] // values.shape[0], image.shape[1] // values.shape[1]
    values = values.astype(np.float64).repeat(times[0], 0).repeat(times[1], 1)
    over = shade(values, table, low, high)
    reach = max(abs(low), abs(high)) or 1.0
    fraction = opacity * np.sqrt(np.clip(np.abs(np.nan_to_num(values)) / reach, 0, 1))
    under = image if image.ndim == 3 else np.repeat(image[..., None], 3, axis=2)
    bottom, top = limits(under)
    grey = (under - bottom) / ((top - bottom) or 1.0) * 255
    parts = [(over >> shift & 0xFF).astype(np.float64) for shift in (16, 8, 0)]
    mixed = [(1 - fraction) * DIMMED * grey[..., axis] + fraction * part for axis, part in enumerate(parts)]
    return opaque(*(np.clip(part, 0, 255) for part in mixed))


def _pixels(sheet: Sheet) -> tuple[int, int]:
    """Height and width of what a sheet shows, in the pixels of its image where it lies on one."""
    shown = sheet.values if sheet.over is None else sheet.over
    return shown.shape[0], shown.shape[1]


class Sheets(Plot):
    """Titled maps side by side on one scale, as large as room allows, with numbers that can be read.

    A click shows one alone, another or Esc brings all back. Maps that lie over images begin at 0.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sheets: tuple[Sheet, ...] = ()
        self._low, self._high = -1.0, 1.0
        self._table: Table = SIGNED
        self._fixed = 0
        self._head = HEAD
        self._one = -1
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.boxes: list[QRectF] = []

    def show_sheets(self, sheets: Sequence[Sheet], columns: int = 0) -> None:
        """Show other maps, `columns` of them in a row, or as many as let them be largest."""
        self._sheets, self._fixed = tuple(sheets), columns
        counted = [sheet for sheet in sheets if not sheet.marked and not sheet.plain]
        signed = any(sheet.signed for sheet in counted or sheets)
        laid = any(sheet.over is not None for sheet in sheets)
        self._table = SIGNED if signed else VIRIDIS if laid else GREY
        scaled = [sheet.values.ravel() for sheet in counted]
        flat = np.concatenate(scaled) if scaled else np.empty(0)
        self._one = self._one if self._one < len(sheets) else -1
        self._low, self._high = limits(flat, signed=signed)
        self._low = self._low if signed or not laid else min(0.0, self._low)
        self._message = ""
        self.changed()

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        """What is on screen."""
        return self._sheets

    @property
    def scale(self) -> tuple[float, float]:
        """The values of the first and the last colour."""
        return self._low, self._high

    @property
    def enlarged_index(self) -> int:
        """The map that is shown alone, -1 for none."""
        return self._one

    def enlarge(self, index: int) -> None:
        """Show one map alone; -1 shows all again."""
        self._one = index
        self.update()

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        self.boxes = []
        if not self._sheets:
            return
        alone = self._one >= 0
        sheets = self._sheets[self._one : self._one + 1] if alone else self._sheets
        room = self.width() - (WIDTH + 6 if self.width() >= 220 and self.height() >= SCALE_FROM else 0)
        self._head = HEAD if any(sheet.title for sheet in self._sheets) else 0
        columns, side = (1, float("inf")) if alone else self._columns(room)
        if side < TITLED:
            self._head = 0
            columns, _ = self._columns(room)
        rows = -(-len(sheets) // columns)
        wide, high = (room + GAP) / columns - GAP, (self.height() + GAP) / rows - GAP
        areas = [QRectF(0, self._head, wide, high - self._head) for _ in sheets]
        sizes = [fitted(area, _pixels(sheet)) for area, sheet in zip(areas, sheets, strict=True)]
        tallest = max(box.height() for box in sizes) + self._head + GAP
        for index, (sheet, box) in enumerate(zip(sheets, sizes, strict=True)):
            row, column = divmod(index, columns)
            area = QRectF(column * (wide + GAP), row * tallest, wide, high)
            box.moveTopLeft(QPointF(round(area.left() + box.left()), round(area.top() + self._head)))
            apart = sheet.marked or sheet.plain
            low, top = limits(sheet.values, signed=sheet.signed and not sheet.plain) if apart else self.scale
            if sheet.over is not None:
                painter.drawImage(box, to_image(laid_over(sheet.over, sheet.values, self._table, low, top)))
            else:
                paint_map(painter, box, sheet.values, GREY if sheet.plain else self._table, low, top)
                if sheet.values.ndim == 2 and not sheet.plain:
                    paint_numbers(painter, theme, box, sheet.values, self._table, low, top)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.accent, 2) if sheet.marked else QPen(theme.line, 1))
            painter.drawRect(box)
            self._paint_title(painter, theme, sheet, box, area)
            self.boxes.append(box)
        if room < self.width():
            area = QRectF(0, self._head, 1, max(40.0, min(160.0, self.height() - HEAD - 4)))
            left = self.width() - WIDTH + 4
            paint_scale(painter, theme, left, area, self._table, ends(self._low, self._high))

    def _paint_title(self, painter: QPainter, theme: Theme, sheet: Sheet, box: QRectF, area: QRectF) -> None:
        if not self._head:
            return
        painter.setFont(theme.font(SMALL))
        painter.setPen(theme.text if sheet.marked else theme.dim)
        told = painter.fontMetrics().elidedText(sheet.title, Qt.TextElideMode.ElideRight, int(area.width()))
        long = painter.fontMetrics().horizontalAdvance(told)
        left = max(area.left(), min(box.left(), area.right() - long))
        at = QRectF(left, area.top(), area.width(), self._head)
        painter.drawText(at, Qt.AlignmentFlag.AlignVCenter, told)

    def index_at(self, at: QPointF) -> int:
        """The map at a point, -1 for none."""
        found = next((index for index, box in enumerate(self.boxes) if box.contains(at)), -1)
        return self._one if found >= 0 and self._one >= 0 else found

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and len(self._sheets) > 1:
            self.enlarge(-1 if self._one >= 0 else self.index_at(event.position()))
        else:
            super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._one >= 0:
            self.enlarge(-1)
        else:
            super().keyPressEvent(event)

    def _columns(self, room: float) -> tuple[int, float]:
        """So many beside each other that they are largest, and their height."""
        count = len(self._sheets)
        high, wide = _pixels(self._sheets[0])
        best, largest = 1, -1.0
        for columns in (self._fixed,) if self._fixed else range(1, count + 1):
            rows = -(-count // columns)
            across = ((room + GAP) / columns - GAP) / wide
            down = ((self.height() + GAP) / rows - GAP - self._head) / high
            side = min(across, down)
            if side > largest * 1.02:
                best, largest = columns, side
        return best, largest * high

    def describe(self, at: QPoint) -> str:
        index = self.index_at(QPointF(at))
        if index < 0:
            return ""
        sheet, box = self._sheets[index], self.boxes[0 if self._one >= 0 else index]
        high, wide = sheet.values.shape[:2]
        row = min(high - 1, int((at.y() - box.top()) / box.height() * high))
        column = min(wide - 1, int((at.x() - box.left()) / box.width() * wide))
        value = sheet.values[row, column]
        told = number(float(value)) if np.ndim(value) == 0 else ", ".join(map(number, value.tolist()))
        return f"{sheet.title}\nrow {row + 1}, column {column + 1}: {told}"

    def sizeHint(self) -> QSize:
        return QSize(320, 180)
