"""Wires on the canvas, their shape labels, and the wire that follows the cursor."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPainterPath, QPen, QPolygonF
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from app.canvas.items.bends import BEND_RADIUS
from app.canvas.items.detail import TEXT_ZOOM, Detail
from app.canvas.items.geometry import Point
from app.canvas.items.node_item import DIMMED
from app.canvas.items.pens import cosmetic_pen
from app.canvas.items.routing import Route, curve, path_of
from app.theme import SMALL, Theme, current_theme
from engine.document.graph import Link

WIRE_Z = 0.0
LABEL_Z = 1.0
DRAFT_Z = 5.0
_SMOOTH = QPainter.RenderHint.Antialiasing  # looked up once: a repaint asks for it thousands of times
LONG = 130.0  # a second wire from one port is labelled only on a stretch of this length
_SIDE = 6.0  # half a wire with its selection outline
_DATA_WIRE = 1.6


class LinkItem(QGraphicsItem):
    """One wire; looks where its scene's routes say it goes."""

    def __init__(self, link: Link, route: Route, detail: Detail) -> None:
        super().__init__()
        self.link = link
        self._detail = detail
        self.route = route
        self.selected = False
        self.hovered = False
        self.dimmed = False
        self.family = ""  # wires of data that bypass the model wear the data colour
        self.bad = False
        self.marked = ""  # "cut" or "bend": what a stroke across it will do
        self.picked: int | None = None  # the selected bend
        self.label: LabelItem | None = None
        self._path = path_of(route)
        self._bounds = self._path.boundingRect().adjusted(-_SIDE, -_SIDE, _SIDE, _SIDE)
        self._polyline: list[Point] | None = None
        self._far_line: QPolygonF | None = None
        self.setZValue(WIRE_Z)

    def boundingRect(self) -> QRectF:
        return self._bounds

    def show_route(self, route: Route) -> None:
        """Goes another way."""
        if route.points == self.route.points and route.curved == self.route.curved:
            self.route = route
            return
        path = path_of(route)
        self.prepareGeometryChange()
        self.route, self._path, self._polyline, self._far_line = route, path, None, None
        self._bounds = path.boundingRect().adjusted(-_SIDE, -_SIDE, _SIDE, _SIDE)
        if self.label is not None:
            self.label.place(route)

    def show_shifted(self, route: Route, by: Point) -> None:
        """Moves along with both of its nodes; the shape stays."""
        self.prepareGeometryChange()
        self.route, self._polyline = route, None
        self._path.translate(*by)
        if self._far_line is not None:
            self._far_line.translate(*by)
        self._bounds.translate(*by)
        if self.label is not None:
            self.label.moveBy(*by)

    def show_state(
        self,
        *,
        selected: bool | None = None,
        dimmed: bool | None = None,
        bad: bool | None = None,
        marked: str | None = None,
    ) -> None:
        """Changes how the wire is drawn; None leaves a mark as it is."""
        before = self.selected, self.dimmed, self.bad, self.marked
        self.selected = self.selected if selected is None else selected
        self.dimmed = self.dimmed if dimmed is None else dimmed
        self.bad = self.bad if bad is None else bad
        self.marked = self.marked if marked is None else marked
        if (self.selected, self.dimmed, self.bad, self.marked) != before:
            self.setZValue(WIRE_Z + 0.5 if self.selected else WIRE_Z)
            self.update()
            if self.selected != before[0]:
                self.settle_label()

    def show_hovered(self, hovered: bool) -> None:
        """Whether the pointer is over the wire: its shape is shown then in any case."""
        if hovered != self.hovered:
            self.hovered = hovered
            self.settle_label()

    def settle_label(self) -> None:
        """Shows or hides the label as the wire's state and the user's choice have it."""
        if self.label is not None and self.isVisible():
            always = self._detail.labels_always
            wanted = self.hovered or (self.selected and not always)
            self.label.show_called(True if wanted else None if always else False, self.route)

    def show_bend(self, index: int | None) -> None:
        """Marks one of the wire's bends as selected, or none."""
        if index != self.picked:
            self.picked = index
            self.update()

    def show_hidden(self, hidden: bool) -> None:
        """Hides the wire and its label while a gesture has it in hand, or brings both back."""
        self.setVisible(not hidden)
        if self.label is not None and hidden:
            self.label.setVisible(False)
        elif self.label is not None:
            self.label.place(self.route)

    def corners(self) -> QPolygonF:
        """The corners of the wire, as it is drawn from afar."""
        if self._far_line is None:
            self._far_line = QPolygonF([QPointF(x, y) for x, y in self.route.points])
        return self._far_line

    def polyline(self) -> list[Point]:
        """The wire as it is drawn, in straight stretches."""
        if self._polyline is None:
            polygons = self._path.toSubpathPolygons()
            self._polyline = [(spot.x(), spot.y()) for spot in polygons[0].toList()] if polygons else []
        return self._polyline

    def distance(self, point: QPointF) -> float:
        """How far a scene point is from the wire."""
        here = (point.x(), point.y())
        return min((_distance(here, a, b) for a, b in pairwise(self.polyline())), default=math.inf)

    @property
    def sort(self) -> tuple[object, ...]:
        """What decides how the wire looks from afar."""
        return self.dimmed, self.marked, self.selected, self.bad, self.family

    def far_look(self, theme: Theme) -> tuple[float, int, float]:
        """The wire from afar: its opacity, and the colour and width of its pen."""
        width = 1.5 if self.selected or self.marked else 1.0
        return (DIMMED if self.dimmed else 1.0), self._colour(theme)[0].rgba(), width

    def _colour(self, theme: Theme) -> tuple[QColor, float]:
        """The colour and the width of the wire."""
        if self.marked:
            return (theme.bad if self.marked == "cut" else theme.accent), 2.4
        if self.selected:
            return theme.accent, 2.4
        if self.bad:
            return theme.bad, 2.0
        if self.family:
            colour = QColor(theme.family(self.family))
            colour.setAlphaF(0.75)
            return colour, _DATA_WIRE
        return theme.wire, 1.8

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        theme = current_theme()
        zoom = self._detail.zoom
        if self.dimmed:
            painter.setOpacity(DIMMED)
        if zoom < self._detail.plates_below:
            painter.setPen(cosmetic_pen(*self.far_look(theme)[1:]))
            painter.drawPolyline(self.corners())  # smoothing is off unless an item near by turns it on
            return
        colour, width = self._colour(theme)
        style = Qt.PenStyle.DashLine if self.marked == "cut" else Qt.PenStyle.SolidLine
        pen = QPen(colour, width, style, Qt.PenCapStyle.FlatCap)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setRenderHint(_SMOOTH)
        painter.setPen(pen)
        painter.drawPath(self._path)
        bends = self.route.bends
        if bends:
            painter.setPen(Qt.PenStyle.NoPen)
            for index, (x, y) in enumerate(bends):
                picked = index == self.picked
                painter.setBrush(theme.accent if picked else colour)
                painter.drawEllipse(QPointF(x, y), *(2 * (BEND_RADIUS + picked,)))


