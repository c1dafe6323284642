"""What the canvas says about the thing under a resting cursor."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QPoint

from app.canvas.items.node_item import NodeItem
from app.canvas.scene.canvas import Canvas
from app.canvas.scene.scene import PortHit
from engine.document.graph import Link


def tip_at(view: Canvas, place: QPoint) -> str:
    """The text for a point of the viewport: problem, port, node or wire; empty for empty canvas."""
    scene = view.graph_scene
    point = view.mapToScene(place)
    badge = scene.badge_at(point)
    if badge is not None and badge.problem is not None:
        return escape(badge.problem[1])
    port = scene.port_at(point, view.port_reach())
    if port is not None:
        return _port(view, port)
    node = scene.node_at(point)
    if node is not None:
        return _node(view, node)
    wire = scene.link_at(point)
    return _wire(view, wire.link) if wire is not None else ""


def _port(view: Canvas, hit: PortHit) -> str:
    spot = view.graph_scene.node_items[hit.node_id].face.layout.spot(hit.port, hit.side)
    if spot is None:
        return ""
    lines = [f"<b>{escape(spot.label)}</b>"]
    shapes = view.workspace.shapes
    if shapes is not None:
        read = shapes.signature if hit.side == "out" else shapes.input_signature
        signature = read(hit.node_id, hit.port)
        if signature is not None:
            lines.append(escape(f"{signature} · {signature.dtype}"))
    if spot.doc:
        lines.append(escape(spot.doc))
    return "<br>".join(lines)


def _node(view: Canvas, item: NodeItem) -> str:
    lines = []
    if item.shortened:
        lines += [f"<b>{escape(item.face.name[:200])}</b>", escape(item.face.summary)]
    if item.count and not item.count_place:
        lines.append(f"{item.count} parameters")
    if item.problem is not None:
        lines.append(escape(item.problem[1]))
    return "<br>".join(line for line in lines if line)


def _wire(view: Canvas, link: Link) -> str:
    items = view.graph_scene.node_items
    source, target = items[link.source].face.name, items[link.target].face.name
    text = f"{source} · {link.source_port} → {target} · {link.target_port}"
    shapes = view.workspace.shapes
    signature = shapes.signature(link.source, link.source_port) if shapes is not None else None
    return escape(text if signature is None else f"{text}\n{signature} · {signature.dtype}").replace(
        "\n", "<br>"
    )
