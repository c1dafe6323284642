"""What a stroke does to drawn points: plain functions of values, without a window."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, hypot, log10
from random import Random

from nodes.data.drawn import DrawnPoints

Point = tuple[float, float, int]
Span = tuple[float, float]


def rounded(x: float, y: float, across: Span, up: Span) -> tuple[float, float]:
    """A place with as many decimals as a thousandth of the axes needs."""
    return _rounded(x, across), _rounded(y, up)


def _rounded(value: float, span: Span) -> float:
    return round(value, 3 - floor(log10(abs(span[1] - span[0]) or 1.0))) + 0.0  # no -0.0


def strewn(
    x: float, y: float, reach: Span, count: int, across: Span, up: Span, draw: Random
) -> list[tuple[float, float]]:
    """`count` places about (x, y), normal with a deviation of half the reach, all of them on the pad."""
    found: list[tuple[float, float]] = []
    while len(found) < count:
        place = (x + draw.gauss(0, reach[0] / 2), y + draw.gauss(0, reach[1] / 2))
        if across[0] <= place[0] <= across[1] and up[0] <= place[1] <= up[1]:
            found.append(rounded(*place, across, up))
    return found


def rubbed(points: Sequence[Point], x: float, y: float, reach: Span) -> list[Point]:
    """The points that lie outside the brush at (x, y)."""
    return [point for point in points if hypot((point[0] - x) / reach[0], (point[1] - y) / reach[1]) > 1]


def far_enough(one: tuple[float, float], other: tuple[float, float], step: Span) -> bool:
    """Whether a drag has come far enough for another point: `step` is a length in values along each axis."""
    return hypot((one[0] - other[0]) / step[0], (one[1] - other[1]) / step[1]) >= 1


def spanning(points: Sequence[Point], across: Span, up: Span) -> tuple[Span, Span]:
    """Axes that hold all points, with a twentieth to spare on a side that had to move."""
    return _span([point[0] for point in points], across), _span([point[1] for point in points], up)


def _span(values: Sequence[float], now: Span) -> Span:
    low, high = min([*values, now[0]]), max([*values, now[1]])
    spare = (high - low) / 20
    return (
        _rounded(low - spare, (low, high)) if low < now[0] else now[0],
        _rounded(high + spare, (low, high)) if high > now[1] else now[1],
    )


def points_of(made: DrawnPoints) -> tuple[Point, ...]:
    """The points that can be shown; what is none of a file edited by hand stays in the document."""
    found = []
    for point in made.points:
        numbers = [one for one in point if isinstance(one, (int, float))]
        if len(point) == len(numbers) == 3:
            x, y, kind = numbers
            found.append((float(x), float(y), int(kind)))
    return tuple(found)
