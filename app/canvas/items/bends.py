"""The points a wire is led through: where a new one belongs, and how they go along with their nodes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise

from app.canvas.items.geometry import Point, finite
from engine.document.edits import SetBends
from engine.document.graph import Graph

BEND_RADIUS = 4.0


def with_bend(line: list[Point], bends: tuple[Point, ...], place: Point) -> tuple[Point, ...]:
    """The bends of a wire drawn as `line` with one more, in its order along the wire."""
    here = _along(line, place)
    before = sum(_along(line, bend) < here for bend in bends)
    return (*bends[:before], finite(place), *bends[before:])


def _along(line: list[Point], place: Point) -> float:
    """How far along a polyline the point nearest to `place` is."""
    best, walked, found = math.inf, 0.0, 0.0
    for a, b in pairwise(line):
        x, y = b[0] - a[0], b[1] - a[1]
        length = math.hypot(x, y)
        if length == 0:
            continue
        part = max(0.0, min(1.0, ((place[0] - a[0]) * x + (place[1] - a[1]) * y) / length**2))
        away = math.hypot(place[0] - a[0] - part * x, place[1] - a[1] - part * y)
        if away < best:
            best, found = away, walked + part * length
        walked += length
    return found


def carried_bends(graph: Graph, ids: Iterable[str], by: Point) -> list[SetBends]:
    """What keeps the bends of wires between moved nodes where they are beside them."""
    moved = set(ids)
    edits = []
    for node_id in moved:
        for link in graph.outgoing(node_id):
            points = graph.bends(link)
            if points and link.target in moved:
                edits.append(SetBends(link, tuple((x + by[0], y + by[1]) for x, y in points)))
    return edits
