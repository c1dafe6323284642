"""The numbers beside an axis, never cut: as many as there is room for, three at least."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter

from app.charts.axes import FEWEST, tick_texts, ticks
from app.theme import SMALL, Theme, current_theme

APART, BESIDE = 8, 6  # pixels between two numbers, and between a number and its axis
ACROSS, UP = 64, 30  # pixels for each tick, where there is room
HEIGHT = 15  # of a line of numbers

Span = tuple[float, float]
Ticks = list[tuple[float, str]]


@lru_cache(256)
def ticks_across(scale: str, span: Span, width: float) -> Ticks:
    """Ticks of a level axis with their numbers: so few that these stand beside each other."""
    metrics = QFontMetrics(current_theme().mono(SMALL))
    found: Ticks = []
    for room in range(max(FEWEST, int(width // ACROSS)), FEWEST - 1, -1):
        places = ticks(scale, *span, room)
        found = list(zip(places, tick_texts(scale, places), strict=True))
        if sum(metrics.horizontalAdvance(text) + APART for _, text in found) <= width:
            break
    return found


@lru_cache(256)
def ticks_up(scale: str, span: Span, height: float) -> Ticks:
    """Ticks of an upright axis with their numbers; three where more would stand on each other."""
    places = ticks(scale, *span, int(height // UP))
    reach = height * (places[-1] - places[0]) / ((span[1] - span[0]) or 1.0)
    if len(places) > FEWEST and (len(places) - 1) * (HEIGHT - 2) > reach:
        places = [places[0], places[len(places) // 2], places[-1]]
    return list(zip(places, tick_texts(scale, places), strict=True))


@lru_cache(256)
def room_of_numbers(scale: str, span: Span, height: float) -> int:
    """Pixels that the widest number of an upright axis takes beside it."""
    metrics = QFontMetrics(current_theme().mono(SMALL))
    return max(metrics.horizontalAdvance(text) for _, text in ticks_up(scale, span, height)) + BESIDE


def place(value: float, span: Span, start: float, length: float) -> float:
    """Where a value stands on an axis from `start` on; `length` is negative for one that goes up."""
    return start + (value - span[0]) * (length / ((span[1] - span[0]) or 1.0))


def paint_across(
    painter: QPainter, theme: Theme, area: QRectF, scale: str, span: Span, ends: tuple[float, float]
) -> None:
    """Write the numbers below an area; they stay between the pixels `ends`, and none stands on another."""
    painter.setFont(theme.mono(SMALL))
    painter.setPen(theme.dim)
    metrics, free = QFontMetrics(painter.font()), ends[0]
    for value, text in ticks_across(scale, span, area.width()):
        wide = metrics.horizontalAdvance(text)
        left = place(value, span, area.left(), area.width()) - wide / 2
        left = min(max(left, ends[0]), ends[1] - wide)
        if left >= free:
            box = QRectF(left, area.bottom() + 2, wide + 1, HEIGHT)
            painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
            free = left + wide + BESIDE


def paint_up(painter: QPainter, theme: Theme, area: QRectF, scale: str, span: Span) -> None:
    """Write the numbers to the left of an area, from its top edge to its bottom edge."""
    painter.setFont(theme.mono(SMALL))
    painter.setPen(theme.dim)
    align = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
    found = ticks_up(scale, span, area.height())
    taken: list[float] = []
    for value, text in (*found[:1], *found[-1:], *found[1:-1]):  # a number on another would be none
        y = place(value, span, area.bottom(), -area.height())
        if all(abs(y - other) >= HEIGHT - 4 for other in taken):
            painter.drawText(QRectF(0, max(0.0, y - HEIGHT / 2), area.left() - 5, HEIGHT), align, text)
            taken.append(y)
