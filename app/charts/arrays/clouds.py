"""Clouds of points and small graphs, a few side by side."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app.charts.class_marks import class_colour
from app.charts.colourmaps import SIGNED, limits, shade
from app.charts.plot import Plot
from app.theme import SMALL, Theme

MOST = 12
CAPTION = 16


class Clouds(Plot):
    """Points (n, 2 or 3) a cell, joined by edges (k, 2) where there are some; farther points are fainter."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._clouds: list[NDArray[Any]] = []
        self._edges: list[NDArray[Any]] = []
        self._captions: list[str] = []
        self._colours: list[NDArray[Any] | None] = []
        self._ringed: list[NDArray[Any]] = []
        self._values: list[NDArray[Any]] = []

    def show_clouds(
        self,
        clouds: list[NDArray[Any]],
        captions: list[str],
        edges: list[NDArray[Any]] | None = None,
        classes: Sequence[NDArray[Any] | None] | None = None,
        ringed: Sequence[NDArray[Any]] | None = None,
        values: Sequence[NDArray[Any]] | None = None,
    ) -> None:
        """Show these, at most MOST; `classes` (n,) are numbers of classes, coloured alike.

        `ringed` (n,) says which points have a ring. With `values` (n,) those above 0 are red, below it blue.
        """
        self._values = list(values or ())[:MOST]
        self._clouds = clouds[:MOST]
        self._captions = captions[:MOST]
        self._edges = (edges or [np.empty((0, 2), int)] * len(clouds))[:MOST]
        self._colours = list(classes or [None] * len(clouds))[:MOST]
        self._ringed = list(ringed or ())[:MOST]
        self._message = ""
        self.changed()

    @property
    def shown(self) -> list[NDArray[Any]]:
        """The points of each cell."""
        return self._clouds

    @property
    def values(self) -> list[NDArray[Any]]:
        """What colours the points of each cell, if numbers do."""
        return self._values

    @property
    def captions(self) -> list[str]:
        """What stands above each cell."""
        return self._captions

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        count = len(self._clouds)
        if not count:
            return
        wide, high = max(1, self.width()), max(1, self.height())
        columns = min(count, max(1, ceil(sqrt(count * wide / high))))
        rows = ceil(count / columns)
        cell = wide / columns, high / rows
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for at in range(count):
            room = QRectF(at % columns * cell[0], at // columns * cell[1], cell[0] - 8, cell[1] - 6)
            painter.setFont(theme.font(SMALL))
            painter.setPen(theme.dim)
            top = CAPTION if self._captions[at] else 0
            caption = painter.fontMetrics().elidedText(
                self._captions[at], Qt.TextElideMode.ElideRight, int(room.width())
            )
            painter.drawText(QRectF(room.left(), room.top(), room.width(), CAPTION), 0, caption)
            self._draw(painter, theme, at, room.adjusted(6, top + 6, -6, -4))

    def _draw(self, painter: QPainter, theme: Theme, at: int, room: QRectF) -> None:
        points = self._clouds[at]
        if not len(points) or room.width() < 8 or room.height() < 8:
            return
        low, high = points.min(0), points.max(0)
        sizes = np.maximum((high - low)[:2].astype(float), 1e-9)
        scales = np.array([room.width(), room.height()]) / sizes
        if not len(self._edges[at]):  # where nodes of a graph lie means nothing, but shapes keep their form
            scales[:] = min(room.width(), room.height()) / sizes.max()
        middle = (low + high) / 2
        across = room.center().x() + (points[:, 0] - middle[0]) * scales[0]
        down = room.center().y() - (points[:, 1] - middle[1]) * scales[1]
        near = np.ones(len(points))
        if points.shape[1] > 2:
            near = 0.35 + 0.65 * (points[:, 2] - low[2]) / max(float(high[2] - low[2]), 1e-9)
        painter.setPen(QPen(theme.wire, 1))
        painter.drawLines(
            [
                QLineF(across[a], down[a], across[b], down[b])
                for a, b in self._edges[at]
                if max(a, b) < len(points)
            ]
        )
        painter.setPen(Qt.PenStyle.NoPen)
        classes = self._colours[at]
        radius = max(1.2, min(4.0, 24 / sqrt(len(points))))
        shades = (
            shade(self._values[at], SIGNED, *limits(self._values[at], signed=True)) if self._values else None
        )
        if shades is not None:  # the shade of 0 is that of the ground
            painter.setPen(QPen(theme.wire, 0.5))
        for index in range(len(points)):
            if shades is None:
                colour = QColor(theme.accent if classes is None else class_colour(theme, int(classes[index])))
                colour.setAlphaF(float(near[index]))
            else:
                colour = QColor.fromRgba(int(shades[index]))
            painter.setBrush(colour)
            painter.drawEllipse(QPointF(across[index], down[index]), radius, radius)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.bad, 1.5))
        for wrong in np.flatnonzero(self._ringed[at]).tolist() if self._ringed else ():
            painter.drawEllipse(QPointF(across[wrong], down[wrong]), radius + 2.5, radius + 2.5)

    def sizeHint(self) -> QSize:
        return QSize(320, 160)
