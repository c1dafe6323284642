"""What the canvas does to the document without a pointer: each function makes one undoable step or none."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from PySide6.QtGui import QGuiApplication

from app.canvas.editing.drawn import add_drawn
from app.canvas.editing.first_plan import first_plan
from app.canvas.editing.insertion import insertion_of
from app.canvas.editing.joining import first_join, judged, new_instance, new_node
from app.canvas.items.bends import carried_bends, with_bend
from app.canvas.items.geometry import COLUMN, HEIGHT, TALL, WIDTH, Box, Point, finite, free_spot, snapped
from app.workspace import block_library
from app.workspace.block_library import DEFINED, DRAWN, KEPT, READY
from app.workspace.open_document import CheckedDocument, SelectableDocument
from engine.catalogue.connect import node_type
from engine.document.clipboard import copy_text, paste
from engine.document.edits import (
    AddNodes,
    Connect,
    Edit,
    Move,
    Remove,
    RemoveFrame,
    RemoveNote,
    Rename,
    SetBends,
)
from engine.document.graph import Link, Node, Project
from engine.errors import NeuroloomError
from engine.shapes.rewire import cutting, removing_and_reconnecting, replacing


def delete(
    workspace: SelectableDocument,
    ids: Iterable[str],
    links: Iterable[Link],
    *,
    bridge: bool = False,
    beside: Iterable[str] = (),
) -> bool:
    """Removes nodes and wires; with `bridge` what fed a removed node feeds its followers instead.

    `beside` is what else goes in the same step: the ids of frames and notes.
    """
    project, graph = workspace.document.project, workspace.graph
    gone = tuple(node_id for node_id in ids if node_id in graph.nodes)
    edits: list[Edit] = []
    if bridge:
        edits += removing_and_reconnecting(project, workspace.catalogue, [*gone, *beside])
        # A wire that was selected too may have gone with its node.
        links = [link for link in links if link.source not in gone and link.target not in gone]
        edits += cutting(project, links)
    else:
        edits += [RemoveFrame(key) for key in beside if key in project.frames]
        edits += [RemoveNote(key) for key in beside if key in project.notes_on_canvas]
        cut = tuple(link for link in links if graph.feeding(link.target, link.target_port) == link)
        if gone or cut:
            edits.append(Remove(gone, cut))
    label = "Delete and reconnect" if bridge else "Delete"
    return bool(edits) and workspace.apply(label, *edits)


def cut_wires(workspace: SelectableDocument, links: Iterable[Link]) -> bool:
    """Removes wires that a stroke has crossed, as one step."""
    edits = cutting(workspace.document.project, links)
    return bool(edits) and workspace.apply("Cut wires", *edits)


def replace_node(workspace: SelectableDocument, node_id: str, type_id: str) -> bool:
    """Puts a node of another type in a node's place, with what fits of its values and wires."""
    before = set(workspace.graph.nodes)
    try:
        edits = replacing(workspace.document.project, workspace.catalogue, node_id, type_id)
    except NeuroloomError as error:
        workspace.message.emit(error.message, "error")
        return False
    if not edits or not workspace.apply("Replace", *edits):
        return False
    workspace.select(one for one in workspace.graph.nodes if one not in before)
    return True


def add_bend(workspace: SelectableDocument, line: list[Point], link: Link, place: Point) -> bool:
    """Leads a wire, drawn as `line`, through one more point."""
    points = with_bend(line, workspace.graph.bends(link), place)
    return workspace.apply("Add bend", SetBends(link, points))


def remove_bend(workspace: SelectableDocument, link: Link, index: int) -> bool:
    """Takes one bend out of a wire."""
    points = workspace.graph.bends(link)
    return workspace.apply("Remove bend", SetBends(link, (*points[:index], *points[index + 1 :])))


def copy(workspace: SelectableDocument, ids: Iterable[str]) -> bool:
    """Puts nodes with the wires among them, and notes, on the clipboard, as text that pastes anywhere."""
    chosen = tuple(ids)
    if not chosen:
        return False
    text = copy_text(workspace.document.project, chosen)
    # As text alone: a QMimeData of ours would outlive Python in the clipboard and crash it at the end.
    QGuiApplication.clipboard().setText(text)
    return True


