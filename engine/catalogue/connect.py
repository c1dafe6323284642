"""Which wires may be drawn: a pure question about structure, answered with the reason.

Shapes are not looked at: a wire whose shapes clash can be drawn and shows its problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

from engine.catalogue import Catalogue, Composite, NodeType
from engine.document.graph import Graph, Link, Node, Project
from engine.errors import NeuroloomError


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a wire may be drawn; if not, `reason` is a sentence.

    `link` is the link to make: as asked for, or with the free port where a family of ports was
    named. `replaces` is the link that has to go first.
    """

    ok: bool
    reason: str = ""
    replaces: Link | None = None
    link: Link | None = None


def can_connect(graph: Graph, catalogue: Catalogue, link: Link, project: Project | None = None) -> Verdict:
    """Return whether a link may be made; never raises, whatever the ids and ports.

    With a project, instances of its blocks have the ports of their definitions.
    """
    source, target = graph.nodes.get(link.source), graph.nodes.get(link.target)
    if source is None or target is None:
        return Verdict(False, _missing(graph, link, project))
    if source.id == target.id:
        return Verdict(False, "A node cannot feed itself.")
    source_type = node_type(catalogue, source, project)
    target_type = node_type(catalogue, target, project)
    for end, found in ((source, source_type), (target, target_type)):
        if found is None:
            return Verdict(False, f"{_called(end)} is of an unknown type, so its ports are not known.")
    assert source_type is not None and target_type is not None
    if not source_type.outputs():
        return Verdict(False, _gives_nothing(source, source_type))
    if source_type.output_port(link.source_port) is None:
        return Verdict(False, f'{_called(source)} has no output called "{link.source_port[:40]}".')
    if not target_type.inputs():
        return Verdict(False, f"{_called(target)} takes nothing in: it is where values begin.")
    port = free_port(graph, catalogue, link.target, link.target_port)
    if target_type.input_port(port) is None:
        return Verdict(False, f'{_called(target)} has no input called "{link.target_port[:40]}".')
    link = Link(link.source, link.source_port, link.target, port)
    taken = graph.feeding(link.target, port)
    if taken == link:
        return Verdict(False, "This wire is there already.")
    if graph.would_cycle(source.id, target.id):
        return Verdict(
            False, f"{_called(target)} comes before {_called(source)}: the wire would close a cycle."
        )
    return Verdict(True, "", taken, link)


def free_port(graph: Graph, catalogue: Catalogue, target: str, port: str) -> str:
    """Return the port a new wire should end at: "x" of many becomes its first free one, such as "x3".

    Any other port, also one of many by its number, stays as it is.
    """
    node = graph.nodes.get(target)
    found = None if node is None else node_type(catalogue, node)
    if found is None or not any(one.many and one.name == port for one in found.inputs()):
        return port
    return next(name for i in count(1) if graph.feeding(target, name := f"{port}{i}") is None)


def node_type(catalogue: Catalogue, node: Node, project: Project | None = None) -> NodeType | None:
    """Return a node's type as it stands on the canvas, None if unknown.

    A node with a wrong value still has ports: they are then those of the default values. With a
    project, an instance of one of its blocks has the ports of the definition.
    """
    found = catalogue.get(node.type)
    if found is None:
        return None
    try:
        return _bound(found(node.params), project)
    except NeuroloomError:
        pass
    try:
        return _bound(found({"block": node.block} if node.block else None), project)
    except NeuroloomError:
        return found()


def _bound(made: NodeType, project: Project | None) -> NodeType:
    if project is not None and isinstance(made, Composite):
        made.bind(project)
    return made


def _missing(graph: Graph, link: Link, project: Project | None) -> str:
    """Return why a wire has an end outside the graph it is drawn in."""
    if project is not None:
        gone = [end for end in (link.source, link.target) if end not in graph.nodes]
        if all(any(end in other.nodes for _, other in project.graphs()) for end in gone):
            return "A wire cannot cross the edge of a block; give the block an input or an output for it."
    return "One end of the wire is gone."


def _called(node: Node) -> str:
    return f'"{node.name[:40] or node.id}"'


def _gives_nothing(node: Node, found: NodeType) -> str:
    what = {"loss": "a loss", "metric": "a metric", "output": "an output"}.get(found.kind, "an end")
    return f"{_called(node)} is {what}: nothing can follow it."
