"""Which data nodes of a graph give their rows side by side, and which are drawn by themselves.

Rows of two data nodes are paired where they meet in a node that computes row by row: the labels of images
that lie in another file. Data nodes that meet nowhere, or only where sets are compared as wholes, are
separate streams, each with batches in an order of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from engine.catalogue import Data, Measure, NodeType, Source
from engine.document.graph import Graph
from engine.document.plan import PAIRED, UNPAIRED

Types = Mapping[str, NodeType]


@dataclass(frozen=True, slots=True)
class Streams:
    """The data nodes of a graph by stream, and the streams that each node's value is computed from.

    `meetings` are nodes in which rows meet row by row, each with the data nodes that meet there.
    """

    nodes: tuple[tuple[str, ...], ...] = ()
    read: Mapping[str, frozenset[int]] = field(default_factory=dict)
    meetings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def data(self) -> tuple[str, ...]:
        """All data nodes, in the order of their streams."""
        return tuple(one for stream in self.nodes for one in stream)

    def of(self, node_id: str) -> int:
        """The stream by whose rows a node's value counts: the first that it is computed from."""
        return min(self.read.get(node_id, ()), default=0)

    def beside(self, node_id: str) -> tuple[str, ...]:
        """The data nodes of the stream that a node's value counts by."""
        return self.nodes[self.of(node_id)] if self.nodes else ()


def feeding(graph: Graph, types: Types) -> list[str]:
    """The data nodes that the graph learns from, in order."""
    return [one for one in graph.order() if _is_data(types.get(one)) and graph.outgoing(one)]


def streams_of(graph: Graph, types: Types, pairing: str) -> Streams:
    """The streams of a graph, whose data nodes are paired as the plan's `pairing` says."""
    known = set(feeding(graph, types))
    known.update(one for one, made in types.items() if isinstance(made, Source) and one in graph.nodes)
    join = _Join(known)
    reach: dict[str, frozenset[str]] = {}
    meetings: dict[str, tuple[str, ...]] = {}
    data = feeding(graph, types)
    for one in graph.order():
        arriving = [reach[link.source] for link in graph.incoming(one)]
        reach[one] = frozenset({one} if one in known else ()).union(*arriving)
        if _as_wholes(types.get(one)) or len(reach[one]) < 2:
            continue
        met = tuple(found for found in data if found in reach[one])
        if len(met) > 1:
            meetings[one] = met
        if pairing != UNPAIRED:
            join.together(reach[one])
        else:
            drawn = reach[one].difference(data)
            join.together({*drawn, *met[:1]})
    if pairing == PAIRED:
        join.together(data)
    groups: dict[str, list[str]] = {}
    for one in data:
        groups.setdefault(join.root(one), []).append(one)
    numbers = {root: number for number, root in enumerate(groups)}
    read = {
        one: frozenset(numbers[root] for root in map(join.root, found) if root in numbers)
        for one, found in reach.items()
    }
    return Streams(tuple(tuple(found) for found in groups.values()), read, meetings)


def _is_data(made: NodeType | None) -> bool:
    return isinstance(made, Data) and made.kind == "data"


def _as_wholes(made: NodeType | None) -> bool:
    return isinstance(made, Measure) and made.traits.unpaired


class _Join:
    """Sets of nodes that grow together."""

    def __init__(self, nodes: Iterable[str]) -> None:
        self._above = {one: one for one in nodes}

    def root(self, one: str) -> str:
        while self._above[one] != one:
            one = self._above[one]
        return one

    def together(self, nodes: Iterable[str]) -> None:
        roots = sorted({self.root(one) for one in nodes})
        for one in roots[1:]:
            self._above[one] = roots[0]
