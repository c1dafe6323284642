"""Layers that can be drawn from their parts: a node for the block that draws it, back, and placing one."""

from __future__ import annotations

from app.canvas.editing.insertion import insertion_of
from app.canvas.items.geometry import Point
from app.workspace.open_document import CheckedDocument, SelectableDocument
from engine.catalogue.drawn_forms import form_called, forms_of, recognised
from engine.document.blocks import ports_of
from engine.document.edits import AddBlock, AddNodes, Edit
from engine.document.graph import BLOCK, Link, Node
from engine.document.names import free_name, names_of
from engine.errors import NeuroloomError
from engine.shapes.swapping import USUAL, drawing, using_fast

DRAW, FAST = "Draw from its parts", "Use the fast node"


def swap_words(workspace: SelectableDocument) -> str:
    """What can be done with the selected node, in words for a menu; "" where nothing can."""
    node = _selected(workspace)
    if node is None:
        return ""
    if node.block:
        project = workspace.document.project
        block = project.blocks.get(node.block)
        alone = not set(node.params) - {"block"}
        return FAST if alone and block is not None and recognised(project, block.graph) else ""
    return DRAW if forms_of(node.type) else ""


def swap(workspace: CheckedDocument) -> bool:
    """Put the block that draws the selected node in its place, or the node in that of its block, in one step.

    False, with a message, where there is no such node. A run under way keeps the weights.
    """
    node, words = _selected(workspace), swap_words(workspace)
    if node is None or not words:
        workspace.message.emit(
            "Select a layer that can be drawn from its parts, or a block that does.", "info"
        )
        return False
    project, catalogue = workspace.document.project, workspace.catalogue
    try:
        if words == FAST:
            edits = using_fast(project, catalogue, node.id)
        else:
            edits = drawing(project, catalogue, node.id, width_of(workspace, node.id))
    except NeuroloomError as error:
        workspace.message.emit(error.message, "warning")
        return False
    done = workspace.apply(words, *edits)
    if done:
        workspace.select((node.id,))
    return done


def width_of(workspace: CheckedDocument, node_id: str) -> int:
    """The last size of what arrives at a node; the usual one while that is not known."""
    shapes = workspace.shapes
    arriving = () if shapes is None else tuple(shapes.inputs(node_id).values())
    return arriving[0].shape[-1] if arriving and arriving[0].shape else USUAL


def add_drawn(workspace: SelectableDocument, name: str, place: Point, into: Link | None) -> str | None:
    """Adds the block of a drawn form, into a wire if one is named, and selects it."""
    form = form_called(name)
    kind = None if form is None else workspace.catalogue.get(form.fast)
    if form is None or kind is None:
        return None
    project, made = workspace.document.project, kind()
    width = USUAL
    shapes = getattr(workspace, "shapes", None)
    if into is not None and shapes is not None:
        found = shapes.signature(into.source, into.source_port)
        width = found.shape[-1] if found is not None and found.shape else USUAL
    blocks = form.blocks(project, {one: getattr(made, one) for one in form.params}, width)
    name = free_name(form.title, names_of(workspace.graph))
    node = Node(project.new_id(), BLOCK, name, {"block": blocks[-1].id}, place)
    adding = tuple(map(AddBlock, blocks))
    edits: list[Edit] = [*adding, AddNodes((node,), into=workspace.scope)]
    if into is not None:
        trial = project.copy()
        for one in adding:
            one.apply(trial)
        entries, exits = (tuple(one.id for one in ports) for ports in ports_of(trial, blocks[-1].id))
        insertion = insertion_of(into, node.id, entries, exits)
        edits += insertion.edits() if insertion is not None else ()
    if not workspace.apply(f"Add {name}", *edits):
        return None
    workspace.select((node.id,))
    return node.id


def _selected(workspace: SelectableDocument) -> Node | None:
    chosen = workspace.selection
    return workspace.graph.nodes.get(chosen[0]) if len(chosen) == 1 else None
