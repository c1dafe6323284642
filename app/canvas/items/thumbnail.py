"""Small thumbnails of what a node computes: tiles of maps, or bars of a vector."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QImage, QPainter

from app.canvas.items.geometry import TILE, TILE_GAP
from app.charts.arrays.class_maps import palette
from app.charts.colourmaps import GREY, VIRIDIS, limits, opaque, shade, to_image
from app.theme import Theme, current_theme
from app.workspace.token_words import are_tokens, running_text
from engine.feed.feed import Snapshot

NARROWEST_BAR, LARGEST_BAR = 3.5, 8.0  # a bar and the gap beside it
SMALLEST_TILE = 16.0
SEEN_GAP = 3.0  # screen pixels between tiles from afar, at least: maps are as dark as the node they lie on
FINEST = 64  # pixels a side; a larger map is averaged down once, not at every repaint
CAPTION = 10
LINE, LETTER = 13.0, 6.1  # of its text
Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """Tiles in their own resolution, or bars, to be painted into a room of `width` and `height`.

    `lines` of a text take the place of the bars where words can be read.
    """

    width: float
    height: float
    tiles: tuple[QImage, ...] = ()
    above: tuple[QRectF, ...] = ()
    below: tuple[QRectF, ...] = ()
    caption: str = ""
    lines: tuple[str, ...] = ()

    def paint(self, painter: QPainter, corner: QPointF, theme: Theme, *, words: bool = True) -> None:
        """Draws it with its upper left corner at `corner`; a map's values stay sharp squares at any zoom."""
        painter.save()
        painter.translate(corner)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        side = self.height
        gap = max(TILE_GAP, SEEN_GAP / painter.worldTransform().m11())
        for index, tile in enumerate(self.tiles):
            drawn = side + TILE_GAP - gap
            painter.drawImage(QRectF(index * (side + TILE_GAP), 0, drawn, drawn), tile)
        if self.lines and words:
            painter.setFont(theme.mono(CAPTION))
            painter.setPen(theme.dim)
            for index, line in enumerate(self.lines):
                area = QRectF(0, index * LINE, self.width, LINE)
                painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, line)
            painter.restore()
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)  # or bars of 2.5 pixels would be 2 or 3 wide
        painter.setPen(Qt.PenStyle.NoPen)
        for bars, alpha in ((self.above, 1.0), (self.below, 0.55)):
            colour = QColor(theme.accent)
            colour.setAlphaF(alpha)
            painter.setBrush(colour)
            painter.drawRects(bars)
        if self.caption and words:
            painter.setFont(theme.mono(CAPTION))
            painter.setPen(theme.dim)
            area = QRectF(side + 8, 0, self.width - side - 8, side)
            told = caption_in(self.caption, painter.fontMetrics(), area.width())
            painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, told)
        painter.restore()


def caption_in(caption: str, metrics: QFontMetrics, room: float) -> str:
    """A caption that fits: a line too long goes without the port's name, and is cut if need be."""
    lines = []
    for line in caption.split("\n"):
        short = line if metrics.horizontalAdvance(line) <= room else line.partition(" ")[2] or line
        lines.append(metrics.elidedText(short, Qt.TextElideMode.ElideRight, int(room)))
    return "\n".join(lines)


