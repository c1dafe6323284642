"""A recurrent layer laid out over its steps: what goes in, and the state it hands on."""

from __future__ import annotations

from math import ceil

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from app.charts.colourmaps import SIGNED, limits, shade, to_image
from app.charts.plot import Plot, number
from app.theme import SMALL, Theme

ARROW = 14
LEAST, MOST = 30.0, 92.0  # pixels of a tile
BELOW, LABEL = 16.0, 13.0


class Unrolled(Plot):
    """States `(steps, units)` as tiles with arrows between, the inputs `(steps, features)` below them.

    Of long sequences evenly chosen steps are shown, the first and the last always.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._states: NDArray[np.floating] = np.empty((0, 1))
        self._inputs: NDArray[np.floating] = np.empty((0, 1))
        self._first = 0
        self._backwards = False
        self._tiles: list[QImage] = []
        self._below: list[QImage] = []
        self._scale = 1.0

    def show_states(
        self,
        states: NDArray[np.floating],
        inputs: NDArray[np.floating],
        *,
        first: int = 0,
        backwards: bool = False,
    ) -> None:
        """Show other states; steps count from `first`, arrows point back where a layer reads backwards."""
        self._states, self._inputs = states.astype(np.float32), inputs.astype(np.float32)
        self._first, self._backwards = first, backwards
        units = states.shape[1]
        side = ceil(units**0.5)
        padded = np.zeros((len(states), side * ceil(units / side)), np.float32)
        padded[:, :units] = self._states
        low, high = limits(self._states, signed=True)
        self._scale = high
        colours = shade(padded, SIGNED, low, high).reshape(len(states), -1, side)
        colours.reshape(len(states), -1)[:, units:] = 0
        self._tiles = [to_image(one) for one in colours]
        low, high = limits(self._inputs, signed=True)
        self._below = [to_image(shade(one[None], SIGNED, low, high)) for one in self._inputs]
        self._message = ""
        self.changed()

    @property
    def states(self) -> NDArray[np.floating]:
        """What is on screen."""
        return self._states

    @property
    def scale(self) -> float:
        """The largest size of a state, which has the darkest colour."""
        return self._scale

    def layout_of(self) -> tuple[list[int], int, float]:
        """The steps that are shown, how many stand in a row, and the side of a tile in pixels."""
        total = len(self._states)
        if not total:
            return [], 1, LEAST
        best: tuple[float, int, int] = (0.0, 1, 1)
        for across in range(1, total + 1):
            side = (self.width() + ARROW) / across - ARROW
            if side < LEAST and across > 1:
                break
            side = min(side, MOST)
            down = max(1, int((self.height() + 4) // (side + BELOW + LABEL + 4)))
            shown = min(total, across * down)
            if self.height() < side + BELOW + LABEL:
                side = max(LEAST, self.height() - BELOW - LABEL)
            best = max(best, (min(shown, 16) * 1000 + side, across, shown))
        _, across, shown = best
        side = min(MOST, (self.width() + ARROW) / across - ARROW, max(LEAST, self.height() - BELOW - LABEL))
        chosen = [round(at) for at in np.linspace(0, total - 1, shown)]
        return chosen, across, side

    def tile(self, place: int) -> QRectF:
        """Where the tile at a place stands."""
        _, across, side = self.layout_of()
        row, column = divmod(place, across)
        return QRectF(column * (side + ARROW), LABEL + row * (side + BELOW + LABEL + 4), side, side)

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        steps, _, side = self.layout_of()
        painter.setFont(theme.mono(SMALL))
        for place, step in enumerate(steps):
            tile = self.tile(place)
            if tile.bottom() > self.height() + 1:
                break
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            painter.drawImage(tile, self._tiles[step])
            painter.setPen(QPen(theme.line, 1))
            painter.drawRect(tile)
            painter.setPen(theme.dim)
            box = QRectF(tile.left(), tile.top() - LABEL, side, LABEL)
            painter.drawText(box, Qt.AlignmentFlag.AlignLeft, f"{self._first + step + 1}")
            below = QRectF(tile.left() + side * 0.2, tile.bottom() + 6, side * 0.6, 7)
            painter.drawImage(below, self._below[step])
            painter.drawRect(below)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            middle = tile.center().x()
            _arrow(painter, theme, QPointF(middle, below.top()), QPointF(middle, tile.bottom() + 1), 2.5)
            if place + 1 < len(steps) and self.tile(place + 1).top() == tile.top():
                start = QPointF(tile.right() + 2, tile.center().y())
                end = QPointF(tile.right() + ARROW - 2, tile.center().y())
                jumped = steps[place + 1] > step + 1
                ends = (end, start) if self._backwards else (start, end)
                _arrow(painter, theme, *ends, 3.5, dashed=jumped)

    def describe(self, at: QPoint) -> str:
        for place, step in enumerate(self.layout_of()[0]):
            if self.tile(place).adjusted(0, -LABEL, 0, BELOW).contains(at):
                state, given = self._states[step], self._inputs[step]
                words = f"step {self._first + step + 1}\nstate {number(float(state.min()))}"
                words += f" to {number(float(state.max()))}, length {number(float(np.linalg.norm(state)))}"
                told = ", ".join(number(float(value)) for value in given[:6])
                return f"{words}\ninput {told}{' …' if len(given) > 6 else ''}"
        return ""

    def sizeHint(self) -> QSize:
        return QSize(360, 160)


def _arrow(
    painter: QPainter, theme: Theme, start: QPointF, end: QPointF, size: float, *, dashed: bool = False
) -> None:
    painter.setPen(QPen(theme.dim, 1.2, Qt.PenStyle.DotLine if dashed else Qt.PenStyle.SolidLine))
    painter.drawLine(start, end)
    way = end - start
    length = max(1e-6, (way.x() ** 2 + way.y() ** 2) ** 0.5)
    along = QPointF(way.x() / length * size, way.y() / length * size)
    across = QPointF(-along.y() * 0.8, along.x() * 0.8)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.dim)
    painter.drawPolygon(QPolygonF([end, end - along + across, end - along - across]))
    painter.setBrush(Qt.BrushStyle.NoBrush)
