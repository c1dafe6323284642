"""The canvas in words, for screen readers: what is selected, what comes in and goes out, what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleEvent
from PySide6.QtWidgets import QWidget

from app.canvas.scene.canvas import GraphOnShow
from engine.document.graph import Graph, Link, Node
from engine.shapes.signatures import Signature

if TYPE_CHECKING:
    from app.workspace.open_document import CheckedDocument

MOST_NAMED = 8  # of several selected nodes; hearing more is worse than a number


class Spoken(QObject):
    """Keeps the canvas's accessible name and description, and announces what the user moves to."""

    def __init__(self, view: GraphOnShow, widget: QWidget) -> None:
        super().__init__(widget)
        self._view, self._widget = view, widget
        workspace = view.workspace
        workspace.selected.connect(self._selected)
        workspace.scope_changed.connect(self._moved)
        workspace.changed.connect(self._refresh)
        workspace.inferred.connect(self._refresh)
        workspace.parts_shown.connect(self._refresh)
        view.graph_scene.link_selection_changed.connect(self._links_selected)
        self._refresh(None)

    def _selected(self, _ids: tuple[str, ...]) -> None:
        self._refresh(None)
        self.announce(self._widget.accessibleDescription())

    def _moved(self, _scope: str) -> None:
        self._refresh(None)
        self.announce(self._widget.accessibleName())

    def _links_selected(self) -> None:
        self._refresh(None)
        if self._view.graph_scene.selected_links and not self._view.workspace.selection:
            self.announce(self._widget.accessibleDescription())

    def _refresh(self, _what: object = None) -> None:
        self._widget.setAccessibleName(_place(self._view.workspace))
        self._widget.setAccessibleDescription(described(self._view))

    def announce(self, text: str) -> None:
        """Has a screen reader say it, where one listens."""
        if not QAccessible.isActive() or not text:
            return
        # For readers that know no announcements.
        changed = QAccessibleEvent(self._widget, QAccessible.Event.DescriptionChanged)
        QAccessible.updateAccessibility(changed)
        if self._widget.hasFocus():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._widget, text))


def described(view: GraphOnShow) -> str:
    """What is selected on a canvas, in sentences; without a selection, how large the graph is."""
    workspace = view.workspace
    graph = workspace.graph
    nodes = [graph.nodes[one] for one in workspace.selection if one in graph.nodes]
    if len(nodes) == 1:
        return _about_node(view, nodes[0])
    if nodes:
        names = ", ".join(_name(view, node.id) for node in nodes[:MOST_NAMED])
        more = f" and {len(nodes) - MOST_NAMED} more" if len(nodes) > MOST_NAMED else ""
        return f"{len(nodes)} nodes selected: {names}{more}."
    links = sorted(view.graph_scene.selected_links)
    if len(links) == 1:
        return _about_wire(view, links[0])
    if links:
        return f"{len(links)} wires selected."
    if not graph.nodes:
        return "Empty. Press Tab to add a node."
    wires = len(view.graph_scene.link_items)
    return f"{_count(len(graph.nodes), 'node')}, {_count(wires, 'wire')}. Nothing selected."


def _place(workspace: CheckedDocument) -> str:
    name = workspace.way[-1][1]
    return f"Canvas, inside the block {name}" if workspace.scope else f"Canvas, {name}"


def _name(view: GraphOnShow, node_id: str) -> str:
    item = view.graph_scene.node_items.get(node_id)
    return item.face.name if item is not None else node_id


def _about_node(view: GraphOnShow, node: Node) -> str:
    workspace, item = view.workspace, view.graph_scene.node_items.get(node.id)
    if item is None:
        return node.name
    face, kind = item.face, workspace.type_of(node)
    title = kind.title if kind is not None else "unknown type"
    parts = [", ".join(part for part in (face.name, title, face.summary) if part)]
    graph = workspace.graph
    for spot in face.layout.inputs:
        link = graph.feeding(node.id, spot.name)
        source = f"from {_name(view, link.source)}" if link is not None else "free"
        arriving = workspace.shapes.input_signature(node.id, spot.name) if workspace.shapes else None
        parts.append(f"Input {spot.label}: {_shape(arriving)}{source}")
    for spot in face.layout.outputs:
        leaving = workspace.shapes.signature(node.id, spot.name) if workspace.shapes else None
        parts.append(f"Output {spot.label}: {_shape(leaving)}{_followers(view, graph, node.id, spot.name)}")
    if item.count:
        parts.append(f"{item.count} parameters")
    if item.part:
        parts.append(f"In the plan: {item.part}")
    parts += [problem.message.rstrip(".") for problem in view.graph_scene.problems_of(node.id)]
    return ". ".join(parts) + "."


def _followers(view: GraphOnShow, graph: Graph, node_id: str, port: str) -> str:
    names = [_name(view, link.target) for link in graph.outgoing(node_id) if link.source_port == port]
    return f"to {', '.join(names)}" if names else "free"


def _shape(signature: Signature | None) -> str:
    return f"{signature}, " if signature is not None else ""


def _about_wire(view: GraphOnShow, link: Link) -> str:
    shapes = view.workspace.shapes
    shape = _shape(shapes.signature(link.source, link.source_port)) if shapes is not None else ""
    source, target = _name(view, link.source), _name(view, link.target)
    return f"Wire from {source} to {target}: {shape}port {link.source_port} to {link.target_port}."


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
