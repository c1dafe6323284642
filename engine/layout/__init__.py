"""Automatic layout: nodes in columns from left to right, the ways of long wires kept free between them.

Pure: sizes, wires and where things stand now go in, places come out. The method is the layered one of
Sugiyama, Tagawa and Toda (1981): layers by longest path, fewer crossings by barycentres, then heights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from statistics import median

from engine.layout.columns import Folding, folded
from engine.layout.crossings import Crossings
from engine.layout.heights import heights
from engine.layout.layers import Layered, LayoutCancelled, Wire, layered

__all__ = ["LayoutCancelled", "Wire", "fold_width", "layout"]

Point = tuple[float, float]
Size = tuple[float, float]

STEP = 4.0  # every place is a multiple of it; sizes and ports on the canvas are too
BETWEEN = 72.0  # islands
_FOLD_AT = 4_800.0  # 24 columns: what still reads as one line of layers
_FOLD_SCALE = 340.0
_SETTLE, _SETTLED = 4, 400  # further turns, and the nodes up to which they cost nothing to speak of


def _never() -> bool:
    return False


def layout(
    sizes: Mapping[str, Size],
    wires: Iterable[Wire | tuple[str, str]],
    current: Mapping[str, Point] | None = None,
    *,
    cancelled: Callable[[], bool] = _never,
    width: float | None = None,
    tops: Mapping[tuple[str, float], float] | None = None,
) -> dict[str, Point]:
    """Return the top left corner of every node of `sizes` (width, height), in scene units.

    Wires may form cycles and start and end anywhere; what has no size is left out. `current` decides what
    the wires leave open: who stands above whom, and where the whole stands. With `width` a longer graph
    goes on in further rows. Where something of `sizes` stands for several nodes, `tops` has for the height
    of a port how far down the node is that it belongs to (0 for a node itself).
    Raises LayoutCancelled soon after `cancelled()` turns true.
    """
    import networkx as nx

    names = list(sizes)
    number = {name: index for index, name in enumerate(names)}
    known = [Wire(*wire) for wire in wires]
    joined = [wire for wire in known if wire.source in number and wire.target in number]
    whole: nx.Graph[str] = nx.Graph()
    whole.add_nodes_from(names)
    whole.add_edges_from((wire.source, wire.target) for wire in joined)
    here = current or {}
    parts = [sorted(part, key=number.__getitem__) for part in nx.connected_components(whole)]
    parts.sort(key=lambda part: _corner(part, here, number))
    part_of = {name: index for index, part in enumerate(parts) for name in part}
    wires_of: list[list[Wire]] = [[] for _ in parts]
    for wire in joined:
        wires_of[part_of[wire.source]].append(wire)
    placed = [
        _island({name: sizes[name] for name in part}, wires_of[index], here, cancelled, width, tops or {})
        for index, part in enumerate(parts)
    ]
    return _near(_packed(placed, sizes, width), here)


def fold_width(nodes: int) -> float:
    """Return the width at which a graph of so many nodes had better go on in a further row."""
    return max(_FOLD_AT, _FOLD_SCALE * math.sqrt(nodes))


def _corner(
    part: list[str], here: Mapping[str, Point], number: Mapping[str, int]
) -> tuple[float, float, int]:
    known = [here[name] for name in part if name in here]
    top = min((y for _, y in known), default=0.0)
    return top, min((x for x, _ in known), default=0.0), number[part[0]]


def _island(
    sizes: Mapping[str, Size],
    wires: list[Wire],
    here: Mapping[str, Point],
    cancelled: Callable[[], bool],
    width: float | None,
    tops: Mapping[tuple[str, float], float],
) -> dict[str, Point]:
    """The places of one connected part, its corner at the origin."""
    if cancelled():
        raise LayoutCancelled()
    if len(sizes) == 1:
        return dict.fromkeys(sizes, (0.0, 0.0))
    found = _arranged(sizes, wires, here, cancelled, width, tops)
    # Where wires pass is not known from where nodes stand; from its own layout it is. Laying out what has
    # just been laid out should move nothing.
    for _ in range(_SETTLE if len(sizes) <= _SETTLED else 0):
        again = _arranged(sizes, wires, found, cancelled, width, tops)
        if again == found:
            break
        found = again
    return found


def _arranged(
    sizes: Mapping[str, Size],
    wires: list[Wire],
    here: Mapping[str, Point],
    cancelled: Callable[[], bool],
    width: float | None,
    tops: Mapping[tuple[str, float], float],
) -> dict[str, Point]:
    plan: Layered = layered(sizes, wires, here, cancelled)
    number = {name: index for index, name in enumerate(plan.names)}
    plan.tops = {(number[name], port): top for (name, port), top in tops.items() if name in number}
    Crossings(plan, cancelled).reduce()
    found_tops = heights(plan, cancelled)
    folding: Folding = folded(plan, found_tops, width)
    found = {name: folding.place(plan, index, found_tops[index]) for index, name in enumerate(plan.names)}
    left, top = min(x for x, _ in found.values()), min(y for _, y in found.values())
    return {name: (_stepped(x - left), _stepped(y - top)) for name, (x, y) in found.items()}


def _packed(
    islands: list[dict[str, Point]], sizes: Mapping[str, Size], width: float | None
) -> dict[str, Point]:
    """The islands in rows, in their order; a row is as wide as the widest, or `width`."""
    extents = [
        (
            max(x + sizes[name][0] for name, (x, _) in island.items()),
            max(y + sizes[name][1] for name, (_, y) in island.items()),
        )
        for island in islands
    ]
    area = sum((across + BETWEEN) * (down + BETWEEN) for across, down in extents)
    room = max([across for across, _ in extents] + [(1.6 * area) ** 0.5, 0.0])
    found: dict[str, Point] = {}
    left = top = row = 0.0
    for island, (across, down) in zip(islands, extents, strict=True):
        if left and left + across > room:
            left, top, row = 0.0, top + row + BETWEEN, 0.0
        found.update((name, (left + x, top + y)) for name, (x, y) in island.items())
        left, row = left + across + BETWEEN, max(row, down)
    return found


def _near(found: dict[str, Point], here: Mapping[str, Point]) -> dict[str, Point]:
    """The same layout, moved so that half of the nodes come from each side: least is moved on the whole."""
    known = [name for name in found if name in here]
    across = down = 0.0
    if known:
        across = median(here[name][0] - found[name][0] for name in known)
        down = median(here[name][1] - found[name][1] for name in known)
    across, down = _stepped(across), _stepped(down)
    return {name: (x + across, y + down) for name, (x, y) in found.items()}


def _stepped(value: float) -> float:
    return round(value / STEP) * STEP