def thumbnail_of(
    snapshot: Snapshot,
    room: tuple[float, float],
    *,
    data: bool = False,
    classes: Mapping[str, tuple[str, ...]] | None = None,
) -> Thumbnail | None:
    """Tiles for maps `(C, H, W)` and `(H, W)`, bars for vectors; None for what is no thumbnail.

    `room` is the width and height there is. A thumbnail of data is grey, or in the colours of its three
    channels, and has its labels beside it, by the names of their `classes` {port: names}.
    """
    array = np.asarray(snapshot.array)
    if array.size <= 1:
        return None
    if snapshot.extra.get("rows") and array.ndim == 2:  # of the nodes of a graph: their mean
        array = array.mean(axis=0)
    maps = array[None] if array.ndim == 2 else array
    if maps.ndim != 3 or min(maps.shape[1:]) < 2:
        bars = _bars(array.reshape(-1), *room)
        names = (classes or {}).get(str(snapshot.extra.get("port", "")), ())
        if data and are_tokens(array.shape, names) and room[1] >= LINE:
            return replace(bars, lines=_lines(running_text(array, names), *room))
        return bars
    if room[1] < SMALLEST_TILE:
        return None
    mask = _mask(snapshot, maps.shape[1:], classes or {}) if data else None
    if mask is not None:
        colours = _coloured(maps[:3]) if len(maps) in (3, 4) else shade(maps[0], GREY, *limits(maps[:1]))
        return Thumbnail(room[0], room[1], (_tile(colours), mask))
    if data and len(maps) in (3, 4):
        return Thumbnail(
            room[0], room[1], (_tile(_coloured(maps[:3])),), caption=_labels(snapshot, classes or {})
        )
    count = 1 if data else max(1, int((room[0] + TILE_GAP) // (room[1] + TILE_GAP)))
    shown = maps[:count]
    low, high = limits(shown)
    tiles = tuple(_tile(shade(values, GREY if data else VIRIDIS, low, high)) for values in shown)
    width = room[0] if data else len(tiles) * (room[1] + TILE_GAP) - TILE_GAP
    return Thumbnail(width, room[1], tiles, caption=_labels(snapshot, classes or {}) if data else "")


def _mask(
    snapshot: Snapshot, sides: tuple[int, ...], classes: Mapping[str, tuple[str, ...]]
) -> QImage | None:
    """The class of each pixel of an image in colours, where a port of its classes comes with it."""
    for name, values in (snapshot.extra.get("ports") or {}).items():
        if classes.get(name) and np.shape(values) == sides:
            table = palette(current_theme(), len(classes[name]))
            found = np.asarray(values).round().astype(np.int64)
            rgb = (255 * table[np.where(found < 0, len(table) - 1, found.clip(max=len(table) - 1))]).round()
            return to_image(opaque(*np.moveaxis(rgb, 2, 0)))
    return None


def _coloured(channels: Array) -> NDArray[np.uint32]:
    """Red, green and blue (3, H, W) as colours (H, W); what leaves 0..1 is brought into it, alike for all."""
    low, high = float(np.nanmin(channels)), float(np.nanmax(channels))
    low, high = (0.0, 1.0) if low >= 0 and high <= 1 else (low, high if high > low else low + 1)
    return opaque(*(255 * np.nan_to_num((channels - low) / (high - low))))


def _tile(colours: NDArray[np.uint32]) -> QImage:
    image = to_image(colours)
    if max(image.width(), image.height()) <= FINEST:
        return image
    smooth = Qt.TransformationMode.SmoothTransformation
    return image.scaled(FINEST, FINEST, Qt.AspectRatioMode.KeepAspectRatio, smooth)


def _labels(snapshot: Snapshot, classes: Mapping[str, tuple[str, ...]]) -> str:
    """The single numbers that come with an example, such as its class; two at most."""
    ports = snapshot.extra.get("ports", {})
    found = []
    for name, values in ports.items():
        if values.size == 1:
            value, known = float(values.reshape(-1)[0]), classes.get(name, ())
            named = value.is_integer() and 0 <= value < len(known)
            found.append(f"{name} {known[int(value)]}" if named else f"{name} {value:g}")
    return "\n".join(found[:2])


def _lines(text: str, width: float, height: float) -> tuple[str, ...]:
    """A text in lines that fit; what is left over is cut off."""
    shown = textwrap.wrap(text.strip(), max(4, int(width // LETTER)), drop_whitespace=True)
    return tuple(shown[: int(height // LINE)])


def _bars(values: Array, width: float, height: float) -> Thumbnail:
    """A vector as bars about a zero line; a long one is shown by the largest of each stretch."""
    values = np.nan_to_num(np.asarray(values, dtype=np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    most = max(2, int(width // NARROWEST_BAR))
    if len(values) > most:
        edges = np.linspace(0, len(values), most + 1).astype(int)
        stretches = [values[a:b] for a, b in pairwise(edges)]
        values = np.array([part[np.abs(part).argmax()] for part in stretches])
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    unit = height / (high - low or 1.0)
    zero = high * unit
    step = min(width / len(values), LARGEST_BAR)
    left = 0.0 if height >= TILE else width - step * len(values)  # a strip begins where its summary does
    above: list[QRectF] = []
    below: list[QRectF] = []
    for index, value in enumerate(values):
        size = max(1.0, abs(float(value)) * unit)
        top = zero - size if value >= 0 else zero
        bar = QRectF(left + index * step, min(max(0.0, top), height - 1), max(1.0, step - 1), size)
        (above if value >= 0 else below).append(bar)
    return Thumbnail(width, height, above=tuple(above), below=tuple(below))
