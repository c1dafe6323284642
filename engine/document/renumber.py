"""Copies with ids of their own: of nodes, of graphs and of blocks, with all that refers to an id inside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from engine.document.dressing import Frame, Note
from engine.document.graph import BLOCK, BLOCK_INPUT, Block, Graph, Link, Node
from engine.values import natural

Offset = tuple[float, float]


@dataclass
class Renumbering:
    """Which ids become which; what is in neither mapping stays as it is.

    A port of a block is named by the id of a node, so wires at instances change with the nodes inside.
    """

    nodes: dict[str, str] = field(default_factory=dict)
    blocks: dict[str, str] = field(default_factory=dict)

    def node(self, node: Node, by: Offset = (0.0, 0.0)) -> Node:
        """Return a node renumbered and moved."""
        params = dict(node.params)
        if node.block in self.blocks:
            params["block"] = self.blocks[node.block]
        state = params.get("state") if node.type == BLOCK_INPUT else None
        if isinstance(state, str) and state in self.nodes:
            params["state"] = self.nodes[state]
        return replace(
            node,
            id=self.nodes.get(node.id, node.id),
            params=params,
            position=moved(node.position, by),
            shares=self.nodes.get(node.shares, node.shares),
        )

    def link(self, link: Link, graph: Graph) -> Link:
        """Return a link of a graph renumbered."""
        source, target = graph.node(link.source), graph.node(link.target)
        return Link(
            self.nodes.get(link.source, link.source),
            self._port(source, link.source_port),
            self.nodes.get(link.target, link.target),
            self._port(target, link.target_port),
        )

    def _port(self, node: Node, port: str) -> str:
        return self.nodes.get(port, port) if node.type == BLOCK and node.block in self.blocks else port

    def graph(self, graph: Graph) -> Graph:
        """Return a graph renumbered, its bends with it."""
        links = {link: self.link(link, graph) for link in graph.links}
        bends = {after: graph.bends(link) for link, after in links.items()}
        return Graph((self.node(node) for node in graph.nodes.values()), links.values(), bends)

    def block(self, block: Block, name: str) -> Block:
        """Return the definition of a block renumbered, under another name."""
        return replace(block, id=self.blocks[block.id], name=name, graph=self.graph(block.graph))

    def frame(self, frame: Frame, id: str, scope: str) -> Frame:
        """Return a frame around the renumbered members, with an id and a scope of its own."""
        members = frozenset(self.nodes.get(member, member) for member in frame.members)
        return replace(frame, id=id, members=members, scope=scope)


def copied_note(note: Note, id: str, scope: str, by: Offset = (0.0, 0.0)) -> Note:
    """Return a note with an id, a scope and a place of its own."""
    return replace(note, id=id, scope=scope, position=moved(note.position, by))


def moved(point: tuple[float, float], by: Offset) -> tuple[float, float]:
    return (point[0] + by[0], point[1] + by[1]) if by != (0.0, 0.0) else point


def innermost_first(blocks: Mapping[str, Block]) -> list[str]:
    """Return ids of blocks so that each follows the blocks in it; there must be no ring among them."""
    order: dict[str, None] = {}

    def visit(id: str) -> None:
        if id not in order:
            inside = {node.block for node in blocks[id].graph.nodes.values()} & blocks.keys()
            for one in sorted(inside, key=natural):
                visit(one)
            order[id] = None

    for id in sorted(blocks, key=natural):
        visit(id)
    return list(order)


def likeness(blocks: Mapping[str, Block], id: str, known: dict[str, Any] | None = None) -> Any:
    """Return what a block is whatever its ids are: equal for two that differ in numbers alone."""
    known = {} if known is None else known
    if id in known:
        return known[id]
    block = blocks[id]
    places = {one: index for index, one in enumerate(block.graph.nodes)}
    inside = {node.block for node in block.graph.nodes.values()} & blocks.keys()
    ports = {
        port: index for one in inside for index, port in enumerate(blocks[one].graph.nodes)
    }  # ids are unique, so one mapping does for all blocks inside

    def said(node: Node) -> Any:
        params = {name: value for name, value in node.params.items() if name != "block" or not node.block}
        if node.type == BLOCK_INPUT and params.get("state") in places:
            params["state"] = places[str(params["state"])]
        nested = likeness(blocks, node.block, known) if node.block in inside else node.block
        shared = places.get(node.shares, node.shares)
        kept = (node.type, node.name, repr(params), node.position, repr(node.extra), node.muted, shared)
        return (*kept, nested)

    def port(node: Node, name: str) -> Any:
        return ports.get(name, name) if node.type == BLOCK and node.block in inside else name

    graph = block.graph
    wires = []
    for link in graph.links:
        source, target = graph.node(link.source), graph.node(link.target)
        start = (places[link.source], port(source, link.source_port))
        end = (places[link.target], port(target, link.target_port))
        wires.append((start, end, graph.bends(link)))
    nodes = tuple(said(node) for node in graph.nodes.values())
    known[id] = (block.name, nodes, frozenset(wires), repr(block.extra))
    return known[id]
