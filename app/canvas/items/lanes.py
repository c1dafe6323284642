"""Setting wires apart that would run on top of each other.

Wires from one port may run together, as branches of one wire; wires from different ports may not.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from itertools import pairwise

from app.canvas.items.geometry import Point
from app.canvas.items.routing import STUB, Route

APART = 7.0  # least distance of two wires side by side
UPRIGHT = (0.0, 8.0, -8.0, 14.0, -14.0)
LEVEL = (0.0, 20.0, -20.0, 12.0, -12.0, 36.0, -36.0)
MOST = 120  # routed wires; a graph with more is too dense for this to help
_CELL = 16.0

Stretch = tuple[float, float, float, Hashable]  # where it lies, from, to, whose


class Ways:
    """The level or the upright stretches taken so far."""

    def __init__(self) -> None:
        self._cells: dict[int, list[Stretch]] = {}

    def take(self, at: float, start: float, end: float, owner: Hashable) -> None:
        low, high = min(start, end), max(start, end)
        self._cells.setdefault(int(at // _CELL), []).append((at, low, high, owner))

    def free(self, at: float, start: float, end: float, owner: Hashable) -> bool:
        """Whether a stretch keeps its distance from those of other owners."""
        low, high = min(start, end) - APART, max(start, end) + APART
        cell = int(at // _CELL)
        return not any(
            whose != owner and abs(where - at) < APART and low < upto and since < high
            for near in (cell - 1, cell, cell + 1)
            for where, since, upto, whose in self._cells.get(near, ())
        )


def set_apart(routes: Iterable[tuple[Hashable, Route]]) -> list[Route]:
    """The routes, in order, each moved aside where an earlier one of another owner runs already.

    Only corners are moved, never the ends; what has no room stays.
    """
    found = list(routes)
    if len(found) > MOST:
        return [route for _, route in found]
    level, upright = Ways(), Ways()
    return [_placed(route, owner, level, upright) for owner, route in found]


def _placed(route: Route, owner: Hashable, level: Ways, upright: Ways) -> Route:
    points = route.points
    if len(points) == 4:
        points = _one_turn(points, owner, upright)
    elif len(points) == 6:
        points = _lane(points, route.room, owner, level, upright)
    for a, b in pairwise(points):
        if abs(a[1] - b[1]) < 1:
            level.take(a[1], a[0], b[0], owner)
        else:
            upright.take(a[0], a[1], b[1], owner)
    return replace(route, points=points)


def _one_turn(points: tuple[Point, ...], owner: Hashable, upright: Ways) -> tuple[Point, ...]:
    start, (x, y1), (_, y2), end = points
    low, high = start[0] + STUB / 2, end[0] - STUB / 2
    for by in UPRIGHT:
        if low <= x + by <= high and upright.free(x + by, y1, y2, owner):
            return start, (x + by, y1), (x + by, y2), end
    return points


def _lane(
    points: tuple[Point, ...], room: float, owner: Hashable, level: Ways, upright: Ways
) -> tuple[Point, ...]:
    start, (out, y1), (_, y), (back, _), (_, y2), end = points
    y = next((y + by for by in LEVEL if abs(by) <= room and level.free(y + by, out, back, owner)), y)
    limit = STUB / 2
    out = next((out + by for by in UPRIGHT if by >= -limit and upright.free(out + by, y1, y, owner)), out)
    back = next((back + by for by in UPRIGHT if by <= limit and upright.free(back + by, y, y2, owner)), back)
    return start, (out, y1), (out, y), (back, y), (back, y2), end
