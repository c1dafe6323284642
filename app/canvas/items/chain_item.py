"""The faint line between two nodes that use the same weights."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from app.canvas.items.detail import Detail
from app.canvas.items.geometry import Box
from app.theme import current_theme

CHAIN_Z = -2.0
_LINK = (9.0, 6.0)  # one link of the chain sign


class ChainItem(QGraphicsItem):
    """A dotted line from one node to another, with a small chain in its middle."""

    def __init__(self, node_id: str, other: str, detail: Detail) -> None:
        super().__init__()
        self.node_id, self.other = node_id, other
        self._detail = detail
        self._ends = (QPointF(), QPointF())
        self.setZValue(CHAIN_Z)

    def join(self, other: str, here: Box, there: Box) -> None:
        """Leads from the node at `here` to the one at `there`, between the sides that face each other."""
        self.other = other
        ends = _facing(here, there)
        if ends != self._ends:
            self.prepareGeometryChange()
            self._ends = ends

    @property
    def ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Where the line starts and ends, in scene coordinates."""
        a, b = self._ends
        return (a.x(), a.y()), (b.x(), b.y())

    def boundingRect(self) -> QRectF:
        return QRectF(*self._ends).normalized().adjusted(-12, -8, 12, 8)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        theme = current_theme()
        near = option.levelOfDetailFromTransform(painter.worldTransform()) >= self._detail.plates_below
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, near)
        pen = QPen(theme.faint, 1.4, Qt.PenStyle.DotLine, Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.drawLine(*self._ends)
        if not near:
            return
        middle = (self._ends[0] + self._ends[1]) / 2
        plate = QColor(theme.canvas)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(plate)
        painter.drawEllipse(middle, 11, 7)
        painter.setPen(QPen(theme.dim, 1.4))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        wide, high = _LINK
        for shift in (-wide + 1.5, -1.5):
            link = QRectF(middle.x() + shift, middle.y() - high / 2, wide, high)
            painter.drawRoundedRect(link, high / 2, high / 2)


def _facing(here: Box, there: Box) -> tuple[QPointF, QPointF]:
    """The middles of the sides of two boxes that face each other."""
    across = (there[0] + there[2] - here[0] - here[2]) / 2
    down = (there[1] + there[3] - here[1] - here[3]) / 2
    if abs(down) >= abs(across) / 3:
        one, other = (here[3], there[1]) if down > 0 else (here[1], there[3])
        return QPointF((here[0] + here[2]) / 2, one), QPointF((there[0] + there[2]) / 2, other)
    one, other = (here[2], there[0]) if across > 0 else (here[0], there[2])
    return QPointF(one, (here[1] + here[3]) / 2), QPointF(other, (there[1] + there[3]) / 2)
