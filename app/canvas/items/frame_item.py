"""A frame on the canvas: a quiet coloured area around its members, with its title above."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from app.canvas.items.detail import READABLE, Detail
from app.canvas.items.geometry import Box
from app.canvas.items.text_fit import cut
from app.theme import SMALL, Theme, current_theme
from engine.document.dressing import COLOURS, Frame

FRAME_Z = -3.0
MARGIN = 14.0
TITLE = 20.0  # height of the strip above, by which a frame is grabbed
EDGE = 5.0  # how near to the outline counts as on it
RADIUS = 10.0
STEP = TITLE + MARGIN  # how much larger a frame around another one is
_FAMILIES = dict(zip(COLOURS, ("shape", "data", "dense", "convolution", "loss", "recurrent"), strict=True))


def frame_colour(theme: Theme, name: str) -> QColor:
    """The colour of a frame by its name; a name from another version looks like the first."""
    return theme.family(_FAMILIES.get(name, _FAMILIES[COLOURS[0]]))


class FrameItem(QGraphicsItem):
    """Shows a Frame around a box that its scene gives it."""

    def __init__(self, frame: Frame, box: Box, detail: Detail) -> None:
        super().__init__()
        self.frame = frame
        self.outline = QRectF()
        self.selected = False
        self._detail = detail
        self._title: tuple[str, float, int, str] | None = None
        self.setZValue(FRAME_Z)
        self.show_frame(frame, box, 0)

    def show_frame(self, frame: Frame, box: Box, depth: int) -> None:
        """Shows title and colour of a frame around `box`; `depth` counts the frames inside it."""
        left, top, right, bottom = box
        room = MARGIN + depth * STEP
        outline = QRectF(left - room, top - room, right - left + 2 * room, bottom - top + 2 * room)
        if outline != self.outline:
            self.prepareGeometryChange()
            self.outline = outline
            self.setZValue(FRAME_Z - min(depth, 50) / 100)
        if frame != self.frame:
            self.frame = frame
            self.update()

    def show_selected(self, selected: bool) -> None:
        if selected != self.selected:
            self.selected = selected
            self.update()

    def strip(self) -> QRectF:
        """The strip with the title, in scene coordinates."""
        return QRectF(self.outline.left(), self.outline.top() - TITLE, self.outline.width(), TITLE)

    def holds(self, point: QPointF) -> bool:
        """Whether a scene point is on the title or the outline; the inside belongs to the canvas."""
        if self.strip().contains(point):
            return True
        outer = self.outline.adjusted(-EDGE, -EDGE, EDGE, EDGE)
        inner = self.outline.adjusted(EDGE, EDGE, -EDGE, -EDGE)
        return outer.contains(point) and not inner.contains(point)

    def boundingRect(self) -> QRectF:
        return self.outline.adjusted(-2, -TITLE - 2, 2, 2)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        theme = current_theme()
        zoom = option.levelOfDetailFromTransform(painter.worldTransform())
        colour = frame_colour(theme, self.frame.colour)
        fill, line = QColor(colour), QColor(theme.accent if self.selected else colour)
        fill.setAlphaF(0.05 if theme.dark else 0.07)
        line.setAlphaF(1.0 if self.selected else 0.45)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, zoom >= self._detail.plates_below)
        pen = QPen(line, 1.5 if self.selected else 1.0)
        pen.setCosmetic(zoom < 1)
        painter.setPen(pen)
        painter.setBrush(fill)
        painter.drawRoundedRect(self.outline, RADIUS, RADIUS)
        size = round(max(SMALL, min(READABLE / zoom, 26.0)))
        self._paint_title(painter, theme, size)

    def _paint_title(self, painter: QPainter, theme: Theme, size: int) -> None:
        width = self.outline.width() - 12
        known = (self.frame.title, width, size)
        font = theme.font(size)
        if self._title is None or self._title[:3] != known:
            self._title = (*known, cut(self.frame.title, font, width))
        painter.setFont(font)
        painter.setPen(theme.text if self.selected else theme.dim)
        place = QRectF(self.outline.left() + 10, self.outline.top() - size - 8, width, size + 6)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, self._title[3])

    def restyle(self) -> None:
        """The theme, and so the fonts, may have changed."""
        self._title = None
        self.update()
