"""Which column every node stands in, and the points that keep a column's place free for a passing wire."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from engine.errors import NeuroloomError

MOST_POINTS = 24_000  # places for passing wires; the longest wires of a denser graph find their way alone


class LayoutCancelled(NeuroloomError):
    """The layout was given up before it was done."""

    def __init__(self) -> None:
        super().__init__("The layout was cancelled.")


class Wire(NamedTuple):
    """A wire from node to node; `leaves` and `enters` are the heights of its ports below the nodes' tops."""

    source: str
    target: str
    leaves: float = 28.0
    enters: float = 28.0


class Piece(NamedTuple):
    """The stretch of a wire between two neighbouring columns, at these heights below its ends' tops."""

    start: int
    end: int
    leaves: float
    enters: float


@dataclass
class Layered:
    """A connected graph in layers. Vertices from `nodes` on are points of passing wires, without a size."""

    names: list[str]
    sizes: list[tuple[float, float]]
    layers: list[list[int]]  # from top to bottom
    layer_of: list[int]
    before: list[list[Piece]]
    after: list[list[Piece]]
    hint: list[float]  # where a vertex stands now, from top to bottom
    tops: dict[tuple[int, float], float] = field(default_factory=dict)  # see `layout`

    @property
    def nodes(self) -> int:
        """How many vertices are nodes."""
        return len(self.names)

    def is_point(self, vertex: int) -> bool:
        """Whether a vertex is the place of a passing wire."""
        return vertex >= len(self.names)

    def height(self, vertex: int) -> float:
        """The height of a vertex."""
        return 0.0 if vertex >= len(self.names) else self.sizes[vertex][1]


def layered(
    sizes: Mapping[str, tuple[float, float]],
    wires: Iterable[Wire],
    here: Mapping[str, tuple[float, float]],
    cancelled: Callable[[], bool],
) -> Layered:
    """Return the layers of one connected graph, each ordered as its vertices stand now."""
    names = list(sizes)
    number = {name: index for index, name in enumerate(names)}
    found = [
        (number[wire.source], number[wire.target], wire.leaves, wire.enters)
        for wire in wires
        if wire.source != wire.target
    ]
    turned = _backward(len(names), {(source, target) for source, target, *_ in found})
    # A wire that closes a cycle counts the other way round: it leads back to an earlier column.
    forward = [
        (target, source, enters, leaves) if (source, target) in turned else (source, target, leaves, enters)
        for source, target, leaves, enters in found
    ]
    layer_of = _columns(len(names), {(source, target) for source, target, *_ in forward})
    hint = [here.get(name, (0.0, 0.0))[1] + sizes[name][1] / 2 for name in names]
    plan = Layered(names, [sizes[name] for name in names], [], layer_of, [], [], hint)
    plan.before = [[] for _ in names]
    plan.after = [[] for _ in names]
    _join(plan, forward, cancelled)
    plan.layers = [[] for _ in range(max(plan.layer_of) + 1)]
    for vertex in sorted(range(len(plan.layer_of)), key=lambda one: (plan.hint[one], one)):
        plan.layers[plan.layer_of[vertex]].append(vertex)
    return plan


def _backward(count: int, edges: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """The edges that lead back to where a walk along the others came from; none without cycles."""
    after: list[list[int]] = [[] for _ in range(count)]
    fed = [False] * count
    for source, target in sorted(edges):
        after[source].append(target)
        fed[target] = True
    state = [0] * count  # 1 while on the walk, 2 when done
    found: set[tuple[int, int]] = set()
    for start in sorted(range(count), key=lambda one: (fed[one], one)):
        if state[start]:
            continue
        state[start] = 1
        walk = [(start, iter(after[start]))]
        while walk:
            vertex, rest = walk[-1]
            onward = next(rest, None)
            if onward is None:
                state[vertex] = 2
                walk.pop()
            elif state[onward] == 1:
                found.add((vertex, onward))
            elif state[onward] == 0:
                state[onward] = 1
                walk.append((onward, iter(after[onward])))
    return found


def _columns(count: int, edges: set[tuple[int, int]]) -> list[int]:
    """The column of every node: right after the last that feeds it, or before the first use of a source."""
    import networkx as nx

    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from(sorted(edges))
    column = [0] * count
    sources: list[int] = []
    for index, generation in enumerate(nx.topological_generations(graph)):
        sources = sources or list(generation)
        for vertex in generation:
            column[vertex] = index
    for vertex in sources:
        column[vertex] = min((column[one] for one in graph.successors(vertex)), default=1) - 1
    return column


def _join(plan: Layered, wires: list[tuple[int, int, float, float]], cancelled: Callable[[], bool]) -> None:
    """Cuts every wire into pieces from column to column; the wires of one port share their way."""
    ways: dict[tuple[int, float], list[tuple[int, float]]] = defaultdict(list)
    for source, target, leaves, enters in sorted(set(wires)):
        ways[source, leaves].append((target, enters))
    budget = MOST_POINTS
    reach = {
        way: max(plan.layer_of[target] for target, _ in ends) - plan.layer_of[way[0]]
        for way, ends in ways.items()
    }
    for way in sorted(ways, key=lambda one: (reach[one], one)):
        if cancelled():
            raise LayoutCancelled()
        source, leaves = way
        ends = sorted(ways[way], key=lambda end: (plan.layer_of[end[0]], end))
        budget -= reach[way] - 1
        _lead(plan, source, leaves, ends, points=budget >= 0)


def _lead(plan: Layered, source: int, leaves: float, ends: list[tuple[int, float]], *, points: bool) -> None:
    last, height, column = source, leaves, plan.layer_of[source]
    for index, (target, enters) in enumerate(ends):
        if not points and plan.layer_of[target] > plan.layer_of[source] + 1:
            return
        while column < plan.layer_of[target] - 1:
            column += 1
            point = len(plan.layer_of)
            plan.layer_of.append(column)
            plan.before.append([])
            plan.after.append([])
            far = [plan.hint[end] for end, _ in ends[index:]]
            plan.hint.append((plan.hint[source] + sum(far) / len(far)) / 2)
            _add(plan, Piece(last, point, height, 0.0))
            last, height = point, 0.0
        _add(plan, Piece(last, target, height, enters))


def _add(plan: Layered, piece: Piece) -> None:
    plan.after[piece.start].append(piece)
    plan.before[piece.end].append(piece)
