"""Changes that keep the wires around them: delete and reconnect, replace by another type, cut.

Each function answers with edits and changes nothing but the counter of ids; apply them in one step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from engine.catalogue import Catalogue, NodeType, Port
from engine.catalogue.connect import can_connect, node_type
from engine.document.edits import (
    AddNodes,
    ChangeFrame,
    Connect,
    Edit,
    Remove,
    RemoveFrame,
    RemoveNote,
    SetPlan,
)
from engine.document.graph import BLOCK_INPUT, BLOCK_OUTPUT, Graph, Link, Node, Points, Project
from engine.document.plan import ChangeModel, Follow, Objective, Plan, Rollout, Rule
from engine.errors import GraphError, ParamError
from engine.values import Value, natural

Wire = tuple[Link, Points]  # a link to make and the points it is led through


def cutting(project: Project, links: Iterable[Link]) -> tuple[Edit, ...]:
    """Return the edits that remove wires; those that aren't there (any more) are passed over."""
    there = {
        link
        for _, graph in project.graphs()
        for link in links
        if graph.feeding(link.target, link.target_port) == link
    }
    return (Remove((), tuple(sorted(there))),) if there else ()


# -- delete and reconnect


def removing_and_reconnecting(project: Project, catalogue: Catalogue, ids: Iterable[str]) -> tuple[Edit, ...]:
    """Return the edits that remove nodes and join what came before each to what came after it.

    A node hands a wire on where one wire alone comes in, and the wire out is at its first output. A
    joint that may not be drawn is left out. Ids of notes and frames are removed too; ids of nothing
    are passed over.
    """
    given = set(ids)
    nodes = [(scope, id) for scope, graph in project.graphs() for id in given & graph.nodes.keys()]
    nodes.sort(key=lambda found: natural(found[1]))
    frames = sorted(given & project.frames.keys(), key=natural)
    notes = sorted(given & project.notes_on_canvas.keys(), key=natural)
    edits: list[Edit] = [*map(RemoveFrame, frames), *map(RemoveNote, notes)]
    if not nodes:
        return tuple(edits)
    removal = Remove(tuple(id for _, id in nodes))
    trial = project.copy()
    removal.apply(trial)
    edits.append(removal)
    for scope, id in nodes:
        graph = project.graph_of(scope)
        for link in graph.outgoing(id):
            if link.target not in given and (wire := _around(project, catalogue, graph, link, given)):
                edits.extend(_drawn(trial, catalogue, scope, [wire]))
    return tuple(edits)


def _around(project: Project, catalogue: Catalogue, graph: Graph, link: Link, gone: set[str]) -> Wire | None:
    """Return the wire that takes the place of a link out of removed nodes, if they hand one on."""
    bends, source = graph.bends(link), link
    while source.source in gone:
        node = graph.node(source.source)
        incoming = graph.incoming(node.id)
        if len(incoming) != 1 or not _is_first_output(project, catalogue, node, source.source_port):
            return None
        source = incoming[0]
        bends = graph.bends(source) + bends
    return Link(source.source, source.source_port, link.target, link.target_port), bends


def _is_first_output(project: Project, catalogue: Catalogue, node: Node, port: str) -> bool:
    found = node_type(catalogue, node, project)
    return found is None or [one.name for one in found.outputs()[:1]] == [port]


def _drawn(trial: Project, catalogue: Catalogue, scope: str, wires: Iterable[Wire]) -> Iterator[Edit]:
    """Give the edits that draw those wires that may be drawn; the trial has them then."""
    graph = trial.graph_of(scope)
    for link, bends in wires:
        verdict = can_connect(graph, catalogue, link, trial)
        drawn = verdict.link if verdict.ok and verdict.replaces is None else None
        if not verdict.ok and _stood_at_unknown(graph, catalogue, link):
            drawn = link
        if drawn is not None:
            edit = Connect(drawn, bends)
            edit.apply(trial)
            yield edit


def _stood_at_unknown(graph: Graph, catalogue: Catalogue, link: Link) -> bool:
    """Return whether a wire is at a node of an unknown type and possible: its port had a wire before."""
    ends = [graph.nodes.get(id) for id in (link.source, link.target)]
    if any(end is None for end in ends) or graph.feeding(link.target, link.target_port) is not None:
        return False
    unknown = any(end is not None and catalogue.get(end.type) is None for end in ends)
    return unknown and not graph.would_cycle(link.source, link.target)


# -- another type


