"""Small pictures of what a node computes, at the size they have on the node."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter

from app.editor.geometry import TILE, TILE_GAP, TILES
from app.theme import current_theme
from app.views.colourmaps import GREY, VIRIDIS, limits, shade, to_image
from engine.run.feed import Snapshot

SMALL_TILE = 22.0
BARS_WIDTH = 44.0
BARS_HEIGHT = 26.0
MOST_BARS = 22
Array = NDArray[Any]


def picture_of(snapshot: Snapshot, *, tall: bool, data: bool, ratio: float) -> QImage | None:
    """Tiles for maps `(C, H, W)` and `(H, W)`, bars for vectors; None for what is no picture.

    Tall nodes have room for three tiles, the others for one; `ratio` is the screen's device pixel ratio.
    """
    array = np.asarray(snapshot.array)
    if array.size == 0:
        return None
    if array.ndim == 1 and array.size > 1:
        width = TILES * TILE + (TILES - 1) * TILE_GAP if tall else BARS_WIDTH
        return _bars(array, width, TILE if tall else BARS_HEIGHT, ratio)
    maps = array[None] if array.ndim == 2 else array
    if maps.ndim != 3 or min(maps.shape[1:]) < 2:
        return _bars(maps.reshape(-1), BARS_WIDTH, BARS_HEIGHT, ratio) if maps.size > 1 else None
    size, count = (TILE, TILES) if tall else (SMALL_TILE, 1)
    return _tiles(maps[:count], size, GREY if data else VIRIDIS, ratio)


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


def _bars(values: Array, width: float, height: float, ratio: float) -> QImage:
    """A vector as bars over a zero line; a long one is shown by the largest of each stretch."""
    values = np.nan_to_num(np.asarray(values, dtype=np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    if len(values) > MOST_BARS:
        edges = np.linspace(0, len(values), MOST_BARS + 1).astype(int)
        stretches = [values[a:b] for a, b in pairwise(edges)]
        values = np.array([part[np.abs(part).argmax()] for part in stretches])
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    span = high - low or 1.0
    theme = current_theme()
    image = _blank(width, height, ratio)
    painter = QPainter(image)
    step = min(width / len(values), 8.0)
    left = width - step * len(values)
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