class LabelItem(QGraphicsItem):
    """The shape of what a wire carries, above the wires that cross it."""

    def __init__(self, text: str, route: Route, *, first: bool = True) -> None:
        super().__init__()
        self.text = text
        self._first = first
        self._called: bool | None = None  # shown or hidden in any case; None: where it fits
        self._placed: tuple[str, Route] | None = None  # what it stands for now
        self._room = 0.0
        self._size = (0.0, 0.0)
        self.setZValue(LABEL_Z)
        self.place(route)

    def place(self, route: Route) -> None:
        """Moves to the middle of the wire's longest level stretch; hides where it does not fit."""
        (x, y), room, level = route.label_place()
        size = _size(self.text, current_theme().mono(SMALL).key())
        if size != self._size:
            self.prepareGeometryChange()
            self._size = size
        aside = size[1] / 2 + 4 if route.under else -size[1] / 2 - 4
        self.setPos(x, y + aside if level else y)
        self._placed, self._room = (self.text, route), room
        self._appear()

    def _appear(self) -> None:
        fits = self._size[0] <= self._room and (self._first or self._room >= LONG)
        self.setVisible(bool(self.text) and (fits if self._called is None else self._called))

    def show_text(self, text: str, first: bool, route: Route) -> None:
        """Says something else; nothing at all while the shape is unknown."""
        self.text, self._first = text, first
        if not text or (self._placed is not None and self._placed == (text, route)):
            self._appear()  # back where it was: what an undo brings, for every wire behind it
        else:
            self.place(route)
            self.update()

    def show_called(self, called: bool | None, route: Route) -> None:
        """Shows the label even where it does not fit, hides it even where it does, or leaves it to that."""
        if called != self._called:
            self._called = called
            self.place(route)

    def show_first(self, first: bool, route: Route) -> None:
        """Whether no other wire from the same port shows this label already."""
        if first != self._first:
            self._first = first
            self.place(route)

    def boundingRect(self) -> QRectF:
        width, height = self._size
        return QRectF(-width / 2, -height / 2, width, height)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        if painter.worldTransform().m11() < TEXT_ZOOM:
            return
        theme = current_theme()
        plate = QColor(theme.canvas)
        plate.setAlpha(225)
        painter.fillRect(self.boundingRect(), plate)
        painter.setFont(theme.mono(SMALL))
        painter.setPen(theme.dim)
        painter.drawText(self.boundingRect(), Qt.AlignmentFlag.AlignCenter, self.text)