def replacing(
    project: Project,
    catalogue: Catalogue,
    node_id: str,
    type_id: str,
    params: Mapping[str, Value] | None = None,
) -> tuple[Edit, ...]:
    """Return the edits that put a node of another type in a node's place.

    It keeps the name, the place, what frames it and whether it is muted; values that both types have
    under one name and kind, where they are allowed, unless it is given `params`; wires at ports of the
    same name, or else of the same place among the ports. The first AddNodes adds it. Raises GraphError
    where that makes no sense.
    """
    scope = project.home(node_id)
    graph = project.graph_of(scope)
    node = graph.node(node_id)
    if node.type == type_id:
        return ()
    if node.type in (BLOCK_INPUT, BLOCK_OUTPUT):
        raise GraphError("The inputs and outputs of a block stay what they are.", node_id=node_id)
    found = catalogue.get(type_id)
    if found is None:
        raise GraphError(f'There is no node type "{type_id[:40]}".', node_id=node_id)
    before = node_type(catalogue, node, project)
    values = _kept_params(before, found, node) if params is None else params
    after = replace(node, id=project.new_id(), type=type_id, params=values, shares="")
    edits: list[Edit] = [AddNodes((after,), into=scope)]
    for frame in project.frames.values():
        if node_id in frame.members:
            edits.append(ChangeFrame(replace(frame, members=frame.members | {after.id})))
    edits.append(Remove((node_id,)))
    plan = plan_after(project.plan, node_id, after.id)
    if plan != project.plan:
        edits.append(SetPlan(plan))
    trial = project.copy()
    for edit in edits:
        edit.apply(trial)
    made = node_type(catalogue, after, trial)
    assert made is not None
    edits.extend(_drawn(trial, catalogue, scope, _kept_wires(graph, node_id, before, after.id, made)))
    return tuple(edits)


def _kept_params(before: NodeType | None, found: type[NodeType], node: Node) -> dict[str, Value]:
    kept: dict[str, Value] = {}
    for spec in found.params:
        old = None if before is None else type(before).param_spec(spec.name)
        if spec.name not in node.params or (before is not None and (old is None or old.kind != spec.kind)):
            continue
        try:
            kept[spec.name] = spec.check(node.params[spec.name])
        except ParamError:
            continue
    try:
        found(kept)
    except ParamError:  # each is allowed, but not all of them together
        return {}
    return kept


def plan_after(plan: Plan, before: str, after: str) -> Plan:
    """The plan when another node stands in a node's place: losses, trained nodes, rates and rules follow."""

    def follow(one: Objective) -> Objective:
        if isinstance(one, Follow) and one.leader == before:
            one = replace(one, leader=after)
        if isinstance(one, Rollout) and one.policy == before:
            one = replace(one, policy=after)
        if isinstance(one, Rule):
            node, *also = (after if key == before else key for key in one.nodes)
            return replace(one, node=node, also=tuple(also))
        if isinstance(one, ChangeModel):
            return replace(one, of=tuple(after if key == before else key for key in one.of))
        if isinstance(one.loss, str):
            loss: str | dict[str, float] = after if one.loss == before else one.loss
        else:
            loss = {after if key == before else key: share for key, share in one.loss.items()}
        of = tuple(after if key == before else key for key in one.of)
        rates = {after if key == before else key: factor for key, factor in one.rates.items()}
        return replace(one, loss=loss, of=of, rates=rates)

    phases = tuple(
        replace(phase, objectives=tuple(follow(one) for one in phase.objectives)) for phase in plan.phases
    )
    return replace(plan, phases=phases)


def _kept_wires(
    graph: Graph, id: str, before: NodeType | None, after_id: str, made: NodeType
) -> Iterator[Wire]:
    """Give the wires of a node as they would be at another, those at ports of the same name first."""
    ports = made.inputs()
    named, others = [], []
    for link in graph.incoming(id):
        if made.input_port(link.target_port) is not None:
            named.append(link)
        else:
            others.append(link)
    for link in named:
        yield replace(link, target=after_id), graph.bends(link)
    for link in others:
        old = None if before is None else before.input_port(link.target_port)
        place = 0 if before is None or old is None else before.inputs().index(old)
        if place < len(ports):
            yield replace(link, target=after_id, target_port=ports[place].name), graph.bends(link)
    for link in graph.outgoing(id):
        port = _output(before, made, link.source_port)
        if port is not None:
            yield replace(link, source=after_id, source_port=port.name), graph.bends(link)


def _output(before: NodeType | None, made: NodeType, name: str) -> Port | None:
    same = made.output_port(name)
    if same is not None:
        return same
    places = [] if before is None else [port.name for port in before.outputs()]
    place = places.index(name) if name in places else 0
    return made.outputs()[place] if place < len(made.outputs()) else None
