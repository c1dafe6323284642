"""A small chart with two named axes: areas of colour, bands, curves, pieces of lines, bars and marks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isfinite

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetrics, QImage, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from app.charts.class_marks import shape_path
from app.charts.colourmaps import to_image
from app.charts.plot import Plot, colour_of
from app.charts.tick_marks import paint_across, paint_up, room_of_numbers, ticks_across, ticks_up
from app.theme import SMALL, Theme, current_theme

NAMES_FROM, LEGEND_FROM = 96, 132  # pixels of height that leave room for names of axes, and for the legend
LOW = 240  # pixels of height below which a wide chart has its legend beside it
LINE_FROM = 84  # for one line of it: curves without names say nothing
LEFT, RIGHT, BELOW, ABOVE = 46, 10, 32, 6
LEGEND, LEGEND_ROWS = 18, 2
DOT = 2.5  # its radius, in pixels
MANY = 64  # points whose line is drawn piece by piece: stroked as one shape it takes twenty times as long
Numbers = NDArray[np.floating]
Colour = str | Callable[[Theme], QColor]  # a role of the theme, or a function of it


def resolved(colour: Colour, theme: Theme) -> QColor:
    """A colour as the theme has it."""
    return QColor(colour_of(theme, colour) if isinstance(colour, str) else colour(theme))


@dataclass(frozen=True)
class Ground:
    """Colours `(h, w)` as `0xAARRGGBB` for a theme, the first row at the smallest y; from edge to edge."""

    colours: Callable[[Theme], NDArray[np.uint32]]
    smooth: bool = True


@dataclass(frozen=True)
class Band:
    """The room between two curves."""

    x: Numbers
    low: Numbers
    high: Numbers
    colour: Colour = "accent"


@dataclass(frozen=True)
class Curve:
    """A line through points; NaN leaves a gap. `faint` is thin and half-transparent, for noisy values."""

    x: Numbers
    y: Numbers
    colour: Colour = "accent"
    width: float = 1.8
    style: Qt.PenStyle = Qt.PenStyle.SolidLine
    faint: bool = False


@dataclass(frozen=True)
class Pieces:
    """Pieces of lines `(n, 2, 2)` of (x, y)."""

    ends: Numbers
    colour: Colour = "text"
    width: float = 1.6


@dataclass(frozen=True)
class Areas:
    """Polygons `(k, 2)` of (x, y), each with its colour in a theme."""

    corners: Sequence[Numbers]
    colours: Callable[[Theme], Sequence[QColor]]


@dataclass(frozen=True)
class Columns:
    """Upright bars between edges `(n + 1,)`, from zero to their heights."""

    edges: Numbers
    heights: Numbers
    colour: Colour = "accent"
    sideways: bool = False  # along y, as wide as the heights


@dataclass(frozen=True)
class Marks:
    """Points of one shape; those that are `hollow` are outlined only."""

    x: Numbers
    y: Numbers
    colour: Colour = "accent"
    shape: str = "circle"
    size: float = 6.0
    hollow: bool = False
    shades: NDArray[np.uint32] | None = None  # one colour a point, as `0xAARRGGBB`


@dataclass(frozen=True)
class Words:
    """A word at a place."""

    x: float
    y: float
    text: str


Layer = Ground | Areas | Band | Curve | Pieces | Columns | Marks | Words


@dataclass(frozen=True)
class Entry:
    """One entry of the legend: a mark of this shape, or a line where there is none."""

    name: str
    colour: Colour
    shape: str = ""
    hollow: bool = False
    style: Qt.PenStyle = Qt.PenStyle.SolidLine


@dataclass(frozen=True)
class Frame:
    """What the axes span and are called; `square` gives both the same length.

    `x_scale` and `y_scale` are those of `app.charts.axes.ticks`; on a "log" axis all values, those of layers
    too, are exponents of ten.
    """

    x: tuple[float, float] = (0.0, 1.0)
    y: tuple[float, float] = (0.0, 1.0)
    x_name: str = ""
    y_name: str = ""
    square: bool = False
    x_scale: str = "linear"
    y_scale: str = "linear"
    legend: Sequence[Entry] = field(default_factory=tuple)


def beyond(x: Numbers, y: Numbers, span: tuple[float, float]) -> list[Layer]:
    """Marks at the edges of what the y axis spans, where values lie beyond it."""
    inset = 0.03 * (span[1] - span[0])
    found: list[Layer] = []
    for out, edge, shape in (
        (y > span[1], span[1] - inset, "triangle"),
        (y < span[0], span[0] + inset, "down"),
    ):
        if out.any():
            found.append(Marks(x[out], np.full(int(out.sum()), edge), "warning", shape, 8))
    return found


class Chart(Plot):
    """Layers in a frame; the last lies on top. `read` gives the tool tip at (x, y)."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._frame = Frame()
        self._layers: tuple[Layer, ...] = ()
        self.read: Callable[[float, float], str] | None = None
        self.alone = (
            False  # no other chart stands below it with the same axis: its legend may stand beside it
        )

    def show_layers(self, frame: Frame, layers: Sequence[Layer]) -> None:
        """Show something else."""
        self._frame = frame
        self._layers = tuple(layers)
        self._message = ""
        self.changed()

    @property
    def frame_shown(self) -> Frame:
        """The axes on screen."""
        return self._frame

    @property
    def layers(self) -> tuple[Layer, ...]:
        """What is on screen."""
        return self._layers

    def area(self) -> QRectF:
        """The room between the axes, in logical pixels."""
        frame = self._frame
        places = self._legend_places()
        beside = places[-1][2] + 8 if places and self._legend_beside else 0.0
        top = ABOVE + LEGEND * (1 + places[-1][0] if places and not beside else 0)
        below = BELOW if frame.x_name and self.height() >= NAMES_FROM else BELOW - 14
        high = float(self.height() - top - below)
        left = self._number_room(high) + (14 if frame.y_name else 0)
        wide = self.width() - left - RIGHT - beside
        if frame.square:
            wide = high = min(wide, high)
        return QRectF(left, top, max(8, wide), max(8, high))

    def _number_room(self, high: float) -> float:
        """Pixels for the numbers of y beside axes so high: what short ones need at least."""
        return max(LEFT, room_of_numbers(self._frame.y_scale, self._frame.y, max(8.0, high)))

    def to_pixels(self, x: Numbers, y: Numbers) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Where values stand, in logical pixels."""
        area, (left, right), (low, high) = self.area(), self._frame.x, self._frame.y
        across = area.left() + (np.asarray(x, float) - left) * (area.width() / ((right - left) or 1.0))
        down = area.bottom() - (np.asarray(y, float) - low) * (area.height() / ((high - low) or 1.0))
        return across, down

    def to_values(self, at: QPointF) -> tuple[float, float] | None:
        """What stands at a pixel; None outside the axes."""
        area, frame = self.area(), self._frame
        if not area.contains(at):
            return None
        fraction_x, fraction_y = (
            (at.x() - area.left()) / area.width(),
            (area.bottom() - at.y()) / area.height(),
        )
        return (
            frame.x[0] + fraction_x * (frame.x[1] - frame.x[0]),
            frame.y[0] + fraction_y * (frame.y[1] - frame.y[0]),
        )

    def build(self, width: int, height: int, ratio: float) -> QImage | None:
        if not self._layers or width < 16 or height < 16:
            return None
        image = QImage(width, height, QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(Qt.GlobalColor.transparent)
        image.setDevicePixelRatio(ratio)
        theme, area = current_theme(), self.area()
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.save()
        painter.setClipRect(area.adjusted(-0.5, -0.5, 0.5, 0.5))
        grounds = [layer for layer in self._layers if isinstance(layer, Ground)]
        for ground in grounds:
            self._paint_ground(painter, theme, ground)
        if not grounds:
            self._paint_grid(painter, theme, area)
        for layer in self._layers:
            if not isinstance(layer, Ground):
                self._paint_layer(painter, theme, layer)
        painter.restore()
        self._paint_axes(painter, theme, area)
        self._paint_legend(painter, theme)
        painter.end()
        return image

    def describe(self, at: QPoint) -> str:
        here = self.to_values(QPointF(at))
        return self.read(*here) if here is not None and self.read is not None else ""

    def sizeHint(self) -> QSize:
        return QSize(300, 200)

    # -- layers -----------------------------------------------------------------------------------

    def _paint_layer(self, painter: QPainter, theme: Theme, layer: Layer) -> None:
        if isinstance(layer, Areas):
            self._paint_areas(painter, theme, layer)
        elif isinstance(layer, Band):
            self._paint_band(painter, theme, layer)
        elif isinstance(layer, Curve):
            self._paint_curve(painter, theme, layer)
        elif isinstance(layer, Pieces):
            x, y = self.to_pixels(layer.ends[..., 0], layer.ends[..., 1])
            painter.setPen(QPen(resolved(layer.colour, theme), layer.width))
            painter.drawLines([QLineF(*ends) for ends in np.stack([x, y], -1).reshape(-1, 4).tolist()])
        elif isinstance(layer, Columns):
            self._paint_columns(painter, theme, layer)
        elif isinstance(layer, Marks):
            self._paint_marks(painter, theme, layer)
        elif isinstance(layer, Words):
            (x,), (y,) = self.to_pixels(np.array([layer.x]), np.array([layer.y]))
            painter.setFont(theme.mono(SMALL))
            room = QFontMetrics(painter.font()).boundingRect(layer.text).adjusted(-3, -1, 3, 1)
            room.moveCenter(QPoint(round(x), round(y)))
            ground = QColor(theme.panel)
            ground.setAlphaF(0.75)
            painter.fillRect(room, ground)
            painter.setPen(theme.text)
            painter.drawText(room, Qt.AlignmentFlag.AlignCenter, layer.text)

    def _paint_ground(self, painter: QPainter, theme: Theme, layer: Ground) -> None:
        image = to_image(layer.colours(theme)[::-1])
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, layer.smooth)
        painter.drawImage(self.area(), image)

    def _paint_areas(self, painter: QPainter, theme: Theme, layer: Areas) -> None:
        for corners, colour in zip(layer.corners, layer.colours(theme), strict=True):
            x, y = self.to_pixels(corners[:, 0], corners[:, 1])
            painter.setPen(QPen(colour, 1))  # else neighbours have a light seam between them
            painter.setBrush(colour)
            painter.drawPolygon(QPolygonF(list(map(QPointF, x.tolist(), y.tolist()))))

    def _paint_band(self, painter: QPainter, theme: Theme, layer: Band) -> None:
        x, low = self.to_pixels(layer.x, layer.low)
        _, high = self.to_pixels(layer.x, layer.high)
        fine = np.isfinite(low) & np.isfinite(high)
        x, low, high = x[fine], low[fine], high[fine]
        colour = resolved(layer.colour, theme)
        colour.setAlphaF(0.22)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        outline = [
            *zip(x.tolist(), high.tolist(), strict=True),
            *zip(x[::-1].tolist(), low[::-1].tolist(), strict=True),
        ]
        painter.drawPolygon(QPolygonF([QPointF(*point) for point in outline]))

    def _paint_curve(self, painter: QPainter, theme: Theme, layer: Curve) -> None:
        x, y = self.to_pixels(layer.x, layer.y)
        colour = resolved(layer.colour, theme)
        if layer.faint:
            colour.setAlphaF(0.36)
        painter.setPen(QPen(colour, 1.0 if layer.faint else layer.width, layer.style))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, not layer.faint)
        solid = layer.style == Qt.PenStyle.SolidLine and not layer.faint
        breaks = np.nonzero(~(np.isfinite(x) & np.isfinite(y)))[0]
        for part in np.split(np.stack([x, y], 1), breaks):
            points = part[np.isfinite(part).all(axis=1)].clip(-1e5, 1e5)
            if len(points) == 2 and points[0, 1] == points[1, 1] and layer.width < 1.5:
                points[:, 1] = points[:, 1].round() + 0.5  # a level would be blurred over two rows of pixels
            if len(points) == 1:  # a line of one point is a dot
                painter.setBrush(colour)
                painter.drawEllipse(QPointF(*points[0].tolist()), DOT, DOT)
                painter.setBrush(Qt.BrushStyle.NoBrush)
            elif len(points) > MANY and solid:
                ends = np.concatenate([points[:-1], points[1:]], axis=1)
                painter.drawLines(list(map(QLineF, *ends.T.tolist())))
            else:
                painter.drawPolyline(QPolygonF(list(map(QPointF, *points.T.tolist()))))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def _paint_columns(self, painter: QPainter, theme: Theme, layer: Columns) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(resolved(layer.colour, theme))
        zero = np.zeros(len(layer.heights))
        heights = np.nan_to_num(layer.heights)
        starts, ends = layer.edges[:-1], layer.edges[1:]
        corners = (
            (*self.to_pixels(zero, starts), *self.to_pixels(heights, ends))
            if layer.sideways
            else (*self.to_pixels(starts, zero), *self.to_pixels(ends, heights))
        )
        for left, top, right, bottom in np.stack(corners, 1).tolist():
            box = QRectF(QPointF(left, top), QPointF(right, bottom)).normalized()
            shrink = 0.5 if min(box.width(), box.height()) > 3 else 0.0
            painter.drawRect(
                box.adjusted(0, shrink, 0, -shrink) if layer.sideways else box.adjusted(shrink, 0, -shrink, 0)
            )

    def _paint_marks(self, painter: QPainter, theme: Theme, layer: Marks) -> None:
        colour = resolved(layer.colour, theme)
        painter.setBrush(Qt.BrushStyle.NoBrush if layer.hollow else QBrush(colour))
        painter.setPen(QPen(colour, 1.6) if layer.hollow else QPen(theme.panel, 0.9))
        if layer.shades is not None:
            painter.setPen(QPen(theme.text if layer.hollow else theme.panel, 1.4))
        outline = shape_path(layer.shape, layer.size)
        x, y = self.to_pixels(layer.x, layer.y)
        for index, point in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
            if layer.shades is not None:
                painter.setBrush(QColor.fromRgb(int(layer.shades[index])))
            if isfinite(point[0]) and isfinite(point[1]):
                painter.drawPath(outline.translated(*point))

    # -- the frame --------------------------------------------------------------------------------

    def _paint_grid(self, painter: QPainter, theme: Theme, area: QRectF) -> None:
        frame = self._frame
        across = [value for value, _ in ticks_across(frame.x_scale, frame.x, area.width())]
        down = [value for value, _ in ticks_up(frame.y_scale, frame.y, area.height())]
        painter.setPen(QPen(theme.grid, 1))
        painter.setRenderHint(
            QPainter.RenderHint.Antialiasing, False
        )  # else a line is blurred over two pixels
        x, _ = self.to_pixels(np.array(across), np.zeros(len(across)))
        _, y = self.to_pixels(np.zeros(len(down)), np.array(down))
        painter.drawLines([QLineF(place, area.top(), place, area.bottom()) for place in x.tolist()])
        painter.drawLines([QLineF(area.left(), place, area.right(), place) for place in y.tolist()])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def _paint_axes(self, painter: QPainter, theme: Theme, area: QRectF) -> None:
        frame = self._frame
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.line, 1))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.drawRect(area)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_across(painter, theme, area, frame.x_scale, frame.x, (0.0, self.width()))
        paint_up(painter, theme, area, frame.y_scale, frame.y)
        painter.setFont(theme.font(SMALL))
        self._paint_names(painter, area)

    def _paint_names(self, painter: QPainter, area: QRectF) -> None:
        """Write the names of the axes, in the painter's font."""
        frame, metrics = self._frame, QFontMetrics(painter.font())
        elide = Qt.TextElideMode.ElideRight
        if frame.x_name and self.height() >= NAMES_FROM:
            box = QRectF(area.left(), area.bottom() + 16, area.width(), 15)
            painter.drawText(
                box, Qt.AlignmentFlag.AlignCenter, metrics.elidedText(frame.x_name, elide, int(area.width()))
            )
        long = metrics.horizontalAdvance(frame.y_name) + 2.0
        if frame.y_name and long <= min(area.height() + 24, self.height()):
            middle = min(max(area.center().y(), long / 2), self.height() - long / 2)
            painter.save()
            painter.translate(area.left() - self._number_room(area.height()) - 7, middle)
            painter.rotate(-90)
            box = QRectF(-long / 2, -8, long, 15)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, frame.y_name)
            painter.restore()
        elif (places := self._legend_places()) and not self._legend_beside:  # then behind the legend
            row, x, width = places[-1]
            box = QRectF(x + width, ABOVE + LEGEND * row - 4, self.width() - x - width - RIGHT, LEGEND)
            if frame.y_name and long <= box.width() and len(places) == len(frame.legend):
                painter.drawText(
                    box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, frame.y_name
                )

    @property
    def _legend_beside(self) -> bool:
        """Whether the legend stands at the right: a low and wide chart has room there."""
        low = LOW > self.height() > 0 and self.width() >= 2 * self.height()
        return self.alone and low and bool(self._frame.legend)

    def _legend_places(self) -> list[tuple[int, float, float]]:
        """Row, left edge and width of each entry of the legend that has room, in at most two rows."""
        if not self._frame.legend:
            return []
        metrics = QFontMetrics(current_theme().font(SMALL))
        places: list[tuple[int, float, float]] = []
        if self._legend_beside:
            widest = max(metrics.horizontalAdvance(entry.name) for entry in self._frame.legend)
            wide, rows = min(widest + 30.0, 0.3 * self.width()), int((self.height() - ABOVE) // LEGEND)
            return [(row, self.width() - wide, wide) for row in range(min(rows, len(self._frame.legend)))]
        rows = LEGEND_ROWS if self.height() >= LEGEND_FROM else int(self.height() >= LINE_FROM)
        row, x, room = 0, 4.0, max(60, self.width() - 8)
        for entry in self._frame.legend:
            width = min(20 + metrics.horizontalAdvance(entry.name) + 10, room)
            if x > 4 and x + width > room + 10:
                row, x = row + 1, 4.0
            if row >= rows:
                break
            places.append((row, x, width))
            x += width
        more = f"+{len(self._frame.legend)}"
        while 1 < len(places) < len(self._frame.legend):  # how many more there are has room behind the last
            _, left, wide = places[-1]
            if left + wide + metrics.horizontalAdvance(more) <= self.width():
                break
            places.pop()
        return places

    def _paint_legend(self, painter: QPainter, theme: Theme) -> None:
        painter.setFont(theme.font(SMALL))
        metrics = QFontMetrics(painter.font())
        places = self._legend_places()
        for entry, (row, x, width) in zip(self._frame.legend, places, strict=False):
            middle = ABOVE + LEGEND * row + LEGEND / 2 - 4
            colour = resolved(entry.colour, theme)
            if entry.shape:
                painter.setPen(QPen(colour, 1.6) if entry.hollow else QPen(Qt.PenStyle.NoPen))
                painter.setBrush(Qt.BrushStyle.NoBrush if entry.hollow else QBrush(colour))
                painter.drawPath(shape_path(entry.shape, 8).translated(x + 8, middle))
            else:
                painter.setPen(QPen(colour, 2, entry.style))
                painter.drawLine(QPointF(x, middle), QPointF(x + 15, middle))
            painter.setPen(theme.dim)
            text = metrics.elidedText(entry.name, Qt.TextElideMode.ElideRight, int(width - 26))
            painter.drawText(QPointF(x + 19, middle + metrics.ascent() / 2 - 1), text)
        more = len(self._frame.legend) - len(places)
        if more and places:
            row, x, width = places[-1]
            painter.drawText(
                QPointF(x + width, ABOVE + LEGEND * row + LEGEND / 2 + metrics.ascent() / 2 - 5), f"+{more}"
            )
