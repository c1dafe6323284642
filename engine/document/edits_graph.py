"""Edits of a graph: nodes and wires come and go, in any scope, with everything that refers to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.document.edit_base import NODE_ID, Edit, Together, ends, keep_ids
from engine.document.edits_canvas import ChangeFrame, RemoveFrame
from engine.document.edits_nodes import SetShares
from engine.document.graph import BLOCK_INPUT, BLOCK_OUTPUT, Graph, Link, Node, Points, Project
from engine.document.scopes import refuse_instance, refuse_sharing, refuse_taken
from engine.errors import GraphError


@dataclass(frozen=True)
class AddNodes(Edit):
    """Add nodes to a scope, and links among them or to nodes that are there already, with their bends."""

    nodes: tuple[Node, ...] = ()
    links: tuple[Link, ...] = ()
    into: str = ""
    bends: Mapping[Link, Points] = field(default_factory=dict)

    def __post_init__(self) -> None:  # a list given here could change under the history
        object.__setattr__(self, "nodes", tuple(self.nodes))
        object.__setattr__(self, "links", tuple(self.links))
        object.__setattr__(self, "bends", dict(self.bends))

    def apply(self, project: Project) -> Edit:
        graph = project.graph_of(self.into)
        if not self.bends.keys() <= set(self.links):
            raise GraphError("Only a wire that is added can be given bends.")
        for node in self.nodes:
            if not NODE_ID.fullmatch(node.id):
                raise GraphError(f'A node\'s id is "n" and a number, not "{node.id[:40]}".')
            if node.block:
                refuse_instance(project, self.into, node.block, node.id)
        refuse_taken(project, (node.id for node in self.nodes))
        added: list[Node] = []
        plugged: list[tuple[Graph, Link]] = []
        try:
            for node in self.nodes:
                graph._insert(node)
                added.append(node)
            for node in self.nodes:
                refuse_sharing(graph, node)
            for link in self.links:
                home = _graph_of(project, link)
                home._plug(link)
                plugged.append((home, link))
            for home in {id(home): home for home, _ in plugged}.values():
                home._refuse_cycle()
            for link, points in self.bends.items():
                _graph_of(project, link)._bend(link, points)
        except GraphError:
            for home, link in plugged:
                home._unplug(link)
            for node in added:
                graph._discard(node.id)
            raise
        keep_ids(project, *(node.id for node in self.nodes))
        return Remove(tuple(node.id for node in self.nodes), self.links)

    @property
    def touched(self) -> frozenset[str]:
        return ends(self.links).union(node.id for node in self.nodes)


@dataclass(frozen=True)
class Remove(Edit):
    """Remove nodes with every link attached to them, and further links.

    What refers to a removed node goes on without it: a frame loses its member, and goes with its last;
    nodes that used its weights share those of the first among them; the wires at a port of a block go
    with the port.
    """

    nodes: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", tuple(self.nodes))
        object.__setattr__(self, "links", tuple(self.links))

    def apply(self, project: Project) -> Edit:
        gone: dict[str, list[Node]] = {}
        for id in dict.fromkeys(self.nodes):
            scope = project.home(id)
            gone.setdefault(scope, []).append(project.graph_of(scope).node(id))
        ids = frozenset(node.id for nodes in gone.values() for node in nodes)
        links = _links_of(project, gone, self.links)
        bends = {link: points for link, graph in links.items() if (points := graph.bends(link))}
        edits = (*_sharing_without(project, gone, ids), *_frames_without(project, ids))
        rest = [edit.apply(project) for edit in edits]
        for link, graph in links.items():
            graph._unplug(link)
        for scope, nodes in gone.items():
            for node in nodes:
                project.graph_of(scope)._discard(node.id)
        return _back(gone, tuple(sorted(links)), bends, rest)

    @property
    def touched(self) -> frozenset[str]:
        return ends(self.links).union(self.nodes)


@dataclass(frozen=True)
class Connect(Edit):
    """Add one link; its input port must be free (disconnect first to replace)."""

    link: Link
    bends: Points = ()

    def apply(self, project: Project) -> Edit:
        link = self.link
        source, target = project.node(link.source), project.node(link.target)
        graph = _graph_of(project, link)
        if graph.would_cycle(link.source, link.target):
            raise GraphError(
                f'"{source.name or source.id}" cannot feed "{target.name or target.id}": '
                "the wire would close a cycle.",
                node_id=link.target,
            )
        graph._plug(link)
        try:
            graph._bend(link, self.bends)
        except GraphError:
            graph._unplug(link)
            raise
        return Disconnect(link)

    @property
    def touched(self) -> frozenset[str]:
        return ends((self.link,))


@dataclass(frozen=True)
class Disconnect(Edit):
    """Remove one link, with its bends."""

    link: Link

    def apply(self, project: Project) -> Edit:
        graph = _graph_of(project, self.link)
        bends = graph.bends(self.link)
        graph._unplug(self.link)
        return Connect(self.link, bends)

    @property
    def touched(self) -> frozenset[str]:
        return ends((self.link,))


def _graph_of(project: Project, link: Link) -> Graph:
    """Return the graph that both ends of a link are in; raises GraphError if there is none."""
    homes: dict[str, Graph] = {}
    for end in (link.source, link.target):
        for _, graph in project.graphs():
            if end in graph._nodes:
                homes[end] = graph
                break
        else:
            raise GraphError(f'The link {link} needs a node "{end}" that does not exist.')
    if homes[link.source] is not homes[link.target]:
        raise GraphError(f"The wire {link} cannot cross the edge of a block.", node_id=link.target)
    return homes[link.target]


def _links_of(
    project: Project, gone: Mapping[str, list[Node]], further: tuple[Link, ...]
) -> dict[Link, Graph]:
    """Return all links that go with nodes (by scope), and further ones, each with its graph."""
    links: dict[Link, Graph] = {}
    for link in further:
        graph = project.graph_of(project.home(link.target))
        links[graph._linked(link)] = graph
    for scope, nodes in gone.items():
        graph = project.graph_of(scope)
        for node in nodes:
            links.update(dict.fromkeys((*graph.incoming(node.id), *graph.outgoing(node.id)), graph))
            if scope and node.type in (BLOCK_INPUT, BLOCK_OUTPUT):
                links.update(_at_port(project, scope, node.id))
    return links


def _at_port(project: Project, block_id: str, port: str) -> dict[Link, Graph]:
    """Return the links at one port of all instances of a block."""
    found: dict[Link, Graph] = {}
    for id in project.instances(block_id):
        graph = project.graph_of(project.home(id))
        into = [link for link in graph.incoming(id) if link.target_port == port]
        out = [link for link in graph.outgoing(id) if link.source_port == port]
        found.update(dict.fromkeys((*into, *out), graph))
    return found


def _sharing_without(
    project: Project, gone: Mapping[str, list[Node]], ids: frozenset[str]
) -> list[SetShares]:
    """Return the edits after which no node that stays uses the weights of one that goes."""
    edits: list[SetShares] = []
    for scope in gone:
        graph = project.graph_of(scope)
        orphans: dict[str, list[Node]] = {}
        for id, node in graph.nodes.items():
            if id in ids or node.shares not in ids:
                continue
            owner = graph.node(node.shares)
            while owner.id in ids and owner.shares:
                owner = graph.node(owner.shares)
            if owner.id in ids:
                orphans.setdefault(owner.id, []).append(node)
            else:
                edits.append(SetShares(id, owner.id))
        for owner_id, nodes in orphans.items():
            type = graph.node(owner_id).type
            heir = next((node for node in nodes if node.type == type), nodes[0])
            edits.append(SetShares(heir.id, ""))
            edits.extend(SetShares(node.id, heir.id) for node in nodes if node is not heir)
    return edits


def _frames_without(project: Project, ids: frozenset[str]) -> list[ChangeFrame | RemoveFrame]:
    """Return the edits that take nodes out of their frames."""
    edits: list[ChangeFrame | RemoveFrame] = []
    for frame in project.frames.values():
        if frame.members & ids:
            left = frame.without(ids)
            edits.append(ChangeFrame(left) if left else RemoveFrame(frame.id))
    return edits


def _back(
    gone: Mapping[str, list[Node]], links: tuple[Link, ...], bends: Mapping[Link, Points], rest: list[Edit]
) -> Edit:
    """Return the edit that brings back removed nodes and links, then applies the rest."""
    if len(gone) <= 1:
        scope, nodes = next(iter(gone.items()), ("", []))
        added = [AddNodes(tuple(nodes), links, scope, bends)]
    else:
        added = [AddNodes(tuple(nodes), into=scope) for scope, nodes in gone.items()]
        added.append(AddNodes((), links, "", bends))
    return added[0] if len(added) == 1 and not rest else Together((*added, *rest))
