"""A node for the block that draws it, and back: the layer stays the same, and so do its weights.

Each function answers with edits; apply them in one step. The node keeps its id, by which a run knows that
the weights of one are those of the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from engine.catalogue import Catalogue
from engine.catalogue.drawn_forms import forms_of, recognised
from engine.document.blocks import ports_of
from engine.document.edits import AddBlock, AddNodes, ChangeFrame, Edit, Remove, RemoveBlock
from engine.document.graph import BLOCK, Link, Node, Project
from engine.errors import GraphError

USUAL = 64  # features, where no wire says how many


def drawing(project: Project, catalogue: Catalogue, node_id: str, features: int) -> tuple[Edit, ...]:
    """The edits that put the block that draws a node in its place; none where its type is not drawn.

    `features` is the last size of what comes in. Errors: `GraphError` where weights are shared, or
    where it has values that its drawing cannot have.
    """
    node = project.node(node_id)
    forms, kind = forms_of(node.type), catalogue.get(node.type)
    if not forms or kind is None:
        return ()
    made = kind(node.params)
    form = next(one for one in forms if all(getattr(made, name) == it for name, it in one.when.items()))
    known = form.params.keys() | form.when.keys()
    others = [spec for spec in kind.params if spec.name not in known]
    unlike = [spec.title for spec in others if getattr(made, spec.name) != spec.default]
    if unlike:
        raise GraphError(f"Its drawing knows no {unlike[0]}: set it back first.", node_id=node_id)
    blocks = form.blocks(project, {name: getattr(made, name) for name in form.params}, features)
    trial, adding = project.copy(), tuple(map(AddBlock, blocks))
    for one in adding:
        one.apply(trial)
    entries, exits = ports_of(trial, blocks[-1].id)
    after = Node(node_id, BLOCK, node.name, {"block": blocks[-1].id}, node.position, muted=node.muted)
    inputs, outputs = made.inputs(), made.outputs()
    ports = {one.name: port.id for one, port in zip(inputs, entries, strict=True)}
    ports |= {one.name: port.id for one, port in zip(outputs, exits, strict=True)}
    return (*_in_place(project, node, after, ports, *adding),)


def using_fast(project: Project, catalogue: Catalogue, node_id: str) -> tuple[Edit, ...]:
    """The edits that put the node that a block draws in its place; none where it draws none."""
    node = project.node(node_id)
    if not node.block or set(node.params) - {"block"}:
        return ()
    found = recognised(project, project.block(node.block).graph)
    kind = None if found is None else catalogue.get(found[0].fast)
    if found is None or kind is None:
        return ()
    form, values, _ = found
    usual = {spec.name: spec.default for spec in kind.params}
    params = {name: value for name, value in values.items() if value != usual.get(name)}
    after = Node(node_id, form.fast, node.name, params, node.position, muted=node.muted)
    entries, exits = ports_of(project, node.block)
    made = kind(params)
    ports = {port.id: one.name for port, one in zip(entries, made.inputs(), strict=True)}
    ports |= {port.id: one.name for port, one in zip(exits, made.outputs(), strict=True)}
    return (*_in_place(project, node, after, ports), *_unused(project, node))


def _unused(project: Project, node: Node) -> Iterator[Edit]:
    """Removes the block that a node stands for, and those in it, where nothing else uses them."""
    if len(project.instances(node.block)) > 1:
        return
    yield RemoveBlock(node.block)
    for one in project.block(node.block).graph.nodes.values():
        if one.block:
            yield from _unused(project, one)


def _in_place(
    project: Project, node: Node, after: Node, ports: Mapping[str, str], *before: Edit
) -> tuple[Edit, ...]:
    """Take a node away and put another with its id there, with its wires and frames; `ports` are renamed."""
    scope = project.home(node.id)
    graph = project.graph_of(scope)
    if node.shares or any(one.shares == node.id for one in graph.nodes.values()):
        raise GraphError("Give it weights of its own first: they are shared now.", node_id=node.id)
    renamed: dict[Link, Link] = {}
    for link in graph.incoming(node.id):
        renamed[link] = replace(link, target_port=ports.get(link.target_port, link.target_port))
    for link in graph.outgoing(node.id):
        renamed[link] = replace(link, source_port=ports.get(link.source_port, link.source_port))
    bends = {after_it: graph.bends(link) for link, after_it in renamed.items() if graph.bends(link)}
    frames = [frame for frame in project.frames.values() if node.id in frame.members]
    return (
        Remove((node.id,)),
        *before,
        AddNodes((after,), tuple(renamed.values()), scope, bends),
        *map(ChangeFrame, frames),
    )
