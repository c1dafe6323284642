"""How high every node stands: chains are level, passing wires run straight, nothing comes too near.

Vertices that one straight line joins form a row and move together, as the blocks of Brandes and Köpf
(2001) do; rows are then drawn to where their wires lead.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf

from engine.layout.layers import Layered, LayoutCancelled, Piece

APART = 40.0  # between two nodes: a wire still fits through
BESIDE_WIRE = 22.0  # between a node and a wire that passes
BETWEEN_WIRES = 14.0
SWEEPS = 16
GATHER = 4  # every so many sweeps, rows that touch are moved together
TALLEST = 2.0  # times the height of the tallest layer
_TOUCH = 0.5
_PASSING, _CHAINS, _ALL_ROWS = 0, 1, 2


@dataclass
class _Row:
    """Vertices on one line, each so far below the row's own height, and what they are tied to."""

    y: float = 0.0
    above: list[tuple[int, float]] = field(default_factory=list)  # row, least distance to it
    below: list[tuple[int, float]] = field(default_factory=list)
    pulls: list[tuple[int, float, float]] = field(default_factory=list)  # row, distance wished for, weight


def heights(plan: Layered, cancelled: Callable[[], bool]) -> list[float]:
    """Return the height of every vertex's top."""
    limit = TALLEST * max(_stacked(plan, layer) for layer in plan.layers)
    # Long rows that each lie above the next make stairs of a graph with many long wires: then only what
    # must be straight is.
    for kinds in (_ALL_ROWS, _CHAINS):
        tops = _solved(plan, kinds, cancelled, limit)
        if tops is not None and _height(plan, tops) <= limit:
            return tops
    tops = _solved(plan, _PASSING, cancelled, inf)
    assert tops is not None
    return tops


def _height(plan: Layered, tops: list[float]) -> float:
    return max(top + plan.height(vertex) for vertex, top in enumerate(tops)) - min(tops)


def _stacked(plan: Layered, layer: list[int]) -> float:
    """How high a layer is at least."""
    rooms = sum(_room(plan, upper, lower) for upper, lower in pairwise(layer))
    return rooms + sum(plan.height(vertex) for vertex in layer)


def _solved(plan: Layered, kinds: int, cancelled: Callable[[], bool], limit: float) -> list[float] | None:
    """The tops with rows of these kinds; None if they stand higher than `limit` however close they are."""
    row_of, offset = _rows(plan, kinds)
    rows = _tied(plan, row_of, offset)
    order = _from_top(rows)
    for index in order:
        rows[index].y = max((rows[up].y + least for up, least in rows[index].above), default=0.0)
    if max(row.y for row in rows) > limit:
        return None
    for turn in range(SWEEPS):
        if cancelled():
            raise LayoutCancelled()
        for index in order if turn % 2 else reversed(order):
            _draw(rows, index)
        if turn % GATHER == GATHER - 1:
            _gather(rows)
    return [round(rows[row_of[vertex]].y) + offset[vertex] for vertex in range(len(row_of))]


def _rows(plan: Layered, kinds: int) -> tuple[list[int], list[float]]:
    """The row of every vertex, and how far below the row's height the vertex lies."""
    place = {vertex: index for layer in plan.layers for index, vertex in enumerate(layer)}
    row_of = [-1] * len(plan.layer_of)
    offset = [0.0] * len(plan.layer_of)
    rows = 0
    for layer in plan.layers:
        mate = _mates(plan, layer, place, kinds)
        for vertex in layer:
            if row_of[vertex] < 0:
                row_of[vertex], rows = rows, rows + 1
            piece = mate.get(vertex)
            if piece is not None:
                row_of[piece.end] = row_of[vertex]
                offset[piece.end] = offset[vertex] + _step(plan, piece)
    return row_of, offset


def _mates(plan: Layered, layer: list[int], place: dict[int, int], kinds: int) -> dict[int, Piece]:
    """The one piece that goes on level from each vertex of a layer; no two of them cross."""
    wanted = sorted(
        (piece for vertex in layer for piece in plan.after[vertex] if _rank(plan, piece) <= kinds),
        key=lambda piece: (_rank(plan, piece), _off_centre(plan, piece, place), place[piece.start]),
    )
    found: dict[int, Piece] = {}
    taken: list[tuple[int, int]] = []
    ends: set[int] = set()
    for piece in wanted:
        if piece.start in found or piece.end in ends:
            continue
        pair = (place[piece.start], place[piece.end])
        index = bisect_left(taken, pair)
        if (index and taken[index - 1][1] > pair[1]) or (index < len(taken) and taken[index][1] < pair[1]):
            continue
        insort(taken, pair)
        found[piece.start] = piece
        ends.add(piece.end)
    return found