class DraftWire(QGraphicsItem):
    """The wire being drawn: one end on a port, the other at the cursor."""

    def __init__(self, fixed: Point, *, from_output: bool) -> None:
        super().__init__()
        self._fixed = fixed
        self._from_output = from_output
        self._refused = False
        self._path = QPainterPath()
        self._loose = fixed
        self.setZValue(DRAFT_Z)
        self.lead_to(fixed)

    def lead_to(self, loose: Point, *, refused: bool = False) -> None:
        """Moves the loose end; a refused wire is dashed."""
        self.prepareGeometryChange()
        self._loose, self._refused = loose, refused
        self._path = curve(self._fixed, loose) if self._from_output else curve(loose, self._fixed)
        self.update()

    def boundingRect(self) -> QRectF:
        return self._path.boundingRect().adjusted(-8, -8, 8, 8)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        theme = current_theme()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour = theme.bad if self._refused else theme.accent
        style = Qt.PenStyle.DashLine if self._refused else Qt.PenStyle.SolidLine
        painter.setPen(QPen(colour, 2, style))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(self._path)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawEllipse(QPointF(*self._loose), 4, 4)


class Marquee(QGraphicsItem):
    """The rectangle of a box selection."""

    def __init__(self) -> None:
        super().__init__()
        self._rect = QRectF()
        self.setZValue(DRAFT_Z + 1)

    def span(self, rect: QRectF) -> None:
        self.prepareGeometryChange()
        self._rect = rect

    def boundingRect(self) -> QRectF:
        return self._rect.adjusted(-20, -20, 20, 20)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        theme = current_theme()
        fill = QColor(theme.accent)
        fill.setAlpha(28)
        pen = QPen(theme.accent, 1)
        pen.setCosmetic(True)
        painter.setPen(pen)
        painter.setBrush(fill)
        painter.drawRect(self._rect)


@lru_cache(maxsize=4096)
def _size(text: str, _font: str) -> tuple[float, float]:
    """How large a label is in the font of labels, whose key tells when it has become another."""
    metrics = QFontMetricsF(current_theme().mono(SMALL))
    return metrics.horizontalAdvance(text) + 4, metrics.height()


def _distance(point: Point, a: Point, b: Point) -> float:
    x, y = b[0] - a[0], b[1] - a[1]
    length = x * x + y * y
    part = (
        0.0 if length == 0 else max(0.0, min(1.0, ((point[0] - a[0]) * x + (point[1] - a[1]) * y) / length))
    )
    return math.hypot(point[0] - a[0] - part * x, point[1] - a[1] - part * y)
