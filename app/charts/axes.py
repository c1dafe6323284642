"""Where the ticks of an axis stand, and what is written at them: few, and round."""

from __future__ import annotations

from math import ceil, floor, log10

from app.charts.plot import number

FEWEST = 3  # ticks that tell a scale: of two, nobody sees whether it is logarithmic
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


def fraction_ticks(low: float, high: float, room: int) -> list[float]:
    """Quarters, fifths or halves between `low` and `high` within 0 and 1, at most so many and one."""
    for parts in (10, 5, 4, 2, 1):
        ticks = [part / parts for part in range(parts + 1) if low <= part / parts <= high]
        if len(ticks) <= room + 1:
            return ticks
    return [0.0, 1.0]


def ticks(scale: str, low: float, high: float, room: int) -> list[float]:
    """Round ticks between `low` and `high`, about `room` of them and three at least where that can be.

    `scale` is "linear", "fraction" (parts of 1), "whole", "duration" (seconds), or "log" (exponents of ten).
    """
    found: list[float] = []
    for most in range(max(3, room), max(3, room) + FEWEST):
        if scale == "log":
            found = log_ticks(low, high, most)
            if len(found) < FEWEST and high - low < 1:  # no power of ten nor 2 or 5 of one lies there
                found = [log10(tick) for tick in round_ticks(10.0**low, 10.0**high, most) if tick > 0]
        elif scale == "duration":
            found = duration_ticks(low, high, most)
        elif scale == "fraction":
            found = fraction_ticks(low, high, most)
        else:
            found = round_ticks(low, high, most, whole=scale == "whole")
        if len(found) >= FEWEST:
            break
    return found


def tick_text(scale: str, value: float) -> str:
    """What stands at a tick."""
    if scale == "log":
        return short(float(f"{10.0**value:.6g}"))
    if scale == "duration":
        return duration(value)
    return f"{value:,.0f}" if scale == "whole" else short(round(value, 12))
