"""Where the columns stand, and how a long graph goes on in further rows of columns."""

from __future__ import annotations

from dataclasses import dataclass

from engine.layout.layers import Layered

GAP = 72.0  # from the right edge of a column to the next
WIDEST_GAP = 200.0
FEW_WIRES = 4  # that turn between two columns without more room
PER_WIRE = 8.0
BETWEEN_ROWS = 120.0
_LEVEL = 1.0


@dataclass
class Folding:
    """For every layer its left edge, and how much its row is moved down."""

    left: list[float]
    down: list[float]

    def place(self, plan: Layered, vertex: int, top: float) -> tuple[float, float]:
        """The corner of a vertex whose height is `top` before folding."""
        layer = plan.layer_of[vertex]
        return self.left[layer], top + self.down[layer]


def folded(plan: Layered, tops: list[float], width: float | None) -> Folding:
    """Return the places of the columns; a graph wider than `width` goes on below, again from the left.

    The columns of all rows stand above one another, so that wires can come down between them.
    """
    widths = [_width(plan, layer) for layer in plan.layers]
    gaps = [_gap(plan, layer, tops) for layer in plan.layers]
    rows = _cut(plan, widths, gaps, width)
    columns = max(len(row) for row in rows)
    left = [0.0] * (columns + 1)
    for column in range(columns):
        there = [row[column] for row in rows if column < len(row)]
        wide = max(widths[layer] for layer in there)
        left[column + 1] = left[column] + wide + max(gaps[layer] for layer in there)
    folding = Folding([0.0] * len(plan.layers), [0.0] * len(plan.layers))
    bottom = 0.0
    for row in rows:
        vertices = [vertex for layer in row for vertex in plan.layers[layer]]
        highest = min(tops[vertex] for vertex in vertices)
        down = bottom - highest
        for column, layer in enumerate(row):
            folding.left[layer], folding.down[layer] = left[column], down
        bottom = down + max(tops[vertex] + plan.height(vertex) for vertex in vertices) + BETWEEN_ROWS
    return folding


def _width(plan: Layered, layer: list[int]) -> float:
    return max((plan.sizes[vertex][0] for vertex in layer if not plan.is_point(vertex)), default=0.0)


def _gap(plan: Layered, layer: list[int], tops: list[float]) -> float:
    """The room after a column: more where many wires turn."""
    turning = len(
        {
            (vertex, piece.leaves)
            for vertex in layer
            for piece in plan.after[vertex]
            if abs(tops[vertex] + piece.leaves - tops[piece.end] - piece.enters) > _LEVEL
        }
    )
    return min(WIDEST_GAP, GAP + PER_WIRE * max(0, turning - FEW_WIRES))


def _cut(plan: Layered, widths: list[float], gaps: list[float], width: float | None) -> list[list[int]]:
    """The layers in rows; a row ends in its last third, where the fewest wires go on."""
    rows: list[list[int]] = []
    start, count = 0, len(plan.layers)
    while start < count:
        end, taken = start, 0.0
        while end < count and (width is None or end == start or taken + widths[end] <= width):
            taken += widths[end] + gaps[end]
            end += 1
        if end < count:
            earliest = start + max(1, (end - start) * 2 // 3)
            end = min(range(earliest, end + 1), key=lambda at: (_cost(plan, at), -at))
        rows.append(list(range(start, end)))
        start = end
    return rows


def _cost(plan: Layered, layer: int) -> int:
    return sum(len(plan.after[vertex]) for vertex in plan.layers[layer - 1])
