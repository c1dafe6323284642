"""The whole graph in a corner, drawn from the boxes of the nodes."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.canvas.items.frame_item import frame_colour
from app.canvas.overlay import EDGE
from app.canvas.scene.canvas import Canvas
from app.theme import current_theme, themes

SIZE = QSize(128, 80)
INNER = 10.0
SMALLEST_PLATE = 3.0
ROUNDED = 5.0  # the height from which round corners can be seen
LARGEST_SCALE = 0.14


class Minimap(QWidget):
    """Shows where the viewport is; a press or drag moves it there."""

    def __init__(self, view: Canvas, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("minimap")
        self.setFixedSize(SIZE)
        self.setToolTip("Click to go there")
        self._view = view
        self._plates: QImage | None = None
        self._plates_of = QRectF()  # the part of the scene that lies on the image
        view.graph_scene.arranged.connect(self.forget)
        themes.theme_changed.connect(self.forget)

    def forget(self) -> None:
        """The nodes have changed, or their colours: draw them again."""
        self._plates = None
        self.update()

    def settle(self) -> None:
        """Goes back to its corner after the canvas changed its size."""
        room = self._view.size()
        self.move(room.width() - self.width() - EDGE, room.height() - self.height() - EDGE)

    def world(self) -> QRectF:
        """The part of the scene that the map shows: the graph, and the viewport if that is near it."""
        bounds = self._view.extent
        if bounds is None:
            return QRectF()
        shown = self._view.visible_rect()
        if shown.contains(bounds):
            return bounds
        roomy = bounds.adjusted(
            -bounds.width() - 400, -bounds.height() - 400, bounds.width() + 400, bounds.height() + 400
        )
        return bounds.united(shown.intersected(roomy))

    def placing(self, world: QRectF) -> tuple[float, QPointF]:
        """How the scene lies on the map: multiply by the first, add the second."""
        room = QRectF(INNER, INNER, self.width() - 2 * INNER, self.height() - 2 * INNER)
        fitting = min(room.width() / max(world.width(), 1.0), room.height() / max(world.height(), 1.0))
        scale = min(LARGEST_SCALE, fitting)
        corner = room.center() - world.center() * scale
        return scale, corner

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = current_theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.line, 1))
        painter.setBrush(theme.panel)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        world = self.world()
        if world.isNull():
            return
        scale, corner = self.placing(world)
        if self._plates is None:
            self._plates, self._plates_of = self._drawn()
        # Where the viewport leaves the graph the map shows more: the same plates, smaller.
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        on_map = QRectF(self._plates_of.topLeft() * scale + corner, self._plates_of.size() * scale)
        painter.drawImage(on_map, self._plates)
        shown = self._view.visible_rect()
        if not shown.contains(world):
            frame = QRectF(shown.topLeft() * scale + corner, shown.size() * scale)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.faint, 1))
            painter.drawRoundedRect(frame.intersected(QRectF(self.rect()).adjusted(2, 2, -2, -2)), 2, 2)

    def _drawn(self) -> tuple[QImage, QRectF]:
        """Nodes as plates, frames as outlines, and the part of the scene that they are drawn on.

        They are drawn once until one moves: panning repaints the map often.
        """
        scale, corner = self.placing(self._view.extent or QRectF())
        ratio = self.devicePixelRatioF()
        image = QImage(self.size() * ratio, QImage.Format.Format_ARGB32_Premultiplied)
        image.setDevicePixelRatio(ratio)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme, items = current_theme(), self._view.graph_scene.node_items
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for frame in self._view.graph_scene.dressing.frames.values():
            colour = QColor(frame_colour(theme, frame.frame.colour))
            colour.setAlphaF(0.4)
            painter.setPen(QPen(colour, 1))
            area = frame.outline
            painter.drawRect(QRectF(area.topLeft() * scale + corner, area.size() * scale))
        painter.setPen(Qt.PenStyle.NoPen)
        plates: dict[str, list[QRectF]] = {}
        x, y = corner.x(), corner.y()
        for node_id, (left, top, right, bottom) in self._view.graph_scene.boxes.items():
            width = max(SMALLEST_PLATE, (right - left) * scale)
            height = max(SMALLEST_PLATE, (bottom - top) * scale)
            plate = QRectF(x + left * scale, y + top * scale, width, height)
            plates.setdefault(items[node_id].face.family, []).append(plate)
        for family, rects in plates.items():
            colour = QColor(theme.family(family))
            colour.setAlphaF(0.8)
            painter.setBrush(colour)
            if rects[0].height() < ROUNDED:
                painter.drawRects(rects)
                continue
            for rect in rects:
                painter.drawRoundedRect(rect, 2, 2)
        painter.end()
        return image, QRectF(-corner / scale, QSizeF(self.size()) / scale)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._go(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._go(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def _go(self, event: QMouseEvent) -> None:
        world = self.world()
        if not world.isNull():
            scale, corner = self.placing(world)
            self._view.navigation.centre_on((event.position() - corner) / scale)
        event.accept()
