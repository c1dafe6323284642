"""The document as plain data: nodes, links, the graph they form, and the project around it.

Nothing here is changed directly: `engine.document.edits` holds the only ways to change a project.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import total_ordering
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from engine.document.dressing import Frame, Note
from engine.document.plan import Plan
from engine.errors import GraphError
from engine.values import Value, frozen_mapping, natural, place

if TYPE_CHECKING:
    import networkx as nx

BLOCK, BLOCK_INPUT, BLOCK_OUTPUT = "Block", "BlockInput", "BlockOutput"  # node types that the document knows
BLOCK_ID = re.compile(r"b(0|[1-9][0-9]{0,14})")
Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Node:
    """One node: its type's name, the name the user typed, and only the values the user set.

    A `muted` node passes its input through. `shares` is the id of the node whose weights this one uses.
    `extra` holds fields of a project file that this version doesn't know; they are saved again.
    """

    id: str
    type: str
    name: str = ""
    params: Mapping[str, Value] = field(default_factory=dict)
    position: tuple[float, float] = (0.0, 0.0)
    extra: Mapping[str, Any] = field(default_factory=dict)
    muted: bool = False
    shares: str = ""

    def __post_init__(self) -> None:
        if not all(isinstance(text, str) for text in (self.id, self.type, self.name, self.shares)):
            raise GraphError("A node's id, type and name, and what it shares, are text.")
        object.__setattr__(self, "params", frozen_mapping(self.params))
        object.__setattr__(self, "position", place(self.position))

    @property
    def block(self) -> str:
        """The id of the block that this node is an instance of; "" for any other node."""
        value = self.params.get("block") if self.type == BLOCK else None
        return value if isinstance(value, str) else ""


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
    Ports that take many links are x1, x2, ... each holding one. `copy` costs five dict copies.
    """

    __slots__ = (
        "_bends",
        "_digraph",
        "_feeding",
        "_incoming",
        "_links",
        "_nodes",
        "_order",
        "_outgoing",
        "_sorted",
    )

    def __init__(
        self,
        nodes: Iterable[Node] = (),
        links: Iterable[Link] = (),
        bends: Mapping[Link, Iterable[tuple[float, float]]] | None = None,
    ) -> None:
        """Build a graph; raises GraphError for doubled ids or ports, missing ends and cycles."""
        self._nodes: dict[str, Node] = {}
        self._bends: dict[Link, Points] = {}
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
        for link, points in (bends or {}).items():
            self._bend(link, points)

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
        found = self._incoming.get(id, ())
        return sorted(found, key=_by_target_port) if len(found) > 1 else list(found)

    def outgoing(self, id: str) -> list[Link]:
        """Return the links that start at a node, in canonical order."""
        found = self._outgoing.get(id, ())
        return sorted(found, key=link_key) if len(found) > 1 else list(found)

    def feeding(self, id: str, port: str) -> Link | None:
        """Return the link that ends at an input port."""
        return self._feeding.get((id, port))

    def bends(self, link: Link) -> Points:
        """Return the points that a wire is led through, in order from its source; most have none."""
        return self._bends.get(link, ())

    def weights_of(self, id: str) -> str:
        """Return the id of the node whose weights a node uses: its own, or the end of its `shares`."""
        node = self.node(id)
        while node.shares:
            node = self.node(node.shares)
        return node.id

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
        if source == target:
            return True
        if not self._outgoing.get(target) or not self._incoming.get(source):
            return False
        # Asked for every port under a wire that is being drawn: a plain walk is four times as fast as
        # networkx on long paths.
        seen, waiting = {target}, [target]
        while waiting:
            for link in self._outgoing.get(waiting.pop(), ()):
                if link.target == source:
                    return True
                if link.target not in seen:
                    seen.add(link.target)
                    waiting.append(link.target)
        return False

    def order(self) -> list[str]:
        """Return the ids so that each node follows what feeds it; ties go by number."""
        if self._order is None:
            self._order = tuple(self._by_flow())
        return list(self._order)

    def _by_flow(self) -> Iterator[str]:
        # Written out: networkx takes four times as long, and every edit of the wires asks for it.
        names = list(self.nodes)
        places = {id: index for index, id in enumerate(names)}
        waiting = {id: len(self._incoming.get(id, ())) for id in names}
        ready = [index for index, id in enumerate(names) if not waiting[id]]  # a heap, being sorted
        while ready:
            id = names[heapq.heappop(ready)]
            yield id
            for link in self._outgoing.get(id, ()):
                waiting[link.target] -= 1
                if not waiting[link.target]:
                    heapq.heappush(ready, places[link.target])

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
        twin._bends = dict(self._bends)
        return twin

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        same = self._nodes == other._nodes and self._feeding == other._feeding
        return same and self._bends == other._bends

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Graph of {len(self._nodes)} nodes, {len(self._feeding)} links>"

    # -- changing: for engine.document.edits alone

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
        self._linked(link)
        del self._feeding[link.target, link.target_port]
        self._bends.pop(link, None)
        self._incoming[link.target] = tuple(one for one in self._incoming[link.target] if one != link)
        self._outgoing[link.source] = tuple(one for one in self._outgoing[link.source] if one != link)
        self._links = self._order = None
        joined = any(one.target == link.target for one in self._outgoing[link.source])
        if self._digraph is not None and not joined:
            self._digraph.remove_edge(link.source, link.target)

    def _bend(self, link: Link, points: Iterable[tuple[float, float]]) -> Points:
        """Lead a link through points; returns those it was led through."""
        before = self.bends(self._linked(link))
        if after := tuple(place(point, "bend of a wire") for point in points):
            self._bends[link] = after
        else:
            self._bends.pop(link, None)
        return before

    def _linked(self, link: Link) -> Link:
        """Return a link that is there; raises GraphError for any other."""
        if self._feeding.get((link.target, link.target_port)) != link:
            raise GraphError(f"There is no link {link}.", node_id=link.target)
        return link

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


