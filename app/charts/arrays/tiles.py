"""Many small maps side by side, drawn as one image: the activations of a layer."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app.charts.colourmaps import SIGNED, VIRIDIS, Table, limits, shade, to_image
from app.charts.plot import Plot, number
from app.theme import Theme

SMALLEST = 10  # logical pixels of a tile's short side
LARGEST = 200


class Grid(NamedTuple):
    """Where tiles stand: columns and rows, the size of a tile in pixels, how many of them fit."""

    columns: int
    rows: int
    tile_width: int
    tile_height: int
    shown: int


def lay_out(
    count: int,
    map_height: int,
    map_width: int,
    width: int,
    height: int,
    gap: int,
    smallest: int,
    largest: int,
) -> Grid:
    """The grid with the largest tiles, all alike and of the maps' proportions, that holds as many as fit."""
    if count < 1 or width < 1 or height < 1:
        return Grid(1, 1, 1, 1, 0)
    aspect = map_width / map_height
    fitting = []
    for columns in range(1, count + 1):
        rows = ceil(count / columns)
        tile_width = (width - gap * (columns - 1)) // columns
        if tile_width < 1:
            break
        tile_height = min(int(tile_width / aspect), (height - gap * (rows - 1)) // rows)
        if min(tile_height, tile_height * aspect) >= smallest:
            fitting.append(Grid(columns, rows, max(1, int(tile_height * aspect)), tile_height, count))
    best = max(fitting, key=_size, default=None)
    if best is not None:  # rather whole rows of somewhat smaller tiles than a ragged last row
        whole = [grid for grid in fitting if count % grid.columns == 0]
        neat = max(whole, key=_size, default=best)
        best = neat if _size(neat) >= 0.8 * _size(best) else best
    if best is None:  # not all of them fit: as many as do, at the smallest size
        tile_height = smallest if aspect >= 1 else max(1, int(smallest / aspect))
        tile_width = max(1, min(width, int(tile_height * aspect)))
        tile_height = max(1, min(tile_height, height))
        columns = max(1, (width + gap) // (tile_width + gap))
        rows = max(1, (height + gap) // (tile_height + gap))
        return Grid(columns, rows, tile_width, tile_height, min(count, columns * rows))
    short = min(best.tile_width, best.tile_height)
    if short > largest:
        scale = largest / short
        tile_width, tile_height = int(best.tile_width * scale), int(best.tile_height * scale)
        columns = min(count, max(best.columns, (width + gap) // (tile_width + gap)))
        return Grid(columns, ceil(count / columns), tile_width, tile_height, count)
    return best


def _size(grid: Grid) -> int:
    return grid.tile_height


def mosaic(colours: NDArray[np.uint32], grid: Grid, gap: int) -> NDArray[np.uint32]:
    """One `(height, width)` image of the `(tiles, h, w)` colours, transparent between the tiles."""
    count, map_height, map_width = colours.shape
    rows_at = (np.arange(grid.tile_height) * map_height) // grid.tile_height
    columns_at = (np.arange(grid.tile_width) * map_width) // grid.tile_width
    cells = np.zeros(
        (grid.rows * grid.columns, grid.tile_height + gap, grid.tile_width + gap), dtype=np.uint32
    )
    count = min(count, grid.shown, len(cells))
    cells[:count, : grid.tile_height, : grid.tile_width] = colours[
        :count, rows_at[:, None], columns_at[None, :]
    ]
    joined = cells.reshape(grid.rows, grid.columns, *cells.shape[1:]).transpose(0, 2, 1, 3)
    whole = joined.reshape(grid.rows * cells.shape[1], grid.columns * cells.shape[2])
    return whole[: whole.shape[0] - gap, : whole.shape[1] - gap]


def shrink(maps: NDArray[np.floating], height: int, width: int) -> NDArray[np.floating]:
    """The mean over blocks of `(n, h, w)` maps that are more than twice as large as they will be drawn."""
    down = max(1, maps.shape[1] // max(1, height))
    across = max(1, maps.shape[2] // max(1, width))
    if down == 1 and across == 1:
        return maps
    trimmed = maps[:, : maps.shape[1] // down * down, : maps.shape[2] // across * across]
    blocks = trimmed.reshape(len(maps), trimmed.shape[1] // down, down, trimmed.shape[2] // across, across)
    return np.asarray(blocks.mean(axis=(2, 4)))


class Tiles(Plot):
    """Maps `(n, h, w)` as tiles of one plot; a click enlarges one, another or Esc brings all back."""

    enlarged = Signal(int)  # index of the enlarged tile, -1 for none

    def __init__(
        self,
        parent: QWidget | None = None,
        *,
        table: Table = VIRIDIS,
        noun: str = "channel",
        smallest: int = SMALLEST,
    ) -> None:
        super().__init__(parent)
        self._table = table
        self._noun = noun
        self._smallest = smallest
        self._maps: NDArray[np.floating] | None = None
        self._low, self._high = 0.0, 1.0
        self._one = -1
        self._hovered = -1
        self._grid = Grid(1, 1, 1, 1, 0)
        self._gap = 3
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)

    def show_maps(self, maps: NDArray[np.floating]) -> None:
        """Show `(n, h, w)` maps on one common scale, or a single `(h, w)` map."""
        if maps.ndim == 2:
            maps = maps[None]
        if self._maps is None or self._maps.shape != maps.shape:
            self._one = -1
            self._hovered = -1
        self._maps = maps
        self._low, self._high = limits(maps, signed=self._table is SIGNED)
        self._message = ""
        self.changed()

    def set_table(self, table: Table) -> None:
        """Colour the maps by another table."""
        if table is not self._table:
            self._table = table
            self.changed()

    @property
    def scale(self) -> tuple[float, float]:
        """The values of the first and the last colour."""
        return self._low, self._high

    @property
    def shown(self) -> int:
        """How many tiles had room at the last paint."""
        return self._grid.shown

    @property
    def enlarged_index(self) -> int:
        """The tile that is shown alone, -1 for none."""
        return self._one

    def enlarge(self, index: int) -> None:
        """Show one tile alone; -1 shows all again."""
        if index != self._one:
            self._one = index
            self.enlarged.emit(index)
            self.changed()

    def build(self, width: int, height: int, ratio: float) -> QImage | None:
        maps = self._maps
        if maps is None or not maps.size:
            return None
        if self._one >= 0:
            maps = maps[self._one : self._one + 1]
        self._gap = int(3 * ratio) if min(maps.shape[1:]) > 5 else int(2 * ratio)
        largest = 10_000 if self._one >= 0 or len(maps) == 1 else int(LARGEST * ratio)
        count, map_height, map_width = maps.shape
        smallest = int(self._smallest * ratio)
        grid = lay_out(count, map_height, map_width, width, height, self._gap, smallest, largest)
        grid = self.fitted(grid, width, height, ratio)
        self._grid = grid
        if not grid.shown:
            return None
        first = max(0, self._one)
        return to_image(mosaic(self.colours(first, first + grid.shown, grid), grid, self._gap))

    def fitted(self, grid: Grid, width: int, height: int, ratio: float) -> Grid:
        """The grid in a plot of so many pixels, for kinds of maps that need not keep their proportions."""
        return grid

    def colours(self, first: int, end: int, grid: Grid) -> NDArray[np.uint32]:
        """The maps from `first` to before `end` in colour, hardly larger than tiles of the grid."""
        assert self._maps is not None
        maps = shrink(self._maps[first:end], grid.tile_height, grid.tile_width)
        return shade(maps, self._table, self._low, self._high)

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        if self._hovered >= 0 and self._one < 0 and self._maps is not None and len(self._maps) > 1:
            painter.setPen(QPen(QColor(theme.accent), 1.5))
            painter.drawRect(self._tile_rect(self._hovered))

    def describe(self, at: QPoint) -> str:
        index = self.tile_at(at)
        if index < 0 or self._maps is None:
            return ""
        tile = self._maps[index]
        finite = tile[np.isfinite(tile)]
        text = f"{self._noun} {index + 1} of {len(self._maps)}"
        if finite.size:
            text += f"\nmean {number(float(finite.mean()))} · min {number(float(finite.min()))}"
            text += f" · max {number(float(finite.max()))}"
        if finite.size < tile.size:
            text += f"\n{tile.size - finite.size} values are not finite"
        if len(self._maps) > 1:
            text += "\nclick to see all again" if self._one >= 0 else "\nclick to enlarge"
        return text

    def tile_at(self, at: QPoint) -> int:
        """Index of the tile at a point, -1 for none."""
        if self._maps is None or not self._grid.shown:
            return -1
        if self._one >= 0:
            return self._one if self._tile_rect(0).contains(at) else -1
        ratio = self.devicePixelRatioF()
        column = int(at.x() * ratio // (self._grid.tile_width + self._gap))
        row = int(at.y() * ratio // (self._grid.tile_height + self._gap))
        index = row * self._grid.columns + column
        inside = 0 <= column < self._grid.columns and 0 <= row < self._grid.rows and index < self._grid.shown
        return index if inside else -1

    def _tile_rect(self, index: int) -> QRectF:
        ratio = self.devicePixelRatioF()
        row, column = divmod(index, self._grid.columns)
        wide, high = self._grid.tile_width, self._grid.tile_height
        return QRectF(
            column * (wide + self._gap) / ratio, row * (high + self._gap) / ratio, wide / ratio, high / ratio
        )

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._maps is not None and len(self._maps) > 1:
            index = self.tile_at(event.position().toPoint())
            self.enlarge(-1 if self._one >= 0 else index)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self.tile_at(event.position().toPoint()))

    def leaveEvent(self, event: object) -> None:
        self._hover(-1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._one >= 0:
            self.enlarge(-1)
        else:
            super().keyPressEvent(event)

    def _hover(self, index: int) -> None:
        if index != self._hovered:
            self._hovered = index
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(320, 160)
