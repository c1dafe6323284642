"""New nodes that come with a wire: which types fit, and which port the wire takes."""

from __future__ import annotations

from collections.abc import Callable

from app.canvas.items.face import new_name
from app.canvas.items.geometry import Point, finite, snapped
from app.workspace.open_document import CheckedDocument, OpenDocument
from engine.catalogue import NodeType
from engine.catalogue.connect import Verdict, can_connect, node_type
from engine.document.edits import AddNodes
from engine.document.graph import BLOCK, BLOCK_INPUT, BLOCK_OUTPUT, Link, Node, Project
from engine.document.names import free_name, names_of

OUTSIDE = ("data", "loss", "metric")  # kinds that a block has no use for
AFTER, AFTER_LABELS = ("layer", "loss", "metric"), ("loss", "metric", "layer")  # kinds, the likeliest first
BEFORE = ("layer", "data", "input")
WHOLE = "int64"

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


def judged(workspace: CheckedDocument, link: Link, project: Project | None = None) -> Verdict:
    """Whether a wire may be drawn, in `project` where it isn't the document itself.

    A class or a token is no measurement: such a wire is refused where shapes are known.
    """
    project = project or workspace.document.project
    graph = project.graph_of(workspace.scope)
    verdict = can_connect(graph, workspace.catalogue, link, project)
    target = graph.nodes.get(link.target)
    made = node_type(workspace.catalogue, target, project) if verdict.ok and target is not None else None
    if made is None or takes(workspace, made, link):
        return verdict
    name = (target.name if target is not None else "") or made.title
    return Verdict(False, f"{link.source_port} is a class or a token; {name} needs measurements.")


def takes(workspace: CheckedDocument, made: NodeType, link: Link) -> bool:
    """Whether what a wire brings, where that is known, means anything to `made`, the node at its end."""
    return made.takes_whole_at(link.target_port) or not _gives_whole(workspace, link.source, link.source_port)


def _gives_whole(workspace: CheckedDocument, node_id: str, port: str) -> bool:
    carried = workspace.shapes.signature(node_id, port) if workspace.shapes is not None else None
    return carried is not None and carried.dtype == WHOLE


def fitting_types(workspace: CheckedDocument, join: JoinTo) -> list[type[NodeType]]:
    """The types a new node may have so that a wire can reach it, the likeliest first."""
    trial = workspace.document.project.copy()
    node_id = trial.new_id()
    wanted = join(node_id, "")
    kinds = BEFORE
    if wanted.target == node_id:
        whole = _gives_whole(workspace, wanted.source, wanted.source_port)
        kinds = AFTER_LABELS if whole else AFTER
    likeliest: dict[tuple[bool, int], list[type[NodeType]]] = {}
    for found in addable(workspace):
        node = Node(trial.new_id(), found.type_id)
        AddNodes((node,), into=workspace.scope).apply(trial)
        if first_join(workspace, trial, node, join) is not None:
            rank = kinds.index(found.kind) if found.kind in kinds else len(kinds)
            likeliest.setdefault((not found.common, rank), []).append(found)
    return [found for key in sorted(likeliest) for found in likeliest[key]]


def first_join(workspace: CheckedDocument, project: Project, node: Node, join: JoinTo) -> Verdict | None:
    """The first possible wire between a node of `project` and a loose end; None when no port fits."""
    made = node_type(workspace.catalogue, node, project)
    if made is None:
        return None
    forward = join(node.id, "").target == node.id
    for port in made.inputs() if forward else made.outputs():
        verdict = judged(workspace, join(node.id, port.name), project)
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


def new_instance(workspace: OpenDocument, block_id: str, place: Point) -> Node | None:
    """An instance of a block of the project that is not in the document yet; None for an unknown block."""
    project = workspace.document.project
    block = project.blocks.get(block_id)
    if block is None:
        return None
    name = free_name(block.name or BLOCK, names_of(workspace.graph))
    return Node(project.new_id(), BLOCK, name, {"block": block_id}, finite(snapped(place)))


def new_node_for(
    workspace: CheckedDocument, type_id: str, place: Point, join: JoinTo
) -> tuple[Node, Link | None] | None:
    """A new node with the first wire that joins it."""
    node = new_node(workspace, type_id, place)
    if node is None:
        return None
    trial = workspace.document.project.copy()
    AddNodes((node,), into=workspace.scope).apply(trial)
    verdict = first_join(workspace, trial, node, join)
    return node, verdict.link if verdict is not None else None