@dataclass(frozen=True, slots=True)
class Block:
    """A graph that stands as one node wherever a node of type Block names its id.

    Its ports are its nodes of the types BlockInput and BlockOutput. The graph changes by edits only.
    """

    id: str
    name: str = ""
    graph: Graph = field(default_factory=Graph)
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not isinstance(self.name, str):
            raise GraphError("A block's id and name are text.")
        if not BLOCK_ID.fullmatch(self.id):
            raise GraphError(f'A block\'s id is "b" and a number, not "{self.id[:40]}".')

    def copy(self) -> Block:
        return replace(self, graph=self.graph.copy())

    def __repr__(self) -> str:  # whole: by it 1 and 1.0 in a parameter differ
        nodes, links = list(self.graph.nodes.values()), list(self.graph.links)
        return f"Block({self.id!r}, {self.name!r}, {nodes}, {links}, {self.extra})"


@dataclass
class Project:
    """A graph with its plan, title and notes, the blocks in it, and what lies on the canvas.

    A *scope* is "" (the root graph) or the id of a block. `next_id` is the number of the next new id,
    whatever it is for: a node n7, a block b8, a frame f9 or a note t10. `key` tells projects that are
    open apart, so that a paste knows where it comes from; it is not saved.
    """

    title: str = "Untitled"
    notes: str = ""
    graph: Graph = field(default_factory=Graph)
    plan: Plan = field(default_factory=Plan)
    next_id: int = 1
    extra: dict[str, Any] = field(default_factory=dict)
    blocks: dict[str, Block] = field(default_factory=dict)
    frames: dict[str, Frame] = field(default_factory=dict)
    notes_on_canvas: dict[str, Note] = field(default_factory=dict)
    key: str = field(default_factory=lambda: uuid4().hex, compare=False, repr=False)

    def new_id(self, kind: str = "n") -> str:
        """Return an id that nothing in this project has had or will have: "n7"; "b7" for kind "b"."""
        id = f"{kind}{self.next_id}"
        self.next_id += 1
        return id

    def graph_of(self, scope: str) -> Graph:
        """Return the root graph for "", else a block's. Raises GraphError."""
        return self.graph if not scope else self.block(scope).graph

    def graphs(self) -> Iterator[tuple[str, Graph]]:
        """Give every scope with its graph, the root first."""
        yield "", self.graph
        for id, block in self.blocks.items():
            yield id, block.graph

    def block(self, id: str) -> Block:
        """Return a block; raises GraphError if there is none with that id."""
        try:
            return self.blocks[id]
        except KeyError:
            raise GraphError(f'There is no block "{id}".') from None

    def home(self, node_id: str) -> str:
        """Return the scope that a node is in; ids are unique in the whole project. Raises GraphError."""
        for scope, graph in self.graphs():
            if node_id in graph._nodes:
                return scope
        raise GraphError(f'There is no node "{node_id}".', node_id=node_id)

    def find(self, id: str) -> Node | None:
        """Return a node of any scope, None if there is none with that id."""
        return next((graph._nodes[id] for _, graph in self.graphs() if id in graph._nodes), None)

    def standing(self, id: str) -> list[str]:
        """Return the nodes of the root graph where a node stands: itself, or the blocks that hold it."""
        if id in self.graph._nodes or self.find(id) is None:
            return [id] if id in self.graph._nodes else []
        holding = (self.standing(one) for one in self.instances(self.home(id)))
        return list(dict.fromkeys(found for one in holding for found in one))

    def node(self, id: str) -> Node:
        """Return a node of any scope; raises GraphError if there is none with that id."""
        return self.graph_of(self.home(id)).node(id)

    def instances(self, block_id: str) -> list[str]:
        """Return the ids of the nodes, in any scope, that stand for a block; by number."""
        found = (
            id for _, graph in self.graphs() for id, node in graph._nodes.items() if node.block == block_id
        )
        return sorted(found, key=natural)

    def contents(self, block_id: str) -> set[str]:
        """Return the ids of the blocks inside a block, at any depth."""
        found: set[str] = set()
        waiting = [block_id]
        while waiting:
            inside = {node.block for node in self.block(waiting.pop()).graph._nodes.values() if node.block}
            waiting.extend(inside - found)
            found |= inside
        return found

    def copy(self) -> Project:
        """Return an independent project, cheap enough to make at every step."""
        return replace(
            self,
            graph=self.graph.copy(),
            extra=dict(self.extra),
            blocks={id: block.copy() for id, block in self.blocks.items()},
            frames=dict(self.frames),
            notes_on_canvas=dict(self.notes_on_canvas),
        )