def paste_clipboard(workspace: SelectableDocument, at: Point) -> tuple[str, ...]:
    """Adds the nodes on the clipboard around a scene point and selects them; says why when there are none."""
    return paste_text(workspace, QGuiApplication.clipboard().text(), at)


def paste_text(workspace: SelectableDocument, text: str, at: Point) -> tuple[str, ...]:
    """Adds copied nodes so that their middle is at a scene point, and selects them."""
    if not text.strip():
        workspace.message.emit("There is nothing to paste: copy some nodes first.", "info")
        return ()
    x, y = snapped(finite((at[0] - WIDTH / 2, at[1] - HEIGHT / 2)))
    try:
        ids = paste(workspace.document, text, (x, y), workspace.scope)
    except NeuroloomError as error:
        workspace.message.emit(error.message, "error")
        return ()
    workspace.select(ids)
    return ids


def duplicate(workspace: SelectableDocument, ids: Iterable[str]) -> tuple[str, ...]:
    """Copies nodes beside themselves, leaving the clipboard alone."""
    nodes = workspace.graph.nodes
    chosen = [node_id for node_id in ids if node_id in nodes]
    if not chosen:
        return ()
    places = [nodes[node_id].position for node_id in chosen]
    xs, ys = [x for x, _ in places], [y for _, y in places]
    middle = ((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2)
    text = copy_text(workspace.document.project, chosen)
    try:
        with workspace.document.step("Duplicate"):
            made = paste(workspace.document, text, finite((middle[0] + 24, middle[1] + 24)), workspace.scope)
    except NeuroloomError as error:
        workspace.message.emit(error.message, "error")
        return ()
    workspace.select(made)
    return made


def nudge(workspace: SelectableDocument, ids: Iterable[str], by: Point) -> bool:
    """Moves nodes a little; repeated nudges are one step."""
    nodes = workspace.graph.nodes
    positions = {
        node_id: finite((nodes[node_id].position[0] + by[0], nodes[node_id].position[1] + by[1]))
        for node_id in ids
        if node_id in nodes
    }
    key = "nudge " + " ".join(positions)
    bends = carried_bends(workspace.graph, positions, by)
    return bool(positions) and workspace.apply("Move", Move(positions), *bends, merge=key)


def rename(workspace: SelectableDocument, node_id: str, name: str) -> bool:
    """Gives a node the name that is being typed, letter by letter one step; False for an empty one."""
    if workspace.node(node_id) is None or not name.strip():
        return False
    return workspace.apply("Rename", Rename(node_id, name), merge=f"rename:{node_id}")


def add(workspace: SelectableDocument, type_id: str, place: Point, *, into: Link | None = None) -> str | None:
    """Adds a node with its top left corner at `place`, into a wire if one is named, and selects it."""
    if type_id.startswith(KEPT):
        made = add_kept(workspace, type_id.removeprefix(KEPT), place)
        return made[0] if made else None
    if type_id.startswith(READY):
        made = add_ready(workspace, type_id.removeprefix(READY), place)
        return made[0] if made else None
    if type_id.startswith(DRAWN):
        return add_drawn(workspace, type_id.removeprefix(DRAWN), place, into)
    if type_id.startswith(DEFINED):
        node = new_instance(workspace, type_id.removeprefix(DEFINED), place)
    else:
        node = new_node(workspace, type_id, place)
    if node is None:
        workspace.message.emit(f"There is no node type called {type_id[:60]!r}.", "error")
        return None
    edits: list[Edit] = [AddNodes((node,), into=workspace.scope), *first_plan(workspace, (node,))]
    if into is not None:
        edits += _insert(workspace, node, into)
    if not workspace.apply(f"Add {node.name}", *edits):
        return None
    workspace.select((node.id,))
    return node.id


def add_kept(workspace: SelectableDocument, name: str, place: Point) -> tuple[str, ...]:
    """Adds a block of the user's library with its corner at `place`."""
    try:
        text = block_library.read(workspace.places.blocks, name)
    except (OSError, UnicodeDecodeError):
        workspace.message.emit(f"The block “{name[:60]}” is no longer there, or cannot be read.", "error")
        return ()
    return _paste_from(workspace, text, place)


def add_ready(workspace: SelectableDocument, name: str, place: Point) -> tuple[str, ...]:
    """Adds a block that comes with the program, with its corner at `place`."""
    return _paste_from(workspace, block_library.read_ready(name), place)


def _paste_from(workspace: SelectableDocument, text: str, corner: Point) -> tuple[str, ...]:
    return paste_text(workspace, text, (corner[0] + WIDTH / 2, corner[1] + HEIGHT / 2))


def _insert(workspace: SelectableDocument, node: Node, link: Link) -> tuple[Edit, ...]:
    found = workspace.catalogue.get(node.type)
    if found is None:
        return ()
    made = found()
    inputs = tuple(f"{port.name}1" if port.many else port.name for port in made.inputs())
    insertion = insertion_of(link, node.id, inputs, tuple(port.name for port in made.outputs()))
    return insertion.edits() if insertion is not None else ()


def add_after(workspace: CheckedDocument, type_id: str, source: str, boxes: dict[str, Box]) -> str | None:
    """Adds a node to the right of another and joins the two where their ports allow it."""
    before = workspace.node(source)
    if before is None:
        return None
    place = free_spot((before.position[0] + COLUMN, before.position[1]), (WIDTH, TALL), boxes)
    node = new_node(workspace, type_id, place)
    if node is None:
        return None
    link = _join(workspace, before, node)
    edits: list[Edit] = [AddNodes((node,), (link,) if link is not None else (), workspace.scope)]
    if not workspace.apply(f"Add {node.name}", *edits):
        return None
    workspace.select((node.id,))
    return node.id


def _join(workspace: CheckedDocument, before: Node, node: Node) -> Link | None:
    trial = workspace.document.project.copy()
    source_type = node_type(workspace.catalogue, before, trial)
    if source_type is None:
        return None
    AddNodes((node,), into=workspace.scope).apply(trial)
    for port in source_type.outputs():
        verdict = first_join(workspace, trial, node, Joining(before.id, port.name))
        if verdict is not None:
            return verdict.link
    return None


class Joining:
    """Makes the link from one output to a port asked for later."""

    def __init__(self, source: str, port: str) -> None:
        self._source, self._port = source, port

    def __call__(self, node_id: str, port: str) -> Link:
        return Link(self._source, self._port, node_id, port)


def connect_in_order(workspace: CheckedDocument, ids: tuple[str, ...]) -> bool:
    """Wires nodes from left to right, each to the next, through the first free ports that fit."""
    graph = workspace.graph
    chosen = sorted(
        (node_id for node_id in ids if node_id in graph.nodes), key=lambda key: graph.nodes[key].position
    )
    if len(chosen) < 2:
        return False
    trial = workspace.document.project.copy()
    made: list[Link] = []
    reason = ""
    for source, target in pairwise(chosen):
        link, reason = _free_join(workspace, trial, source, target)
        if link is not None:
            Connect(link).apply(trial)
            made.append(link)
    if not made:
        workspace.message.emit(reason or "These nodes have no free ports that fit.", "warning")
        return False
    return workspace.apply("Connect", *(Connect(link) for link in made))


def _free_join(
    workspace: CheckedDocument, project: Project, source: str, target: str
) -> tuple[Link | None, str]:
    reason = ""
    graph = project.graph_of(workspace.scope)
    kinds = [node_type(workspace.catalogue, graph.nodes[key], project) for key in (source, target)]
    if kinds[0] is None or kinds[1] is None:
        return None, reason
    for outgoing in kinds[0].outputs():
        for incoming in kinds[1].inputs():
            wanted = Link(source, outgoing.name, target, incoming.name)
            verdict = judged(workspace, wanted, project)
            if verdict.ok and verdict.replaces is None:
                return verdict.link, ""
            reason = reason or verdict.reason
    return None, reason
