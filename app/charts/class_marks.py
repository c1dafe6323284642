"""Colours and shapes that tell classes apart for any colour vision."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from math import cos, pi, sin

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QTransform

from app.theme import Theme

# Okabe-Ito without black; blue and yellow in the tone that stands out on the theme.
_DARK = ("#56b4e9", "#e69f00", "#1fb088", "#f0e442", "#4a90d9", "#e8703a", "#cc79a7")
_LIGHT = ("#2f8fcf", "#d18f00", "#009e73", "#a89b00", "#0059a0", "#d55e00", "#b5588c")
SHAPES = ("circle", "square", "triangle", "diamond", "cross", "plus", "star", "down")


def class_colour(theme: Theme, index: int) -> QColor:
    """The colour of a class."""
    colours = _DARK if theme.dark else _LIGHT
    return QColor(colours[index % len(colours)])


def class_shape(index: int) -> str:
    """The shape of a class: seven colours and eight shapes give 56 that differ."""
    return SHAPES[index % len(SHAPES)]


@cache
def shape_path(shape: str, size: float) -> QPainterPath:
    """The outline of a shape about the origin, `size` pixels across."""
    half = size / 2
    path = QPainterPath()
    if shape == "circle":
        path.addEllipse(QPointF(0, 0), half, half)
    elif shape == "square":
        path.addRect(QRectF(-0.88 * half, -0.88 * half, 1.76 * half, 1.76 * half))
    elif shape in ("triangle", "down"):
        up = -1 if shape == "triangle" else 1
        _polygon(path, [(0, 1.15 * up * half), (half, -0.8 * up * half), (-half, -0.8 * up * half)])
    elif shape == "diamond":
        _polygon(path, [(0, -1.2 * half), (half, 0), (0, 1.2 * half), (-half, 0)])
    elif shape == "star":
        points = [
            (1.2 * half * r * sin(turn * pi / 5), -1.2 * half * r * cos(turn * pi / 5))
            for turn in range(10)
            for r in [1.0 if turn % 2 == 0 else 0.45]
        ]
        _polygon(path, points)
    else:  # cross and plus: bars a third as thick as they are long
        thin = half / 3
        bars = QPainterPath()
        bars.addRect(QRectF(-half, -thin, size, 2 * thin))
        other = QPainterPath()
        other.addRect(QRectF(-thin, -half, 2 * thin, size))
        path = bars.united(other)
        if shape == "cross":
            path = QTransform().rotate(45).map(path)
    return path


def paint_marks(
    painter: QPainter, theme: Theme, points: Iterable[tuple[float, float]], index: int, size: float
) -> None:
    """One mark of a class at each point, with an outline that keeps neighbours apart."""
    painter.setPen(QPen(theme.panel, 0.8))
    painter.setBrush(class_colour(theme, index))
    path = shape_path(class_shape(index), size)
    for x, y in points:
        painter.translate(x, y)
        painter.drawPath(path)
        painter.translate(-x, -y)


def _polygon(path: QPainterPath, points: list[tuple[float, float]]) -> None:
    path.moveTo(*points[0])
    for point in points[1:]:
        path.lineTo(*point)
    path.closeSubpath()
