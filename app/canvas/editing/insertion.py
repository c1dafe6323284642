"""Putting a node into a wire: A → B becomes A → node → B."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF

from app.canvas.editing.joining import judged
from app.canvas.scene.canvas import GraphOnShow
from engine.document.edits import Connect, Disconnect, Edit
from engine.document.graph import Link

REACH = 12.0


@dataclass(frozen=True, slots=True)
class Insertion:
    """The wire to split and the two that replace it."""

    link: Link
    before: Link
    after: Link

    def edits(self) -> tuple[Edit, ...]:
        return Disconnect(self.link), Connect(self.before), Connect(self.after)


def insertion_of(
    link: Link, node_id: str, inputs: tuple[str, ...], outputs: tuple[str, ...]
) -> Insertion | None:
    """How a node with these ports goes into a wire: through its first input and its first output."""
    if not inputs or not outputs or node_id in (link.source, link.target):
        return None
    before = Link(link.source, link.source_port, node_id, inputs[0])
    return Insertion(link, before, Link(node_id, outputs[0], link.target, link.target_port))


def find_insertion(view: GraphOnShow, node_id: str, point: QPointF) -> Insertion | None:
    """The wire under a scene point that an existing, unconnected node could go into."""
    scene = view.graph_scene
    graph = view.workspace.graph
    if graph.incoming(node_id) or graph.outgoing(node_id):
        return None
    wire = scene.link_at(point, REACH)
    if wire is None:
        return None
    layout = scene.node_items[node_id].face.layout
    inputs, outputs = (tuple(spot.name for spot in spots) for spots in (layout.inputs, layout.outputs))
    insertion = insertion_of(wire.link, node_id, inputs, outputs)
    return insertion if insertion is not None and judged(view.workspace, insertion.before).ok else None
