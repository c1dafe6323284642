"""What an axis spans, where its ticks stand, and what is written at them: few, and round."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10

import numpy as np
from numpy.typing import NDArray

FARTHEST = 1e300  # what an axis reaches to, and as an exponent the 300: beyond, numbers overflow
FAR_OUT = 1000.0  # times the reach of all the others: a value that would flatten them
CLOSEST, WIDEST = 1e-6, 10.0  # how far a whole span can be zoomed into, and away from
FEWEST = 3  # ticks that tell a scale: of two, nobody sees whether it is logarithmic
_ROUND_SECONDS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)


def log_ticks(low: float, high: float, room: int) -> list[float]:
    """Powers of ten as exponents between `low` and `high`; with 3s, or 2s and 5s, where there is room."""
    first, last = floor(low), ceil(high)
    for steps in ((1, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)) if last - first <= room + 1 else ():
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
    if whole >= 1e7:
        return f"{short(seconds / 3600)} h"
    if whole >= 3600:
        return f"{whole // 3600} h" if whole % 3600 == 0 else f"{whole // 3600}:{whole % 3600 // 60:02d} h"
    return f"{whole // 60} min" if whole % 60 == 0 else f"{whole // 60}:{whole % 60:02d}"


def short(value: float, digits: int = 3) -> str:
    """A round value for a narrow axis, in at least so many digits: `0.01`, `5e-4`, `2e6`."""
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e5:
        decimals = max(0, digits - 1 - floor(log10(abs(value))))
        text = f"{value:,.{decimals}f}"
        return text.rstrip("0").rstrip(".") if decimals else text
    mantissa, exponent = f"{value:.{max(1, digits - 2)}e}".split("e")
    return f"{float(mantissa):.{digits}g}e{int(exponent)}"


def fraction_ticks(low: float, high: float, room: int) -> list[float]:
    """Quarters, fifths or halves between `low` and `high` within 0 and 1, at most so many and one."""
    for parts in (10, 5, 4, 2, 1):
        ticks = [part / parts for part in range(parts + 1) if low <= part / parts <= high]
        if len(ticks) <= room + 1:
            return ticks
    return [0.0, 1.0]


def ticks(scale: str, low: float, high: float, room: int) -> list[float]:
    """Round ticks between `low` and `high`, about `room` of them and three at least.

    `scale` is "linear", "fraction" (parts of 1), "whole", "duration" (seconds), or "log" (exponents of ten).
    Whole numbers are parted where fewer than three of them are seen.
    """
    farthest = log10(FARTHEST) if scale == "log" else FARTHEST
    low, high = max(low, -farthest), min(high, farthest)
    if not low < high:
        return [low]
    for most in range(max(FEWEST, room), max(FEWEST, room) + FEWEST):
        if len(found := _round(scale, low, high, most)) >= FEWEST:
            return found
    if len(found := [tick for tick in round_ticks(low, high, 2 * FEWEST) if low <= tick <= high]) >= FEWEST:
        return found if scale != "fraction" else [tick for tick in found if 0 <= tick <= 1]
    return [low, low + (high - low) / 2, high]


def _round(scale: str, low: float, high: float, most: int) -> list[float]:
    if scale == "log":
        found = log_ticks(low, high, most)
        if len(found) < FEWEST and high - low < 1:  # no power of ten nor 2 or 5 of one lies there
            plain = [tick for tick in round_ticks(10.0**low, 10.0**high, most) if tick > 0]
            found = [tick for tick in map(log10, plain) if low <= tick <= high]
        return found
    if scale == "duration":
        return duration_ticks(low, high, most)
    if scale == "fraction":
        return fraction_ticks(low, high, most)
    return round_ticks(low, high, most, whole=scale == "whole")


def tick_texts(scale: str, values: Sequence[float]) -> list[str]:
    """What stands at ticks, in as many digits as tell them apart."""
    if scale == "duration":
        return [duration(value) for value in values]
    if scale == "log":
        values = [10.0 ** max(-307.0, min(value, 307.0)) for value in values]
    if scale == "fraction":
        values = [100 * value for value in values]
    if scale == "whole" and all(float(value).is_integer() and abs(value) < 1e7 for value in values):
        return [f"{value:,.0f}" for value in values]
    texts: list[str] = []
    for digits in range(3, 18):
        texts = [short(value, digits) for value in values]
        if len(set(texts)) == len(set(values)):
            break
    return [f"{text} %" for text in texts] if scale == "fraction" else texts


def robust_span(values: NDArray[np.floating]) -> tuple[float, float] | None:
    """The smallest and the largest finite value; without those so far out that they would flatten the rest.

    Up to a quarter of the values may be left out, where they lie a thousand times as far from the median as
    any other. None where no value is finite.
    """
    finite = np.sort(np.asarray(values, np.float64)[np.isfinite(values)]).clip(-FARTHEST, FARTHEST)
    if not finite.size:
        return None
    middle = finite[finite.size // 2 - (finite.size % 2 == 0)]
    order = np.argsort(np.abs(finite - middle), kind="stable")
    away = np.abs(finite - middle)[order]
    first = finite.size - max(1, finite.size // 4)
    for count in range(max(2, first), finite.size):
        reach = max(away[count - 1], abs(middle))
        if reach and away[count] > FAR_OUT * reach:
            finite = finite[order[:count]]
            break
    return float(finite.min()), float(finite.max())


def zoomed(
    span: tuple[float, float], at: float, factor: float, whole: tuple[float, float]
) -> tuple[float, float]:
    """A span made `factor` times as wide about `at`, within what an axis that `whole` fills may show."""
    size, room = span[1] - span[0], whole[1] - whole[0]
    least = max(CLOSEST * room, 1e-12 * max(abs(whole[0]), abs(whole[1])))
    factor = min(max(factor, least / size), max(1.0, WIDEST * room / size))
    return moved((at + (span[0] - at) * factor, at + (span[1] - at) * factor), 0.0, whole)


def moved(span: tuple[float, float], by: float, whole: tuple[float, float]) -> tuple[float, float]:
    """A span moved along its axis, not out of the neighbourhood of `whole`."""
    size, far = span[1] - span[0], WIDEST / 2 * (whole[1] - whole[0])
    low = min(max(span[0] + by, whole[0] - far), max(whole[0] - far, whole[1] + far - size))
    return low, low + size
