"""What a graph amounts to: muted nodes taken out, their input handed on, and linked nodes read as one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from engine.catalogue import Layer, Loss, Metric, NodeType, Transform
from engine.catalogue.identifiers import NameBook
from engine.document.graph import Graph, Link, Node, Project


def without_muted(project: Project, types: Mapping[str, NodeType]) -> Project:
    """The project as it trains: a muted layer passes its first input on, other muted nodes are gone."""
    graph = project.graph
    muted = {one for one, node in graph.nodes.items() if node.muted}
    if not muted:
        return project
    links = []
    for link in graph.links:
        if link.target in muted:
            continue
        source = _source(graph, link, muted, types)
        if source is not None:
            links.append(Link(*source, link.target, link.target_port))
    nodes = [node for node in graph.nodes.values() if node.id not in muted]
    return replace(project, graph=Graph(nodes, links))


def measured_names(project: Project, types: Mapping[str, NodeType]) -> dict[str, str]:
    """The names under which the values of losses and metrics are recorded, by node: `val_` and this."""
    graph, names = without_muted(project, types).graph, NameBook(("loss", "weight", "step", "epoch"))
    measured = [one for one in graph.order() if isinstance(types.get(one), (Loss, Metric))]
    return {one: names.give(graph.node(one).name, types[one].title) for one in measured}


def passed_on(graph: Graph, node_id: str, port: str = "", made: NodeType | None = None) -> Link | None:
    """The wire whose value a muted layer passes on: what the port hands on, else its first input."""
    kept = made.hands_on.get(port) if isinstance(made, Layer) else None
    found = graph.feeding(node_id, kept) if kept is not None else None
    return found or next(iter(graph.incoming(node_id)), None)


def meant(
    graph: Graph, wire: tuple[str, str], types: Mapping[str, NodeType], *, names: bool = False
) -> tuple[str, str]:
    """Where the value of a wire comes from, behind layers that change it while training, or in form only.

    With `names`, where the names of its classes come from, though its values may be others.
    """
    seen = {wire[0]}
    while (made := types.get(wire[0])) is not None and isinstance(made, Layer):
        kept = made.hands_on.get(wire[1]) or (made.classes_of.get(wire[1]) if names else None)
        link = graph.feeding(wire[0], kept) if kept is not None else None
        if link is None or link.source in seen:
            break
        seen.add(link.source)
        wire = (link.source, link.source_port)
    return wire


def keeps_values(made: NodeType | None) -> bool:
    """Whether a node hands the numbers on that come in, in their order."""
    return isinstance(made, Layer) and made.traits.keeps_values


def origin(graph: Graph, node: Node) -> Node | None:
    """The node whose weights this one uses; None where it has its own, or the other is gone."""
    seen = {node.id}
    found = node
    while found.shares:
        following = graph.nodes.get(found.shares)
        if following is None or following.id in seen:
            return None
        seen.add(following.id)
        found = following
    return found if found is not node else None


def linked(graph: Graph, node: Node) -> Node:
    """The node with the parameters of the one it shares weights with, where both are of one type."""
    other = origin(graph, node)
    return node if other is None or other.type != node.type else replace(node, params=other.params)


def _source(
    graph: Graph, link: Link, muted: set[str], types: Mapping[str, NodeType]
) -> tuple[str, str] | None:
    while link.source in muted:
        before = passed_on(graph, link.source, link.source_port, types.get(link.source))
        if before is None or not isinstance(types.get(link.source), (Layer, Transform)):
            return None
        link = before
    return link.source, link.source_port
