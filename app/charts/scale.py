"""The strip that says which number a colour stands for."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter

from app.charts.colourmaps import LEVELS, Table, to_image
from app.charts.plot import number
from app.theme import SMALL, Theme

WIDTH = 66  # of the strip and its numbers, "-1.2e-5" the longest
NEGLIGIBLE = 1e-4  # of the largest: what no colour can show is called zero
NARROWEST = 220  # a plot that is narrower has no room for it


def paint_scale(
    painter: QPainter, theme: Theme, left: float, area: QRectF, table: Table, marks: list[tuple[float, str]]
) -> None:
    """The colours from the bottom to the top of `area`, with text at fractions of its height."""
    strip = QRectF(left, area.top(), 8, max(8.0, area.height()))
    image = to_image(np.asarray(table[::-1]).reshape(LEVELS, 1).copy())
    painter.drawImage(strip, image)
    painter.setFont(theme.mono(SMALL))
    painter.setPen(theme.dim)
    for fraction, text in marks:
        y = strip.bottom() - fraction * strip.height()
        top = min(max(strip.top(), y - 7), strip.bottom() - 14)
        box = QRectF(strip.right() + 5, top, WIDTH - 14, 14)
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)


def ends(low: float, high: float) -> list[tuple[float, str]]:
    """Marks for the smallest and the largest number, and for zero or the middle between them."""
    middle = 0.0 if low < 0 < high else (low + high) / 2
    fraction = (middle - low) / (high - low) if high > low else 0.5
    least = NEGLIGIBLE * max(abs(low), abs(high))
    return [(at, _short(value, least)) for at, value in ((0.0, low), (fraction, middle), (1.0, high))]


def _short(value: float, least: float) -> str:
    return number(0.0 if abs(value) < least else value).replace("e-0", "e-").replace("e+0", "e")
