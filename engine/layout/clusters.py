"""Layout of a graph some of whose nodes belong together: each cluster is laid out as if it were one node.

Clusters nest. Inside one, its nodes and the clusters in it are laid out alone; around it, it is a box whose
wires enter and leave at the heights of their ports. So members stay together and no box meets another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import ceil

from engine.layout import STEP, Point, Size, _never, layout
from engine.layout.layers import Wire

_BOX = "cluster "  # before a number, in place of a node's name


@dataclass(frozen=True, slots=True)
class Cluster:
    """Nodes that stay together, and the room that their outline takes beyond them on each side and above."""

    members: frozenset[str]
    beside: float = 0.0
    above: float = 0.0


@dataclass(slots=True)
class _Box:
    """A cluster with what it holds directly. The outermost, around the whole graph, has no cluster."""

    cluster: Cluster | None
    nodes: list[str] = field(default_factory=list)
    boxes: list[_Box] = field(default_factory=list)


def clustered(
    sizes: Mapping[str, Size],
    wires: Iterable[Wire],
    clusters: Iterable[Cluster],
    current: Mapping[str, Point] | None = None,
    *,
    cancelled: Callable[[], bool] = _never,
    width: float | None = None,
) -> dict[str, Point]:
    """Return the top left corner of every node, as `layout` does, with the members of each cluster together.

    A cluster that crosses a larger one, neither inside nor beside it, is none; so is one with a member that
    has no size. Raises LayoutCancelled soon after `cancelled()` turns true.
    """
    whole = _nested(sizes, clusters)
    known = [wire for wire in wires if wire.source in sizes and wire.target in sizes]
    if not whole.boxes:
        return layout(sizes, known, current, cancelled=cancelled, width=width)

    def arranged(box: _Box) -> dict[str, Point]:
        """The places of all nodes in a box, in the coordinates of `current`."""
        here = dict(current or {})
        own: dict[str, Size] = {node: sizes[node] for node in box.nodes}
        home = {node: node for node in box.nodes}
        inner: dict[str, dict[str, Point]] = {}
        for number, part in enumerate(box.boxes):
            name = f"{_BOX}{number}"
            found = arranged(part)
            left, top, right, bottom = _outline(part, found, sizes)
            inner[name] = {node: (x - left, y - top) for node, (x, y) in found.items()}
            own[name] = (right - left, bottom - top)
            home.update(dict.fromkeys(found, name))
            standing = {node: here[node] for node in found if node in here}
            if standing:
                here[name] = _outline(part, standing, sizes)[:2]
        outer = [
            Wire(
                home[wire.source],
                home[wire.target],
                _height(inner, home, wire.source, wire.leaves),
                _height(inner, home, wire.target, wire.enters),
            )
            for wire in known
            if wire.source in home and wire.target in home and home[wire.source] != home[wire.target]
        ]
        tops = {
            (home[node], inner[home[node]][node][1] + port): inner[home[node]][node][1]
            for wire in known
            for node, port in ((wire.source, wire.leaves), (wire.target, wire.enters))
            if node in home and home[node] in inner
        }
        found = layout(own, outer, here, cancelled=cancelled, width=width, tops=tops)
        places = {node: found[node] for node in box.nodes}
        for name, nodes in inner.items():
            x, y = found[name]
            places.update((node, (x + dx, y + dy)) for node, (dx, dy) in nodes.items())
        return places

    return arranged(whole)


def _height(
    inner: Mapping[str, Mapping[str, Point]], home: Mapping[str, str], node: str, port: float
) -> float:
    """How far below the top of the box, or node, that stands for a node one of its ports is."""
    box = inner.get(home[node])
    return port if box is None else box[node][1] + port


def _outline(
    box: _Box, places: Mapping[str, Point], sizes: Mapping[str, Size]
) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a cluster whose nodes stand there; each a step of the grid."""
    assert box.cluster is not None
    beside, above = (ceil(room / STEP) * STEP for room in (box.cluster.beside, box.cluster.above))
    return (
        min(x for x, _ in places.values()) - beside,
        min(y for _, y in places.values()) - above,
        max(x + sizes[node][0] for node, (x, _) in places.items()) + beside,
        max(y + sizes[node][1] for node, (_, y) in places.items()) + beside,
    )


def _nested(sizes: Mapping[str, Size], clusters: Iterable[Cluster]) -> _Box:
    """The clusters in each other, the larger around the smaller."""
    whole = _Box(None)
    inside = dict.fromkeys(sizes, whole)  # the innermost box of each node
    for cluster in sorted(clusters, key=_largest_first):
        around = {id(inside[node]): inside[node] for node in cluster.members if node in inside}
        if len(around) != 1 or not cluster.members <= inside.keys():
            continue
        (outer,) = around.values()
        box = _Box(cluster)
        outer.boxes.append(box)
        inside.update(dict.fromkeys(cluster.members, box))
    for node, box in inside.items():
        box.nodes.append(node)
    return whole


def _largest_first(cluster: Cluster) -> tuple[int, list[str]]:
    return -len(cluster.members), sorted(cluster.members)
