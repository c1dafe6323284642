"""A card of the gallery: the image of an example's result, its title, level and first sentence."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import QImage, QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from app.theme import current_theme
from app.widgets.labels import ElidedLabel, label
from app.window.gallery import Example
from engine.catalogue import Catalogue

CARD = QSize(252, 244)
IMAGE = QSize(226, 112)
_CORNER = 5


class Preview(QWidget):
    """The image of a result; where an example has none, a small drawing of its graph."""

    def __init__(self, example: Example, catalogue: Catalogue, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedHeight(IMAGE.height())
        self._example = example
        self._nodes = {node_id: QPointF(*place) for node_id, place in example.places.items()}
        types = {node_id: catalogue.get(type_id) for node_id, type_id in example.types.items()}
        self._families = {node_id: found.family if found else "other" for node_id, found in types.items()}
        self._image: tuple[str, QImage] = ("", QImage())

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = current_theme()
        if self._image[0] != theme.name:  # read when it is first on show: there are dozens
            self._image = theme.name, QImage(str(self._example.image(theme.name)))
        painter = QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.canvas)
        painter.drawRoundedRect(self.rect(), _CORNER, _CORNER)
        image = self._image[1]
        if image.isNull():
            self._paint_graph(painter)
        else:
            clip = QPainterPath()
            clip.addRoundedRect(QRectF(self.rect()), _CORNER, _CORNER)
            painter.setClipPath(clip)
            size = QSizeF(image.size()).scaled(QSizeF(self.size()), Qt.AspectRatioMode.KeepAspectRatio)
            place = QRectF(QPointF(), size)
            place.moveCenter(QRectF(self.rect()).center())
            painter.drawImage(place, image)
        painter.end()

    def _paint_graph(self, painter: QPainter) -> None:
        theme = current_theme()
        places = self._places()
        size = QSize(16, 10)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.wire, 1.2))
        for source, target in self._example.links:
            start = places[source] + QPointF(size.width() / 2, 0)
            end = places[target] - QPointF(size.width() / 2, 0)
            bend = max(8.0, abs(end.x() - start.x()) / 2)
            path = QPainterPath(start)
            path.cubicTo(start + QPointF(bend, 0), end - QPointF(bend, 0), end)
            painter.drawPath(path)
        painter.setPen(Qt.PenStyle.NoPen)
        for node_id, place in places.items():
            painter.setBrush(theme.family(self._families[node_id]))
            box = QRectF(
                place.x() - size.width() / 2, place.y() - size.height() / 2, size.width(), size.height()
            )
            painter.drawRoundedRect(box, 3, 3)

    def _places(self) -> dict[str, QPointF]:
        xs = [place.x() for place in self._nodes.values()]
        ys = [place.y() for place in self._nodes.values()]
        width, height = max(xs) - min(xs), max(ys) - min(ys)
        room = QRectF(self.rect()).adjusted(20, 16, -20, -16)
        scale = min(room.width() / max(width, 1.0), room.height() / max(height, 1.0), 0.25)
        middle = QPointF((max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2)
        return {node_id: (place - middle) * scale + room.center() for node_id, place in self._nodes.items()}


class Card(QFrame):
    """One example. Click or Enter opens it."""

    chosen = Signal(object)

    def __init__(self, example: Example, catalogue: Catalogue, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.example = example
        self.setObjectName("card")
        self.setAccessibleName(f"Example {example.title}")
        self.setAccessibleDescription(f"{example.level}. {example.line}" if example.level else example.line)
        self.setFixedSize(CARD)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        line = label(example.line, "small", wrap=True)
        line.setAlignment(Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 12, 12, 10)
        column.setSpacing(6)
        column.addWidget(Preview(example, catalogue))
        column.addWidget(ElidedLabel(example.title, "heading"))
        column.addWidget(line, 1)
        column.addWidget(label(example.level, "level"))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.chosen.emit(self.example.path)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit(self.example.path)
        else:
            super().keyPressEvent(event)
