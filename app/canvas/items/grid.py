"""The dots behind the graph."""

from __future__ import annotations

import math
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QTransform

from app.canvas.items.geometry import GRID
from app.theme import current_theme

CLOSEST = 14.0  # screen pixels between dots
_DOT = 1.5
_BLOCK = 64


def paint_grid(painter: QPainter, rect: QRectF) -> None:
    """Fills the exposed part of the canvas and draws the dots that fall into it."""
    theme = current_theme()
    painter.fillRect(rect, theme.canvas)
    transform = painter.worldTransform()
    zoom = transform.m11()
    if not zoom > 0:
        return
    step = GRID
    while step * zoom < CLOSEST:
        step *= 2
    # Rows begin at every 64th column whatever part is repainted, so that rounding is the same each time.
    left = math.floor(rect.left() / step / _BLOCK) * _BLOCK
    columns = math.ceil((rect.right() / step - left + 1) / _BLOCK) * _BLOCK
    if columns > 4000:
        return
    top = math.floor(rect.top() / step)
    rows = math.ceil(rect.height() / step) + 2
    # Drawn in device pixels, a row at a time: dots stay crisp at any zoom, and a row costs one blit.
    ratio = painter.device().devicePixelRatio()
    pitch = step * zoom
    row = _row(columns, round(pitch, 4), ratio, theme.grid.name())
    painter.save()
    painter.setWorldTransform(QTransform())
    for index in range(top, top + rows):
        corner = transform.map(QPointF(left * step, index * step))
        painter.drawImage(QPointF(round(corner.x()) - 1, round(corner.y()) - 1), row)
    painter.restore()


@lru_cache(maxsize=32)
def _row(columns: int, pitch: float, ratio: float, colour: str) -> QImage:
    width = math.ceil(columns * pitch * ratio)
    # An image, not a pixmap: the cache outlives the application, and a pixmap must not.
    image = QImage(max(1, width), math.ceil(3 * ratio), QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(ratio)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    dot = QColor(colour)
    for index in range(columns):
        painter.fillRect(QRectF(round(index * pitch), 0, _DOT, _DOT), dot)
    painter.end()
    return image
