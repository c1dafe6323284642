"""Which data node the data panel shows, and what is known of it from the graph around it."""

from __future__ import annotations

from typing import Any

from app.classes import classes_of
from app.panels.data_facts import Source
from app.panels.data_roles import TABLE, filled, rows_of
from app.workspace import Workspace
from engine.catalogue import Data
from engine.data.checks import Asked
from engine.errors import NeuroloomError
from engine.graph import Node


def used_node(workspace: Workspace) -> str:
    """The data node that the network uses, else the first; empty without one."""
    graph, catalogue = workspace.document.project.graph, workspace.catalogue
    found = [
        node_id
        for node_id, node in graph.nodes.items()
        if (kind := catalogue.get(node.type)) is not None and issubclass(kind, Data)
    ]
    used = [node_id for node_id in found if graph.outgoing(node_id)]
    return next(iter(used or found), "")


def shown_node(workspace: Workspace) -> str:
    """The single selected data node, else the one that the network uses."""
    if len(workspace.selection) == 1:
        node = workspace.node(workspace.selection[0])
        kind = workspace.type_of(node) if node is not None else None
        if node is not None and kind is not None and issubclass(kind, Data) and not kind.ports_in:
            return node.id
    return used_node(workspace)


def trainer_reads(workspace: Workspace, node_id: str) -> bool:
    """Whether the trainer reads this node's data, now or as soon as it comes to it."""
    graph = workspace.document.project.graph
    return node_id == used_node(workspace) and bool(graph.outgoing(node_id)) and not workspace.errors()


def source_of(workspace: Workspace, node: Node, splits: Any) -> Source:
    """What the facts of a node are gathered from."""
    params = filled(workspace, node)
    table = params if TABLE in params and "delimiter" in params else None
    return Source(node, workspace.catalogue, splits, _asked(workspace, node, params), table)


def _asked(workspace: Workspace, node: Node, params: dict[str, Any]) -> Asked:
    graph = workspace.document.project.graph
    targets = {name for name, row in rows_of(node).items() if row[2] in ("target", "weight")}
    targets |= {f"{name} as number" for name in targets}
    heads: dict[str, int] = {}
    for link in graph.outgoing(node.id):
        if link.target_port != "target":
            continue
        targets.add(link.source_port)
        shapes = workspace.shapes
        scores = shapes.input_signature(link.target, "prediction") if shapes is not None else None
        if graph.node(link.target).type == "CrossEntropy" and scores is not None and scores.shape:
            heads[link.source_port] = scores.shape[0]
    known = {name: names for name, names in classes_of(workspace, node.id).items() if names}
    return Asked(params, known, frozenset(targets), heads)


def feature_names(workspace: Workspace, node: Node) -> tuple[str, ...]:
    """What the numbers of a table's features are called; empty where they have no names."""
    try:
        made = workspace.catalogue.make(node)
        names = getattr(made, "feature_names", tuple)
        return tuple(names())
    except (NeuroloomError, TypeError):
        return ()
