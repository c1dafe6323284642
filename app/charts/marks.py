"""What a curve plot shows of values that have no place on it: marks at its edges, each with a tool tip."""

from __future__ import annotations

from dataclasses import dataclass

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QGraphicsItem, QWidget

from app.theme import Theme

NEAR = 3  # pixels within which marks are one: a run of NaN must not cost a cross a step
EDGE = 12


@dataclass(frozen=True)
class Places:
    """x in pixels: `bad` not finite, `under` below a logarithmic scale, `seams` where a run went on."""

    bad: tuple[float, ...] = ()
    under: tuple[float, ...] = ()
    seams: tuple[float, ...] = ()


class Marks(QGraphicsItem):
    """Crosses at the upper edge, arrows at the lower one, broken lines where a run was taken up again."""

    def __init__(self) -> None:
        super().__init__()
        self.places = Places()
        self._width, self._height = 1.0, 1.0
        self._theme: Theme | None = None

    def place(self, places: Places, width: float, height: float, theme: Theme) -> None:
        """Marks at these places of a plot of `width` by `height` pixels."""
        wanted = (places, width, height, theme)
        if wanted != (self.places, self._width, self._height, self._theme):
            self.prepareGeometryChange()
            self.places, self._width, self._height, self._theme = wanted
            self.update()

    def at(self, x: float, y: float) -> tuple[str, float] | None:
        """The kind ("bad", "under" or "seams") and x of the mark at a point."""
        kinds = {"bad": y <= EDGE + 3, "under": y >= self._height - EDGE - 3, "seams": True}
        for kind, here in kinds.items():
            near = [place for place in getattr(self.places, kind) if abs(place - x) <= NEAR + 2]
            if here and near:
                return kind, min(near, key=lambda place: abs(place - x))
        return None

    def boundingRect(self) -> QRectF:
        return QRectF(0, 0, self._width, self._height)

    def paint(self, painter: QPainter, option: object, widget: QWidget | None = None) -> None:
        theme = self._theme
        if theme is None:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        seam = QPen(theme.faint, 1)
        seam.setDashPattern([2, 3])
        painter.setPen(seam)
        for x in self.places.seams:
            painter.drawLine(QPointF(x, 0), QPointF(x, self._height))
        painter.setPen(pg.mkPen(theme.bad, width=1.5))
        for x in self.places.bad:
            painter.drawLine(QPointF(x - 3, 3), QPointF(x + 3, 9))
            painter.drawLine(QPointF(x - 3, 9), QPointF(x + 3, 3))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.warning)
        low = self._height - 3
        for x in self.places.under:
            painter.drawPolygon(
                QPolygonF([QPointF(x - 4, low - 6), QPointF(x + 4, low - 6), QPointF(x, low)])
            )


def thinned(places: list[float]) -> tuple[float, ...]:
    """Without those that stand too near to the one before."""
    found: list[float] = []
    for place in sorted(places):
        if not found or place - found[-1] >= NEAR:
            found.append(place)
    return tuple(found)