def _rank(plan: Layered, piece: Piece) -> int:
    """A passing wire must run straight, then a chain of nodes, then the ends of passing wires."""
    points = plan.is_point(piece.start) + plan.is_point(piece.end)
    return _PASSING if points == 2 else _CHAINS if points == 0 else _ALL_ROWS


def _off_centre(plan: Layered, piece: Piece, place: dict[int, int]) -> float:
    """How far a piece is from the middle one at both of its ends, nodes counted before passing wires."""
    ends = sorted(place[one.end] for one in plan.after[piece.start])
    starts = sorted(place[one.start] for one in plan.before[piece.end])
    return abs(ends.index(place[piece.end]) - (len(ends) - 1) / 2) + abs(
        starts.index(place[piece.start]) - (len(starts) - 1) / 2
    )


def _step(plan: Layered, piece: Piece) -> float:
    """How far the end of a level piece lies below its start.

    Two nodes stand with their tops in line, whichever ports the wire joins: from block to block of a deep
    network the few pixels between two ports would add up to a slope.
    """
    if plan.is_point(piece.start) or plan.is_point(piece.end):
        return piece.leaves - piece.enters
    return plan.tops.get((piece.start, piece.leaves), 0.0) - plan.tops.get((piece.end, piece.enters), 0.0)


def _tied(plan: Layered, row_of: list[int], offset: list[float]) -> list[_Row]:
    rows = [_Row() for _ in range(max(row_of) + 1)]
    least: dict[tuple[int, int], float] = {}
    for layer in plan.layers:
        for upper, lower in pairwise(layer):
            pair = (row_of[upper], row_of[lower])
            distance = plan.height(upper) + _room(plan, upper, lower) + offset[upper] - offset[lower]
            least[pair] = max(distance, least.get(pair, distance))
    for (upper, lower), distance in least.items():
        rows[lower].above.append((upper, distance))
        rows[upper].below.append((lower, distance))
    for pieces in plan.after:
        for piece in pieces:
            start, end = row_of[piece.start], row_of[piece.end]
            if start == end:
                continue
            points = plan.is_point(piece.start) + plan.is_point(piece.end)
            weight = (1.0, 2.0, 8.0)[points]
            further = offset[piece.start] + piece.leaves - offset[piece.end] - piece.enters
            rows[end].pulls.append((start, further, weight))
            rows[start].pulls.append((end, -further, weight))
    return rows


def _room(plan: Layered, upper: int, lower: int) -> float:
    points = plan.is_point(upper) + plan.is_point(lower)
    return (APART, BESIDE_WIRE, BETWEEN_WIRES)[points]


def _from_top(rows: list[_Row]) -> list[int]:
    """The rows so that each follows those above it. Rows never cross, so there is such an order."""
    waiting = [len(row.above) for row in rows]
    order = [index for index, count in enumerate(waiting) if not count]
    for index in order:
        for below, _ in rows[index].below:
            waiting[below] -= 1
            if not waiting[below]:
                order.append(below)
    return order


def _wish(rows: list[_Row], row: _Row) -> float:
    weight = sum(pull[2] for pull in row.pulls)
    return sum((rows[other].y + further) * pull for other, further, pull in row.pulls) / weight


def _draw(rows: list[_Row], index: int) -> None:
    """Moves a row to where its wires lead, as far as its neighbours let it."""
    row = rows[index]
    if not row.pulls:
        return
    wish = _wish(rows, row)
    low = max((rows[up].y + least for up, least in row.above), default=-inf)
    high = min((rows[down].y - least for down, least in row.below), default=inf)
    row.y = max(low, min(high, wish))


def _gather(rows: list[_Row]) -> None:
    """Moves rows that touch, and so hold one another, to where their wires lead together."""
    group = list(range(len(rows)))

    def head(index: int) -> int:
        while group[index] != index:
            group[index] = group[group[index]]
            index = group[index]
        return index

    for index, row in enumerate(rows):
        for below, least in row.below:
            if rows[below].y - row.y - least < _TOUCH:
                group[head(index)] = head(below)
    groups: dict[int, list[int]] = {}
    for index in range(len(rows)):
        groups.setdefault(head(index), []).append(index)
    for members in groups.values():
        if len(members) > 1:
            _shift(rows, members, head)


def _shift(rows: list[_Row], members: list[int], head: Callable[[int], int]) -> None:
    here = head(members[0])
    wish = weight = 0.0
    low, high = -inf, inf
    for index in members:
        row = rows[index]
        for other, further, pull in row.pulls:
            if head(other) != here:
                wish += (rows[other].y + further - row.y) * pull
                weight += pull
        for up, least in row.above:
            if head(up) != here:
                low = max(low, rows[up].y + least - row.y)
        for down, least in row.below:
            if head(down) != here:
                high = min(high, rows[down].y - least - row.y)
    if weight:
        by = max(min(low, 0.0), min(max(high, 0.0), wish / weight))
        for index in members:
            rows[index].y += by
