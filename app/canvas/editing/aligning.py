"""Lining up the selected nodes of a canvas; each is one undoable step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from app.canvas.items.geometry import SNAP, Point
from app.canvas.scene.canvas import Canvas
from engine.document.edits import Move
from engine.layout.aligning import Direction, Edge, Rect, align, distribute, make_room, snap


def align_selected(view: Canvas, edge: Edge) -> None:
    """Brings one edge of the selected nodes into line."""
    rects = _rects(view, view.workspace.selection)
    if len(rects) < 2:
        _tell(view, "Select two nodes or more to align them.")
        return
    _move(view, f"Align {edge}", align(rects, edge))


def distribute_selected(view: Canvas, direction: Direction) -> None:
    """Makes the gaps between the selected nodes equal."""
    rects = _rects(view, view.workspace.selection)
    if len(rects) < 3:
        _tell(view, "Select three nodes or more to distribute them.")
        return
    _move(view, "Distribute", distribute(rects, direction))


def snap_selected(view: Canvas) -> None:
    """Brings the selected nodes, or all, to the grid."""
    chosen = view.workspace.selection or tuple(view.graph_scene.node_items)
    _move(view, "Snap to grid", snap(_rects(view, chosen), SNAP))


def make_room_for_selected(view: Canvas) -> None:
    """Pushes the other nodes away from the selected one."""
    if len(view.workspace.selection) != 1:
        _tell(view, "Select the one node that needs room.")
        return
    chosen = view.workspace.selection[0]
    rects = _rects(view, view.graph_scene.node_items)
    newcomer = rects.pop(chosen)
    _move(view, "Make room", make_room(rects, newcomer))


def _rects(view: Canvas, ids: Iterable[str]) -> dict[str, Rect]:
    items = view.graph_scene.node_items
    boxes = {node_id: items[node_id].box() for node_id in ids}
    return {node_id: (box[0], box[1], box[2] - box[0], box[3] - box[1]) for node_id, box in boxes.items()}


def _move(view: Canvas, label: str, places: Mapping[str, Point]) -> None:
    view.cancel_interaction()
    if places:
        view.workspace.apply(label, Move(places))


def _tell(view: Canvas, sentence: str) -> None:
    view.workspace.message.emit(sentence, "info")
