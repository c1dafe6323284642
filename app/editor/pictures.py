"""Small pictures of what a node computes, at the size they have on the node."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter

from app.editor.geometry import TILE_GAP
from app.theme import current_theme
from app.views.colourmaps import GREY, VIRIDIS, limits, shade, to_image
from engine.run.feed import Snapshot

LARGEST_BAR = 8.0
SMALLEST_TILE = 16.0
CAPTION = 10
Array = NDArray[Any]


def picture_of(snapshot: Snapshot, room: tuple[float, float], *, data: bool, ratio: float) -> QImage | None:
    """Tiles for maps `(C, H, W)` and `(H, W)`, bars for vectors; None for what is no picture.

    `room` is the width and height there is, `ratio` the screen's device pixel ratio. A picture of data is
    grey and has its labels beside it.
    """
    array = np.asarray(snapshot.array)
    if array.size <= 1:
        return None
    maps = array[None] if array.ndim == 2 else array
    if maps.ndim != 3 or min(maps.shape[1:]) < 2:
        return _bars(array.reshape(-1), room, ratio)
    if room[1] < SMALLEST_TILE:
        return None
    if data:
        return _example(maps[:1], _labels(snapshot), room, ratio)
    count = max(1, int((room[0] + TILE_GAP) // (room[1] + TILE_GAP)))
    return _tiles(maps[:count], room[1], VIRIDIS, ratio)


def _labels(snapshot: Snapshot) -> list[str]:
    """The single numbers that come with an example, such as its class."""
    ports = snapshot.extra.get("ports", {})
    return [f"{name} {float(values.reshape(-1)[0]):g}" for name, values in ports.items() if values.size == 1]


def _example(maps: Array, labels: list[str], room: tuple[float, float], ratio: float) -> QImage:
    """One image of the data and what it is."""
    theme = current_theme()
    image = _blank(*room, ratio)
    painter = QPainter(image)
    painter.drawImage(QRectF(0, 0, room[1], room[1]), _tiles(maps, room[1], GREY, ratio))
    painter.setFont(theme.mono(CAPTION))
    painter.setPen(theme.dim)
    area = QRectF(room[1] + 8, 0, room[0] - room[1] - 8, room[1])
    painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, "\n".join(labels[:2]))
    painter.end()
    return image


def _tiles(maps: Array, size: float, table: Array, ratio: float) -> QImage:
    """Maps side by side, each shaded over the range they share."""
    low, high = limits(maps)
    side = round(size * ratio)
    image = _blank(len(maps) * size + (len(maps) - 1) * TILE_GAP, size, ratio)
    painter = QPainter(image)
    for index, values in enumerate(maps):
        tile = _scaled(to_image(shade(values, table, low, high)), side)
        painter.drawImage(QRectF(index * (size + TILE_GAP), 0, size, size), tile)
    painter.end()
    return image


def _scaled(image: QImage, side: int) -> QImage:
    # Enlarged pixels stay square, as an array's elements are; a picture that shrinks is averaged.
    grows = max(image.width(), image.height()) <= side
    mode = Qt.TransformationMode.FastTransformation if grows else Qt.TransformationMode.SmoothTransformation
    return image.scaled(side, side, Qt.AspectRatioMode.IgnoreAspectRatio, mode)


def _bars(values: Array, room: tuple[float, float], ratio: float) -> QImage:
    """A vector as bars over a zero line; a long one is shown by the largest of each stretch."""
    width, height = room
    most = max(2, int(width // 2.5))
    values = np.nan_to_num(np.asarray(values, dtype=np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    if len(values) > most:
        edges = np.linspace(0, len(values), most + 1).astype(int)
        stretches = [values[a:b] for a, b in pairwise(edges)]
        values = np.array([part[np.abs(part).argmax()] for part in stretches])
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    span = high - low or 1.0
    theme = current_theme()
    image = _blank(width, height, ratio)
    painter = QPainter(image)
    step = min(width / len(values), LARGEST_BAR)
    left = 0.0 if height > SMALLEST_TILE else width - step * len(values)
    zero = height * high / span
    below = QColor(theme.accent)
    below.setAlphaF(0.55)
    for index, value in enumerate(values):
        reach = height * value / span
        size = max(1.0, abs(reach))
        top = zero - size if value >= 0 else zero
        rect = QRectF(left + index * step, min(max(0.0, top), height - 1), max(1.0, step - 1), size)
        painter.fillRect(rect, theme.accent if value >= 0 else below)
    painter.end()
    return image


def _blank(width: float, height: float, ratio: float) -> QImage:
    image = QImage(round(width * ratio), round(height * ratio), QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(ratio)
    image.fill(Qt.GlobalColor.transparent)
    return image
