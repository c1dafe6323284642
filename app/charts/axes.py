"""Axes of the curve plots: few, round ticks in the monospace font, a faint line at each."""

from __future__ import annotations

from math import ceil, floor, log10
from typing import Any

import pyqtgraph as pg

from app.charts.picture import number
from app.theme import Theme

TICK = 10
_ROUND_SECONDS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)


def log_ticks(low: float, high: float, room: int) -> list[float]:
    """Powers of ten as exponents between `low` and `high`; with 3s, or 2s and 5s, where there is room."""
    first, last = floor(low), ceil(high)
    for steps in ((1, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        ticks = [decade + log10(step) for decade in range(first, last + 1) for step in steps]
        inside = [tick for tick in ticks if low <= tick <= high]
        if len(inside) <= room:
            return inside
    every = ceil((last - first) / max(1, room))
    return [float(decade) for decade in range(first, last + 1, every) if low <= decade <= high]


def round_ticks(low: float, high: float, room: int, *, whole: bool = False) -> list[float]:
    """Multiples of 1, 2, 3 or 5 times a power of ten between `low` and `high`, at most `room` of them."""
    span = high - low
    if span <= 0 or room < 1:
        return []
    rough = span / room
    power = 10.0 ** floor(log10(rough))
    step = next((power * factor for factor in (1, 2, 3, 5, 10) if power * factor >= rough), power * 10)
    if whole:
        step = max(1.0, round(step))
    return [index * step for index in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def duration_ticks(low: float, high: float, room: int) -> list[float]:
    """Round times in seconds between `low` and `high`."""
    step = next((step for step in _ROUND_SECONDS if (high - low) / step <= max(1, room)), None)
    if step is None or high - low < 2:
        return round_ticks(low, high, room)
    return [float(index * step) for index in range(ceil(low / step), floor(high / step) + 1)]


def duration(seconds: float) -> str:
    """`8 s`, `2 min`, `1:30`, `2 h`: as short as it can be said."""
    whole = round(seconds)
    if abs(seconds) < 60:
        return f"{seconds:g} s"
    if whole >= 3600:
        return f"{whole // 3600} h" if whole % 3600 == 0 else f"{whole // 3600}:{whole % 3600 // 60:02d} h"
    return f"{whole // 60} min" if whole % 60 == 0 else f"{whole // 60}:{whole % 60:02d}"


def short(value: float) -> str:
    """A round value for a narrow axis: `0.01`, `5e-4`, `2e6`."""
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return number(value)
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{float(mantissa):g}e{int(exponent)}"


class Axis(pg.AxisItem):
    """One axis; `mode` is "linear", "log" (values are exponents of ten), "whole" or "duration"."""

    def __init__(self, orientation: str) -> None:
        super().__init__(orientation, showValues=True, maxTickLength=0)
        self.mode = "linear"
        self.enableAutoSIPrefix(False)
        self._pixels = 64 if orientation == "bottom" else 30
        if orientation == "left":
            self.setWidth(46)
            self.setStyle(tickTextOffset=8)
        else:
            self.setHeight(20)
            self.setStyle(tickTextOffset=4, hideOverlappingLabels=False)

    def dress(self, theme: Theme) -> None:
        """Wear the theme's colours and fonts."""
        self.setTextPen(theme.dim)
        self.setPen(theme.line)
        self.setTickPen(theme.line)
        self.setTickFont(theme.mono(TICK))
        self.picture = None
        self.update()

    def tickValues(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, list[float]]]:
        low, high = sorted((minVal, maxVal))
        room = max(2, int(size // self._pixels))
        if self.mode == "log":
            ticks = log_ticks(low, high, room)
        elif self.mode == "duration":
            ticks = duration_ticks(low, high, room)
        else:
            ticks = round_ticks(low, high, room, whole=self.mode == "whole")
        step = ticks[1] - ticks[0] if len(ticks) > 1 else 1.0
        return [(step, ticks)]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        if self.mode == "log":
            return [short(10.0**value) for value in values]
        if self.mode == "duration":
            return [duration(value) for value in values]
        if self.mode == "whole":
            return [f"{value:,.0f}" for value in values]
        return [short(round(value, 12)) for value in values]

    def wheelEvent(self, event: Any) -> None:
        event.ignore()
