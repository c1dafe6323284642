"""Lining up what stands on the canvas: align, distribute, snap, make room.

Pure: rectangles (x, y, width, height) by id go in; the upper left corners of those that move come out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Rect = tuple[float, float, float, float]
Point = tuple[float, float]
Edge = Literal["left", "centre", "right", "top", "middle", "bottom"]
Direction = Literal["horizontally", "vertically"]

LEAST_GAP = 24.0
ROOM = 72.0

# Which coordinate an edge is about, and how far along the side it lies.
_EDGES: dict[Edge, tuple[int, float]] = {
    "left": (0, 0.0),
    "centre": (0, 0.5),
    "right": (0, 1.0),
    "top": (1, 0.0),
    "middle": (1, 0.5),
    "bottom": (1, 1.0),
}


def align(rects: Mapping[str, Rect], edge: Edge) -> dict[str, Point]:
    """Bring one edge of all to where that edge of their whole is; "centre" and "middle" are in between."""
    if len(rects) < 2:
        return {}
    axis, part = _EDGES[edge]
    low = min(rect[axis] for rect in rects.values())
    high = max(rect[axis] + rect[axis + 2] for rect in rects.values())
    line = low + (high - low) * part
    return _moved(rects, {name: (axis, line - rect[axis + 2] * part) for name, rect in rects.items()})


def distribute(rects: Mapping[str, Rect], direction: Direction) -> dict[str, Point]:
    """Make the gaps between neighbours equal; the outermost stay, unless there is no room between them.

    Without room the first stays and the others follow at the least gap.
    """
    if len(rects) < 3:
        return {}
    axis = 0 if direction == "horizontally" else 1
    order = sorted(rects, key=lambda name: (_middle(rects[name], axis), name))
    first, last = rects[order[0]], rects[order[-1]]
    room = last[axis] + last[axis + 2] - first[axis]
    gap = (room - sum(rect[axis + 2] for rect in rects.values())) / (len(order) - 1)
    if gap < 0:
        gap = LEAST_GAP
    place, found = first[axis], {}
    for name in order:
        found[name] = (axis, place)
        place += rects[name][axis + 2] + gap
    return _moved(rects, found)


def snap(rects: Mapping[str, Rect], step: float) -> dict[str, Point]:
    """Bring every corner to the nearest point of a grid; ValueError unless `step` is above 0."""
    if not step > 0:
        raise ValueError("a grid needs a step above 0")
    found = {
        name: (round(rect[0] / step) * step, round(rect[1] / step) * step) for name, rect in rects.items()
    }
    return {name: place for name, place in found.items() if place != rects[name][:2]}


def make_room(rects: Mapping[str, Rect], newcomer: Rect, gap: float = ROOM) -> dict[str, Point]:
    """Push apart what stands where something new will stand, to the right and to the left of it.

    All that stands right of a pushed one goes with it, so that rows keep their distances; what is already
    clear of the newcomer stays.
    """
    left, top, wide, high = newcomer
    in_the_way = [
        rect
        for rect in rects.values()
        if rect[1] < top + high
        and top < rect[1] + rect[3]
        and rect[0] < left + wide + gap
        and left - gap < rect[0] + rect[2]
    ]
    centre = left + wide / 2
    after = [rect for rect in in_the_way if _middle(rect, 0) >= centre]
    before = [rect for rect in in_the_way if _middle(rect, 0) < centre]
    found: dict[str, tuple[int, float]] = {}
    if after:
        first = min(rect[0] for rect in after)
        push = left + wide + gap - first
        found.update((name, (0, rect[0] + push)) for name, rect in rects.items() if rect[0] >= first)
    if before:
        last = max(rect[0] + rect[2] for rect in before)
        push = last - (left - gap)
        found.update(
            (name, (0, rect[0] - push))
            for name, rect in rects.items()
            if rect[0] + rect[2] <= last and name not in found
        )
    return _moved(rects, found)


def _middle(rect: Rect, axis: int) -> float:
    return rect[axis] + rect[axis + 2] / 2


def _moved(rects: Mapping[str, Rect], wanted: Mapping[str, tuple[int, float]]) -> dict[str, Point]:
    """The corners of those whose coordinate changes."""
    found = {}
    for name, (axis, value) in wanted.items():
        x, y = rects[name][:2]
        place = (value, y) if axis == 0 else (x, value)
        if place != (x, y):
            found[name] = place
    return found
