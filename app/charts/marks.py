"""What a curve plot shows of values that have no place on it: marks at its edges, each with a tool tip."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF

from app.theme import Theme

NEAR = 3  # pixels within which marks are one: a run of NaN must not cost a cross a step
EDGE = 12


@dataclass(frozen=True)
class Places:
    """x in pixels: `bad` not finite, `under` and `over` beyond the axis, `seams` where a run went on."""

    bad: tuple[float, ...] = ()
    under: tuple[float, ...] = ()
    seams: tuple[float, ...] = ()
    over: tuple[float, ...] = ()


def mark_at(places: Places, x: float, y: float, height: float) -> tuple[str, float] | None:
    """The kind ("bad", "under", "over" or "seams") and x of the mark at a point of a plot of that height."""
    top = y <= EDGE + 3
    kinds = {"bad": top, "over": top, "under": y >= height - EDGE - 3, "seams": True}
    for kind, here in kinds.items():
        near = [place for place in getattr(places, kind) if abs(place - x) <= NEAR + 2]
        if here and near:
            return kind, min(near, key=lambda place: abs(place - x))
    return None


def paint_marks(painter: QPainter, theme: Theme, places: Places, height: float) -> None:
    """Crosses at the upper edge, arrows where values lie beyond an edge, broken lines where a run went on."""
    seam = QPen(theme.faint, 1)
    seam.setDashPattern([2, 3])
    painter.setPen(seam)
    for x in places.seams:
        painter.drawLine(QPointF(x, 0), QPointF(x, height))
    painter.setPen(QPen(theme.bad, 1.5))
    for x in places.bad:
        painter.drawLine(QPointF(x - 3, 3), QPointF(x + 3, 9))
        painter.drawLine(QPointF(x - 3, 9), QPointF(x + 3, 3))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.warning)
    low = height - 3
    for x in places.under:
        painter.drawPolygon(QPolygonF([QPointF(x - 4, low - 6), QPointF(x + 4, low - 6), QPointF(x, low)]))
    for x in places.over:
        painter.drawPolygon(QPolygonF([QPointF(x - 4, 9), QPointF(x + 4, 9), QPointF(x, 3)]))


def thinned(places: list[float]) -> tuple[float, ...]:
    """Without those that stand too near to the one before."""
    found: list[float] = []
    for place in sorted(places):
        if not found or place - found[-1] >= NEAR:
            found.append(place)
    return tuple(found)
