"""The way of a wire: a plain curve where the space is free, otherwise around the nodes in between.

A wire leaves its source to the right and enters its target from the left. The route depends only on its two
ends and on the boxes inside `Route.reach`, so a scene can tell which wires an edit may have changed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainterPath

from app.canvas.items.geometry import Box, Point, grown, meet

CELL = 256.0
STUB = 26.0  # how far a wire runs straight before it may turn
CLEAR = 9.0  # kept between a wire and a node it passes
BEND = 34.0  # largest radius of a corner
NEAR_LANE = 30.0  # distance of an outer lane from the nodes it passes
WIDE_GAP = 180.0
SEARCH = 320.0  # how far above and below its ends a wire looks for a lane
FEW = 40  # boxes that are looked through faster than looked up
UNDER = 10_000.0  # a node under a wire is worse than any detour
_ARC = 0.5523


_NONE: frozenset[str] = frozenset()


class Boxes:
    """The boxes of all nodes in a grid of cells, for questions about a neighbourhood."""

    def __init__(self) -> None:
        self._boxes: dict[str, Box] = {}
        self._cells: dict[tuple[int, int], set[str]] = {}
        self.state = 0  # the same whenever the same boxes are in the same places

    def get(self, key: str) -> Box | None:
        return self._boxes.get(key)

    def items(self) -> Iterable[tuple[str, Box]]:
        return self._boxes.items()

    def all(self) -> dict[str, Box]:
        """Every box by node id; not to be changed."""
        return self._boxes

    def put(self, key: str, box: Box) -> None:
        """Adds or replaces a box."""
        before = self._boxes.get(key)
        if before is not None and _span_of(before) == _span_of(box):
            self.state ^= hash((key, before)) ^ hash((key, box))
            self._boxes[key] = box
            return
        self.drop(key)
        self._boxes[key] = box
        self.state ^= hash((key, box))
        for cell in _cells(box):
            self._cells.setdefault(cell, set()).add(key)

    def drop(self, key: str) -> None:
        """Forgets a box, if there is one."""
        box = self._boxes.pop(key, None)
        if box is None:
            return
        self.state ^= hash((key, box))
        for cell in _cells(box):
            keys = self._cells[cell]
            keys.discard(key)
            if not keys:
                del self._cells[cell]

    def near(self, area: Box) -> list[tuple[str, Box]]:
        """The boxes that meet `area`, in the order of their keys."""
        left, top, right, bottom = area
        columns = range(int(left // CELL), int(right // CELL) + 1)
        rows = range(int(top // CELL), int(bottom // CELL) + 1)
        boxes, cells = self._boxes, self._cells
        if len(columns) * len(rows) > 4 * len(cells):
            keys = set(boxes)
        else:
            keys = set()
            for column in columns:
                for row in rows:
                    keys |= cells.get((column, row), _NONE)
        found = []
        for key in keys:
            box = boxes[key]
            # `meet`, written out: routing many wires asks this tens of thousands of times
            if box[0] < right and left < box[2] and box[1] < bottom and top < box[3]:
                found.append((key, box))
        found.sort()
        return found


def _span_of(box: Box) -> tuple[int, int, int, int]:
    """The first and last column and row of the cells that a box touches."""
    left, top, right, bottom = box
    return int(left // CELL), int(top // CELL), int(right // CELL), int(bottom // CELL)


def _cells(box: Box) -> Iterator[tuple[int, int]]:
    left, top, right, bottom = _span_of(box)
    for column in range(left, right + 1):
        for row in range(top, bottom + 1):
            yield column, row


LABEL_WIDE, LABEL_HIGH = 24.0, 20.0  # half the width and the height that labels need beside a lane


@dataclass(frozen=True, slots=True)
class Route:
    """Corners of a wire from source to target; `curved` joins just two ends by one smooth curve.

    `reach` is the area whose nodes decided the route, `room` how far its lane may move up or down. A node
    right above the lane leaves its label room `under` it alone.
    """

    points: tuple[Point, ...]
    curved: bool
    reach: Box
    room: float = 0.0
    under: bool = False

    @property
    def bends(self) -> tuple[Point, ...]:
        """The points that a user has led the wire through."""
        return self.points[1:-1] if self.curved else ()

    def label_place(self) -> tuple[Point, float, bool]:
        """Where a label stands: its middle, the room for it, and whether the wire is level there."""
        if self.curved:
            (x1, y1), (x2, y2) = max(pairwise(self.points), key=_span)
            level = abs(y2 - y1) < 1
            return ((x1 + x2) / 2, (y1 + y2) / 2), x2 - x1 - (6 if level else 14), level
        stretches = [
            (abs(b[0] - a[0]), index, a, b)
            for index, (a, b) in enumerate(pairwise(self.points))
            if abs(a[1] - b[1]) < 1
        ]
        length, _, a, b = max(stretches)
        return ((a[0] + b[0]) / 2, a[1]), length - 20, True

    def shifted(self, by: Point) -> Route:
        """The same way elsewhere."""
        points = tuple((x + by[0], y + by[1]) for x, y in self.points)
        left, top, right, bottom = self.reach
        reach = (left + by[0], top + by[1], right + by[0], bottom + by[1])
        return Route(points, self.curved, reach, self.room, self.under)


def _span(stretch: tuple[Point, Point]) -> float:
    return stretch[1][0] - stretch[0][0]


def bent_route(start: Point, end: Point, bends: tuple[Point, ...]) -> Route:
    """The route through the points a user has set; it asks nothing of the nodes, so none can change it."""
    return Route((start, *bends, end), True, (*start, *start))


def find_route(start: Point, end: Point, boxes: Boxes, source: str, target: str) -> Route:
    """The route from `start` on node `source` to `end` on node `target`."""
    (x1, y1), (x2, y2) = start, end
    if x2 - x1 >= STUB * 0.75:
        area = grown((x1, min(y1, y2), x2, max(y1, y2)), CLEAR - 1)
        if all(key in (source, target) for key, _ in boxes.near(area)):
            return Route((start, end), True, area)
    left, right = min(x1, x2 - STUB - 8), max(x2, x1 + STUB + 8)
    area = (left - 60, min(y1, y2) - SEARCH, right + 60, max(y1, y2) + SEARCH)
    obstacles = boxes.near(area)
    ways = sorted((_length(points), points, room) for points, room in _candidates(start, end, obstacles))
    best: tuple[float, tuple[Point, ...], float] | None = None
    among = _Few(obstacles) if len(obstacles) <= FEW else _Many(boxes, area)
    for length, points, room in ways:
        if best is not None and length >= best[0]:
            break  # all that follow are longer even if they cross nothing
        most = inf if best is None else (best[0] - length) / UNDER
        cost = length + UNDER * _crossed(points, among, source, target, most)
        if best is None or cost < best[0]:
            best = (cost, points, room)
    if best is None:
        return Route((start, end), True, area)
    route = Route(best[1], False, area, best[2])
    return replace(route, under=_only_under(route, boxes))


def _only_under(route: Route, boxes: Boxes) -> bool:
    """Whether a node stands where a label over the lane would, and none where it would be under it."""
    (x, y), _, _ = route.label_place()
    over = (x - LABEL_WIDE, y - LABEL_HIGH, x + LABEL_WIDE, y - 1)
    under = (x - LABEL_WIDE, y + 1, x + LABEL_WIDE, y + LABEL_HIGH)
    return bool(boxes.near(over)) and not boxes.near(under)


def _candidates(
    start: Point, end: Point, obstacles: list[tuple[str, Box]]
) -> Iterator[tuple[tuple[Point, ...], float]]:
    (x1, y1), (x2, y2) = start, end
    boxes = [box for _, box in obstacles]
    if x2 - x1 >= 2 * STUB:
        if abs(y1 - y2) < 1:
            yield (start, end), 0.0
        else:
            turns = {x1 + STUB, x2 - STUB, (x1 + x2) / 2}
            for box in boxes:
                turns.update((box[0] - STUB, box[2] + STUB))
            for x in sorted(turns):
                if x1 + STUB / 2 <= x <= x2 - STUB / 2:
                    yield (start, (x, y1), (x, y2), end), 0.0
    out, back = x1 + STUB, x2 - STUB
    for y, room in _lanes(boxes, min(out, back), max(out, back), y1, y2):
        yield (start, (out, y1), (out, y), (back, y), (back, y2), end), room


def _lanes(boxes: list[Box], left: float, right: float, y1: float, y2: float) -> list[Point]:
    """Heights from `left` to `right` where no box is in the way, each with the room above and below it.

    They are the middles of the gaps between rows of boxes, and both outsides.
    """
    spans = sorted((box[1], box[3]) for box in boxes if box[0] < right + CLEAR and box[2] > left - CLEAR)
    outside = NEAR_LANE - CLEAR
    if not spans:
        return [((y1 + y2) / 2, abs(y1 - y2) / 4)]
    lanes = [(spans[0][0] - NEAR_LANE, outside)]
    bottom = spans[0][1]
    for top, below in spans[1:]:
        gap = top - bottom
        if gap > WIDE_GAP:
            lanes += [(bottom + NEAR_LANE, outside), (top - NEAR_LANE, outside)]
        if gap > 2 * CLEAR:
            lanes.append(((bottom + top) / 2, gap / 2 - CLEAR - 1))
        bottom = max(bottom, below)
    lanes.append((bottom + NEAR_LANE, outside))
    return lanes


def _length(points: tuple[Point, ...]) -> float:
    """The length of a way, with each bend counted as some way more."""
    bends = 40.0 * (len(points) - 2)
    return bends + sum(abs(b[0] - a[0]) + abs(b[1] - a[1]) for a, b in pairwise(points))


class _Few:
    """Some boxes, looked through one by one."""

    def __init__(self, obstacles: list[tuple[str, Box]]) -> None:
        self._obstacles = obstacles

    def near(self, stretch: Box) -> list[tuple[str, Box]]:
        left, top, right, bottom = stretch
        return [
            found
            for found in self._obstacles
            if (box := found[1])[0] < right and left < box[2] and box[1] < bottom and top < box[3]
        ]


class _Many:
    """All boxes that meet an area, looked up by place: a wire across a large graph passes most of them by."""

    def __init__(self, boxes: Boxes, area: Box) -> None:
        self._boxes = boxes
        self._area = area

    def near(self, stretch: Box) -> list[tuple[str, Box]]:
        return [found for found in self._boxes.near(stretch) if meet(found[1], self._area)]


def _crossed(points: tuple[Point, ...], among: _Few | _Many, source: str, target: str, most: float) -> int:
    """How many times a way comes too near to a node; its own two do not count where it ends.

    Gives up counting once it is no less than `most`.
    """
    last = len(points) - 2
    found = 0
    for index, (a, b) in enumerate(pairwise(points)):
        stretch = grown((min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1])), CLEAR)
        for key, _ in among.near(stretch):
            found += not ((index == 0 and key == source) or (index == last and key == target))
        if found >= most:
            break
    return found


def curve(start: Point, end: Point) -> QPainterPath:
    """One smooth wire between two points, leaving to the right and arriving from the left."""
    (x1, y1), (x2, y2) = start, end
    path = QPainterPath(QPointF(x1, y1))
    if abs(y1 - y2) < 0.5 and x2 > x1:
        path.lineTo(x2, y2)
        return path
    across, down = x2 - x1, abs(y2 - y1)
    # Backwards only a wire that is still being drawn comes here; its loops stay small.
    pull = (
        max(across / 2, min(80.0, down / 2, 40.0 + across)) if across > 0 else min(120.0, 30.0 - across / 4)
    )
    path.cubicTo(x1 + pull, y1, x2 - pull, y2, x2, y2)
    return path


def path_of(route: Route) -> QPainterPath:
    """The route as it is drawn: corners rounded."""
    points = route.points
    if route.curved and len(points) > 2:
        return _through(points)
    if route.curved:
        return curve(points[0], points[-1])
    path = QPainterPath(QPointF(*points[0]))
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        _round(path, before, corner, after, first=before == points[0], last=after == points[-1])
    path.lineTo(*points[-1])
    return path


def _through(points: tuple[Point, ...]) -> QPainterPath:
    """One smooth line through all points, leaving to the right and arriving from the left."""
    path = QPainterPath(QPointF(*points[0]))
    before = points[0]
    leaving = (1.0, 0.0)
    for index, (here, after) in enumerate(zip(points[1:], (*points[2:], None), strict=True)):
        arriving = (1.0, 0.0) if after is None else _direction(points[index], after)
        pull = math.hypot(here[0] - before[0], here[1] - before[1]) * 0.4
        path.cubicTo(
            before[0] + leaving[0] * pull,
            before[1] + leaving[1] * pull,
            here[0] - arriving[0] * pull,
            here[1] - arriving[1] * pull,
            *here,
        )
        before, leaving = here, arriving
    return path


def _direction(a: Point, b: Point) -> Point:
    x, y = b[0] - a[0], b[1] - a[1]
    length = math.hypot(x, y)
    return (x / length, y / length) if length else (1.0, 0.0)


def _round(
    path: QPainterPath, before: Point, corner: Point, after: Point, *, first: bool, last: bool
) -> None:
    one = abs(corner[0] - before[0]) + abs(corner[1] - before[1])
    two = abs(after[0] - corner[0]) + abs(after[1] - corner[1])
    # A stretch between two corners is shared by both; the first and the last belong to one alone.
    radius = min(BEND, one if first else one / 2, two if last else two / 2)
    if radius < 1:
        path.lineTo(*corner)
        return
    a = _towards(corner, before, radius)
    b = _towards(corner, after, radius)
    path.lineTo(*a)
    path.cubicTo(*_towards(a, corner, radius * _ARC), *_towards(b, corner, radius * _ARC), *b)


def _towards(start: Point, goal: Point, distance: float) -> Point:
    x, y = goal[0] - start[0], goal[1] - start[1]
    length = max(abs(x), abs(y), 1e-9)
    return start[0] + x / length * distance, start[1] + y / length * distance
