"""New nodes that come with a wire: which types fit, and which port the wire takes."""

from __future__ import annotations

from collections.abc import Callable

from app.canvas.items.face import new_name
from app.canvas.items.geometry import Point, finite, snapped
from app.workspace.open_document import OpenDocument
from engine.catalogue import NodeType
from engine.catalogue.connect import Verdict, can_connect, node_type
from engine.document.edits import AddNodes
from engine.document.graph import BLOCK_INPUT, BLOCK_OUTPUT, Link, Node, Project

OUTSIDE = ("data", "loss", "metric")  # kinds that a block has no use for

JoinTo = Callable[[str, str], Link]  # (node id, port) -> the link that would join it


def addable(workspace: OpenDocument) -> list[type[NodeType]]:
    """The types that can be added to the graph that is shown.

    Inside a block those are its ports too, but no data, losses or metrics: it is a part of the model.
    """
    types = workspace.catalogue.types()
    if not workspace.scope:
        return types
    ports = [workspace.catalogue.get(type_id) for type_id in (BLOCK_INPUT, BLOCK_OUTPUT)]
    inner = [found for found in types if found.kind not in OUTSIDE]
    return [*(found for found in ports if found is not None), *inner]


def fitting_types(workspace: OpenDocument, join: JoinTo) -> list[type[NodeType]]:
    """The types a new node may have so that a wire can reach it, in the catalogue's order."""
    return [found for found in addable(workspace) if _fits(workspace, found, join)]


def _fits(workspace: OpenDocument, found: type[NodeType], join: JoinTo) -> bool:
    trial = workspace.document.project.copy()
    node = Node(trial.new_id(), found.type_id)
    AddNodes((node,), into=workspace.scope).apply(trial)
    return first_join(workspace, trial, node, join) is not None


def first_join(workspace: OpenDocument, project: Project, node: Node, join: JoinTo) -> Verdict | None:
    """The first possible wire between a node of `project` and a loose end; None when no port fits."""
    made = node_type(workspace.catalogue, node, project)
    if made is None:
        return None
    graph = project.graph_of(workspace.scope)
    forward = join(node.id, "").target == node.id
    for port in made.inputs() if forward else made.outputs():
        verdict = can_connect(graph, workspace.catalogue, join(node.id, port.name), project)
        if verdict.ok:
            return verdict
    return None


def new_node(workspace: OpenDocument, type_id: str, place: Point) -> Node | None:
    """A node of this type that is not in the document yet; None for a type the catalogue lacks."""
    found = workspace.catalogue.get(type_id)
    if found is None:
        return None
    name = new_name(workspace.graph, found)
    return Node(workspace.document.project.new_id(), type_id, name, {}, finite(snapped(place)))


def new_node_for(
    workspace: OpenDocument, type_id: str, place: Point, join: JoinTo
) -> tuple[Node, Link | None] | None:
    """A new node with the first wire that joins it."""
    node = new_node(workspace, type_id, place)
    if node is None:
        return None
    trial = workspace.document.project.copy()
    AddNodes((node,), into=workspace.scope).apply(trial)
    verdict = first_join(workspace, trial, node, join)
    return node, verdict.link if verdict is not None else None
