"""The document as plain data: nodes, links, the graph they form, and the project around it.

Nothing here is changed directly: `engine.edits` holds the only ways to change a project.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import total_ordering
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from engine.errors import GraphError
from engine.plan import Plan
from engine.values import Value, frozen_mapping, natural

if TYPE_CHECKING:
    import networkx as nx

FARTHEST = 1e9  # scene units from the origin; beyond it a canvas can't place a node


@dataclass(frozen=True, slots=True)
class Node:
    """One node: its type's name, the name the user typed, and only the values the user set.

    `extra` holds fields of a project file that this version doesn't know; they are saved again.
    """

    id: str
    type: str
    name: str = ""
    params: Mapping[str, Value] = field(default_factory=dict)
    position: tuple[float, float] = (0.0, 0.0)
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not all(isinstance(text, str) for text in (self.id, self.type, self.name)):
            raise GraphError("A node's id, type and name are text.")
        object.__setattr__(self, "params", frozen_mapping(self.params))
        object.__setattr__(self, "position", place(self.position))


def place(position: Iterable[float]) -> tuple[float, float]:
    """Return a position as two floats; raises GraphError unless a canvas can show it."""
    x, y = (float(value) for value in position)
    if not all(math.isfinite(value) and abs(value) <= FARTHEST for value in (x, y)):
        raise GraphError(f"A node cannot be placed at ({x}, {y}).")
    return x, y


@total_ordering
@dataclass(frozen=True, slots=True)
class Link:
    """A wire from an output port to an input port; sorts by source, then target, n2 before n10."""

    source: str
    source_port: str
    target: str
    target_port: str

    def __lt__(self, other: Link) -> bool:
        return link_key(self) < link_key(other)

    def __str__(self) -> str:
        return f"{self.source}.{self.source_port} → {self.target}.{self.target_port}"


def link_key(link: Link) -> tuple[object, ...]:
    """Return the sort key of the canonical order of links."""
    return (
        natural(link.source),
        natural(link.source_port),
        natural(link.target),
        natural(link.target_port),
    )


class Graph:
    """A directed graph without cycles, joined port to port; an input port holds one link at most.

    Nodes and links always come in canonical order (n2 before n10), whatever the order of the edits.
    Ports that take many links are x1, x2, ... each holding one. `copy` costs four dict copies.
    """

    __slots__ = ("_digraph", "_feeding", "_incoming", "_links", "_nodes", "_order", "_outgoing", "_sorted")

    def __init__(self, nodes: Iterable[Node] = (), links: Iterable[Link] = ()) -> None:
        """Build a graph; raises GraphError for doubled ids or ports, missing ends and cycles."""
        self._nodes: dict[str, Node] = {}
        self._feeding: dict[tuple[str, str], Link] = {}
        self._incoming: dict[str, tuple[Link, ...]] = {}
        self._outgoing: dict[str, tuple[Link, ...]] = {}
        self._sorted = True
        self._links: tuple[Link, ...] | None = None
        self._order: tuple[str, ...] | None = None
        self._digraph: nx.DiGraph[str] | None = None
        for node in nodes:
            self._insert(node)
        links = tuple(links)
        for link in links:
            self._plug(link)
        if links:
            self._refuse_cycle()

    # -- reading

    @property
    def nodes(self) -> Mapping[str, Node]:
        """All nodes by id, in order of their numbers."""
        if not self._sorted:
            self._nodes = {id: self._nodes[id] for id in sorted(self._nodes, key=natural)}
            self._sorted = True
        return MappingProxyType(self._nodes)

    @property
    def links(self) -> tuple[Link, ...]:
        """All links in canonical order."""
        if self._links is None:
            self._links = tuple(sorted(self._feeding.values(), key=link_key))
        return self._links

    def incoming(self, id: str) -> list[Link]:
        """Return the links that end at a node, in order of its ports."""
        return sorted(self._incoming.get(id, ()), key=_by_target_port)

    def outgoing(self, id: str) -> list[Link]:
        """Return the links that start at a node, in canonical order."""
        return sorted(self._outgoing.get(id, ()), key=link_key)

    def feeding(self, id: str, port: str) -> Link | None:
        """Return the link that ends at an input port."""
        return self._feeding.get((id, port))

    def ancestors(self, id: str) -> set[str]:
        """Return the ids of everything a node depends on."""
        import networkx as nx

        return set(nx.ancestors(self._as_digraph(), self.node(id).id))

    def descendants(self, id: str) -> set[str]:
        """Return the ids of everything that depends on a node."""
        import networkx as nx

        return set(nx.descendants(self._as_digraph(), self.node(id).id))

    def would_cycle(self, source: str, target: str) -> bool:
        """Return whether a link from source to target would close a cycle."""
        import networkx as nx

        if source == target:
            return True
        if not self._outgoing.get(target) or not self._incoming.get(source):
            return False
        return bool(nx.has_path(self._as_digraph(), target, source))

    def order(self) -> list[str]:
        """Return the ids so that each node follows what feeds it; ties go by number."""
        if self._order is None:
            import networkx as nx

            self._order = tuple(nx.lexicographical_topological_sort(self._as_digraph(), key=natural))
        return list(self._order)

    def node(self, id: str) -> Node:
        """Return a node; raises GraphError if there is none with that id."""
        try:
            return self._nodes[id]
        except KeyError:
            raise GraphError(f'There is no node "{id}".', node_id=id) from None

    def copy(self) -> Graph:
        """Return an independent graph; nodes and links are shared, being immutable."""
        twin = Graph()
        twin._nodes, twin._sorted = dict(self.nodes), True
        twin._feeding, twin._links, twin._order = dict(self._feeding), self._links, self._order
        twin._incoming, twin._outgoing = dict(self._incoming), dict(self._outgoing)
        return twin

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return self._nodes == other._nodes and self._feeding == other._feeding

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Graph of {len(self._nodes)} nodes, {len(self._feeding)} links>"

    # -- changing: for engine.edits alone

    def _insert(self, node: Node) -> None:
        if node.id in self._nodes:
            raise GraphError(f'There are two nodes with the id "{node.id}".', node_id=node.id)
        self._nodes[node.id] = node
        self._sorted = False
        self._order = None
        if self._digraph is not None:
            self._digraph.add_node(node.id)

    def _replace(self, node: Node) -> Node:
        before = self.node(node.id)
        self._nodes[node.id] = node
        return before

    def _discard(self, id: str) -> None:
        """Take out a node that no link touches."""
        del self._nodes[id]
        self._incoming.pop(id, None)
        self._outgoing.pop(id, None)
        self._order = None
        if self._digraph is not None:
            self._digraph.remove_node(id)

    def _plug(self, link: Link) -> None:
        """Add a link without looking for cycles."""
        for end in (link.source, link.target):
            if end not in self._nodes:
                raise GraphError(f'The link {link} needs a node "{end}" that does not exist.')
        taken = self._feeding.get((link.target, link.target_port))
        if taken is not None:
            raise GraphError(
                f'Port "{link.target_port}" of "{link.target}" is already fed by "{taken.source}".',
                node_id=link.target,
            )
        if link.source == link.target:
            raise GraphError("A node cannot feed itself.", node_id=link.target)
        self._feeding[link.target, link.target_port] = link
        self._incoming[link.target] = (*self._incoming.get(link.target, ()), link)
        self._outgoing[link.source] = (*self._outgoing.get(link.source, ()), link)
        self._links = self._order = None
        if self._digraph is not None:
            self._digraph.add_edge(link.source, link.target)

    def _unplug(self, link: Link) -> None:
        if self._feeding.get((link.target, link.target_port)) != link:
            raise GraphError(f"There is no link {link}.", node_id=link.target)
        del self._feeding[link.target, link.target_port]
        self._incoming[link.target] = tuple(one for one in self._incoming[link.target] if one != link)
        self._outgoing[link.source] = tuple(one for one in self._outgoing[link.source] if one != link)
        self._links = self._order = None
        joined = any(one.target == link.target for one in self._outgoing[link.source])
        if self._digraph is not None and not joined:
            self._digraph.remove_edge(link.source, link.target)

    def _refuse_cycle(self) -> None:
        """Raise GraphError if the links close a cycle."""
        import networkx as nx

        if nx.is_directed_acyclic_graph(self._as_digraph()):
            return
        loop = [source for source, _ in nx.find_cycle(self._as_digraph())]
        shown = " → ".join([*loop[:8], "…"] if len(loop) > 8 else [*loop, loop[0]])
        raise GraphError(f"The links form a cycle: {shown}.", node_id=loop[0])

    def _as_digraph(self) -> nx.DiGraph[str]:
        # networkx is imported where it is used: that takes a tenth of a second, and an empty window
        # needn't wait for it.
        if self._digraph is None:
            import networkx as nx

            digraph: nx.DiGraph[str] = nx.DiGraph()
            digraph.add_nodes_from(self._nodes)
            digraph.add_edges_from((link.source, link.target) for link in self._feeding.values())
            self._digraph = digraph  # assigned whole: several threads may read one snapshot
        return self._digraph


def _by_target_port(link: Link) -> tuple[object, ...]:
    return natural(link.target_port)


@dataclass
class Project:
    """A graph with its plan, title and notes; `next_id` is the number of the next new node."""

    title: str = "Untitled"
    notes: str = ""
    graph: Graph = field(default_factory=Graph)
    plan: Plan = field(default_factory=Plan)
    next_id: int = 1
    extra: dict[str, Any] = field(default_factory=dict)

    def new_id(self) -> str:
        """Return an id that no node of this project has had or will have."""
        id = f"n{self.next_id}"
        self.next_id += 1
        return id

    def copy(self) -> Project:
        """Return an independent project, cheap enough to make at every step."""
        return Project(self.title, self.notes, self.graph.copy(), self.plan, self.next_id, dict(self.extra))
