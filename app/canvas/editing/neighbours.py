"""The next node in a direction, for walking the graph with the arrow keys."""

from __future__ import annotations

from collections.abc import Mapping

from app.canvas.items.geometry import Box, Point
from engine.values import natural

SIDEWAYS = 3.0  # a step aside counts as so many straight ahead


def nearest(boxes: Mapping[str, Box], start: str | None, way: Point) -> str | None:
    """The node nearest to `start` in the direction `way`; from nowhere, the first of the graph."""
    if start is None or start not in boxes:
        return min(boxes, key=natural, default=None)
    x, y = _middle(boxes[start])
    best: tuple[float, str] | None = None
    for node_id, box in boxes.items():
        bx, by = _middle(box)
        ahead = (bx - x) * way[0] + (by - y) * way[1]
        aside = abs((bx - x) * way[1]) + abs((by - y) * way[0])
        if node_id == start or ahead <= 1:
            continue
        cost = ahead + SIDEWAYS * aside
        if best is None or (cost, natural(node_id)) < (best[0], natural(best[1])):
            best = (cost, node_id)
    return best[1] if best is not None else None


def _middle(box: Box) -> Point:
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
