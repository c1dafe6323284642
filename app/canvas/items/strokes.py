"""The line that a stroke across wires leaves, and which wires it has crossed."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from app.canvas.items.geometry import Point
from app.canvas.items.link_item import DRAFT_Z
from app.theme import current_theme


class StrokeItem(QGraphicsItem):
    """The way of the pointer so far; red where it cuts."""

    def __init__(self, start: QPointF, *, cuts: bool) -> None:
        super().__init__()
        self._points = QPolygonF([start])
        self._bounds = QRectF(start, start)
        self._cuts = cuts
        self.setZValue(DRAFT_Z + 1)

    def lead_to(self, point: QPointF) -> None:
        """Goes on to a scene point."""
        self.prepareGeometryChange()
        self._points.append(point)
        self._bounds = self._points.boundingRect()

    def boundingRect(self) -> QRectF:
        return self._bounds.adjusted(-20, -20, 20, 20)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        theme = current_theme()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(QColor(theme.bad if self._cuts else theme.accent), 1.5, Qt.PenStyle.DashLine)
        pen.setCosmetic(True)
        painter.setPen(pen)
        painter.drawPolyline(self._points)


def crossing(a: Point, b: Point, line: Iterable[Point]) -> Point | None:
    """Where the stretch from `a` to `b` first meets a polyline; None if it does not."""
    best: tuple[float, Point] | None = None
    for c, d in pairwise(line):
        part = _meeting(a, b, c, d)
        if part is not None and (best is None or part < best[0]):
            best = part, (a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1]))
    return best[1] if best is not None else None


def _meeting(a: Point, b: Point, c: Point, d: Point) -> float | None:
    """How far along a-b (0 to 1) it meets c-d."""
    x, y = b[0] - a[0], b[1] - a[1]
    u, v = d[0] - c[0], d[1] - c[1]
    turn = x * v - y * u
    if turn == 0:
        return None
    along = ((c[0] - a[0]) * v - (c[1] - a[1]) * u) / turn
    other = ((c[0] - a[0]) * y - (c[1] - a[1]) * x) / turn
    return along if 0 <= along <= 1 and 0 <= other <= 1 else None
