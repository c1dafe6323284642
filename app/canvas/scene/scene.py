"""The graph as items: follows the document change by change, and always equals a scene built from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass

from PySide6.QtCore import QObject, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QTransform
from PySide6.QtWidgets import QGraphicsItem, QGraphicsScene

from app.canvas.items import geometry as g
from app.canvas.items.detail import Detail
from app.canvas.items.face import Face, face_of
from app.canvas.items.grid import paint_grid
from app.canvas.items.link_item import LabelItem, LinkItem
from app.canvas.items.node_item import NodeItem
from app.canvas.items.routing import Boxes
from app.canvas.items.strokes import crossing
from app.canvas.scene.dressing import Dressing
from app.canvas.scene.wires import Wires
from app.theme import themes
from app.workspace.engine_parts import Shapes
from app.workspace.open_document import TrainableDocument
from engine.document.document import Change
from engine.document.graph import Link, Node, link_key
from engine.shapes.problems import Problem
from engine.shapes.signatures import Signature
from engine.values import natural

MARGIN = 400.0
WIRE_REACH = 6.0
MOST_FACES = 10_000
BADGE_REACH = 11.0


@dataclass(frozen=True, slots=True)
class PortHit:
    """A port under the cursor; `side` is "in" or "out"."""

    node_id: str
    port: str
    side: str


class GraphScene(QGraphicsScene):
    """One NodeItem a node and one LinkItem a link of the workspace's document."""

    arranged = Signal()  # nodes came, went or moved
    link_selection_changed = Signal()

    def __init__(self, workspace: TrainableDocument, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.workspace = workspace
        self.node_items: dict[str, NodeItem] = {}
        self.selected_links: frozenset[Link] = frozenset()
        self.picked_bend: tuple[Link, int] | None = None
        self.boxes = Boxes()
        self.detail = Detail()
        self.wires = Wires(self)
        self.link_items = self.wires.items
        self.dressing = Dressing(self)
        self._previewed: dict[str, g.Box] = {}  # where nodes under `preview` stood before
        self._lit: set[str] = set()
        self._faces: dict[str, tuple[Node, list[Link], list[Link], Face]] = {}  # with what they were made of
        self.setItemIndexMethod(QGraphicsScene.ItemIndexMethod.BspTreeIndex)
        workspace.changed.connect(self.follow)
        workspace.scope_changed.connect(self._change_scope)
        workspace.inferred.connect(self.show_inferred)
        workspace.selected.connect(self.show_selection)
        workspace.parts_shown.connect(self._show_parts)
        workspace.layer_stepped.connect(self._show_stage)
        themes.theme_changed.connect(self.restyle)
        self.rebuild()

    # -- following the document

    def rebuild(self) -> None:
        """Brings every item up to date with the document, whatever it showed before."""
        graph = self.workspace.graph
        self._sync(set(graph.nodes) | set(self.node_items))
        self._dress()
        self.show_inferred()
        self.show_selection(self.workspace.selection)

    def follow(self, change: Change) -> None:
        """Shows what a change of the document touched."""
        if change.kind == "load":
            self.select_links(())
            self.rebuild()
            return
        self._sync(change.touched | self._instances())
        self._dress()
        self.show_selection(self.workspace.selection)

    def _change_scope(self, scope: str) -> None:
        self.select_links(())
        self.rebuild()

    def _instances(self) -> set[str]:
        """The nodes that stand for blocks: a change inside one may change its ports."""
        if not self.workspace.document.project.blocks:
            return set()
        return {node_id for node_id, node in self.workspace.graph.nodes.items() if node.block}

    def _dress(self) -> None:
        if self.dressing.sync():
            self._fit_scene_rect()
            self.arranged.emit()

    def _sync(self, touched: Set[str]) -> None:
        """Shows these nodes and their wires as the document has them now, which may be not at all."""
        graph = self.workspace.graph
        stale: set[Link] = self.wires.of(touched)
        current: set[Link] = set()
        for node_id in graph.nodes.keys() & touched:
            current.update(graph.incoming(node_id), graph.outgoing(node_id))
        gone, new = stale - current, current - stale
        for link in gone:
            self.wires.take(link)
        # The other end of a lost or new wire changes too: its free ports, its labels.
        ends = {end for link in gone | new for end in (link.source, link.target)}
        dirty: list[g.Box] = []
        for node_id in sorted(touched | ends, key=natural):
            dirty += self._sync_node(node_id)
        for link in sorted(new, key=link_key):
            self.wires.put(link)
        if dirty or new or gone:
            self.wires.reroute(touched | ends, dirty)
        else:
            self.wires.rebend(touched)
        if self.picked_bend is not None and not self._bend_is_there(self.picked_bend):
            self.picked_bend = None
        if dirty or new or gone:
            self._fit_scene_rect()
            if self.detail.suit(len(self.node_items)):
                self.update()
            self.arranged.emit()
        if self.selected_links - self.link_items.keys():
            self.select_links(self.selected_links)

    def bends(self, link: Link) -> tuple[g.Point, ...]:
        """The points that the document leads a wire through."""
        return self.workspace.graph.bends(link)

    def _sync_node(self, node_id: str) -> list[g.Box]:
        """Shows one node as the document has it; returns what it covered and covers, where that changed."""
        graph = self.workspace.graph
        node, item = graph.nodes.get(node_id), self.node_items.get(node_id)
        before = None if item is None else self._previewed.pop(node_id, None) or item.box()
        if node is None:
            if item is not None:
                self._take_node(node_id)
            return [] if before is None else [before]
        face = self._face(node)
        if item is None:
            item = self._put_node(node_id, face)
        item.show_face(face)
        item.show_linked(
            frozenset(link.target_port for link in graph.incoming(node_id)),
            frozenset(link.source_port for link in graph.outgoing(node_id)),
        )
        item.setPos(*node.position)
        if item.box() != self.boxes.get(node_id):
            self.boxes.put(node_id, item.box())
        return [] if before == item.box() else [box for box in (before, item.box()) if box is not None]

    def _face(self, node: Node) -> Face:
        """The face of a node; kept also when it goes, as undo brings back the very same nodes."""
        graph = self.workspace.graph
        incoming, outgoing = graph.incoming(node.id), graph.outgoing(node.id)
        known = self._faces.get(node.id)
        if known is not None and known[0] is node and known[1:3] == (incoming, outgoing):
            return known[3]
        face = face_of(node, graph, self.workspace.catalogue, self.workspace.document.project)
        if not node.block:  # the face of an instance also depends on its block
            if len(self._faces) >= MOST_FACES:
                self._faces.clear()
            self._faces[node.id] = (node, incoming, outgoing, face)
        return face

    def _put_node(self, node_id: str, face: Face) -> NodeItem:
        item = NodeItem(node_id, face, self.detail)
        item.show_part(self.workspace.parts.get(node_id, ""))
        item.show_stage(self._stage_of(node_id))
        self.node_items[node_id] = item
        self.addItem(item)
        return item

    def _take_node(self, node_id: str) -> None:
        self.boxes.drop(node_id)
        self._lit.discard(node_id)
        self.removeItem(self.node_items.pop(node_id))

    # -- moving without changing the document yet

    def preview(self, positions: Mapping[str, g.Point]) -> None:
        """Shows nodes at other places and their wires with them, until `settle` or the next change."""
        shifts: dict[str, g.Point] = {}
        for node_id, (x, y) in positions.items():
            item = self.node_items[node_id]
            shifts[node_id] = (x - item.x(), y - item.y())
            self._previewed.setdefault(node_id, item.box())
            item.setPos(x, y)
            self.boxes.put(node_id, item.box())
        self.wires.follow(shifts)
        self.dressing.refit(positions)

    def settle(self, node_ids: Iterable[str]) -> None:
        """Takes nodes back to where the document has them, after a preview that came to nothing."""
        nodes = self.workspace.graph.nodes
        ids = [node_id for node_id in node_ids if node_id in nodes and node_id in self.node_items]
        dirty = []
        for node_id in ids:
            item = self.node_items[node_id]
            dirty += [item.box(), self._previewed.pop(node_id, item.box())]
            item.setPos(*nodes[node_id].position)
            self.boxes.put(node_id, item.box())
        self.wires.reroute(ids, dirty)
        self.dressing.sync()

    # -- shapes, counts, problems

    def show_inferred(self) -> None:
        """Shows shapes on wires, parameter counts and problems as the shape book has them."""
        shapes = self.workspace.shapes
        if shapes is None:
            return
        problems: dict[str, tuple[str, str]] = {}
        bad_ports: set[tuple[str, str]] = set()
        for problem in self._problems(shapes):
            if problem.node_id is None:
                continue
            if problem.severity == "error" and problem.port is not None:
                bad_ports.add((problem.node_id, problem.port))
            known = problems.get(problem.node_id)
            if known is None or (known[0] != "error" and problem.severity == "error"):
                problems[problem.node_id] = (problem.severity, problem.message)
        for node_id, item in self.node_items.items():
            count = shapes.parameters(node_id)
            item.show_facts(f"{count:,}" if count else "", problems.get(node_id))
        # Of several wires from one port the first is labelled, others where they run alone long enough.
        first: dict[tuple[str, str], Link] = {}
        for link in self.link_items:
            port = (link.source, link.source_port)
            earlier = first.get(port)
            if earlier is None or link < earlier:
                first[port] = link
        for link, wire in self.link_items.items():
            wire.show_state(bad=(link.target, link.target_port) in bad_ports)
            carried = shapes.signature(link.source, link.source_port)
            self._label(wire, self._label_text(link, carried), first[link.source, link.source_port] is link)

    def _problems(self, shapes: Shapes) -> list[Problem]:
        """The problems of the graph that is shown; of a block, as it stands in its first instance."""
        if not self.workspace.scope:
            return list(shapes.problems)
        waiting = list(shapes.books.values())
        while waiting:
            book = waiting.pop(0)
            if any(node_id in book.types for node_id in self.node_items):
                return list(book.problems)
            waiting += book.books.values()
        return []

    def problems_of(self, node_id: str) -> list[Problem]:
        """What is wrong with a node on the canvas, errors first."""
        shapes = self.workspace.shapes
        if shapes is None or node_id not in self.node_items:
            return []
        found = [problem for problem in self._problems(shapes) if problem.node_id == node_id]
        return sorted(found, key=lambda problem: problem.severity != "error")

    def _label_text(self, link: Link, signature: Signature | None) -> str:
        if signature is None:
            return ""
        if signature.shape:
            return str(signature)
        spot = self.node_items[link.source].face.layout.spot(link.source_port, "out")
        return spot.label if spot is not None else ""

    def _label(self, item: LinkItem, text: str, first: bool) -> None:
        label = item.label
        if label is not None and label.text == text:
            label.show_first(first, item.route)
            return
        if label is not None:
            label.show_text(text, first, item.route)
        elif text:
            item.label = LabelItem(text, item.route, first=first)
            self.addItem(item.label)
            item.settle_label()

    def _show_parts(self) -> None:
        """Marks what an objective trains, freezes and leaves out."""
        parts = self.workspace.parts
        for node_id, item in self.node_items.items():
            item.show_part(parts.get(node_id, ""))

    def _stage_of(self, node_id: str) -> str:
        step = self.workspace.layer_step
        return step["stage"] if step and node_id in step["nodes"] else ""

    def _show_stage(self) -> None:
        """Rings the nodes that a batch has come to."""
        for node_id, item in self.node_items.items():
            item.show_stage(self._stage_of(node_id))

    # -- selection

    def show_selection(self, ids: tuple[str, ...]) -> None:
        """Marks the selected nodes."""
        wanted = {node_id for node_id in ids if node_id in self.node_items}
        for node_id in self._lit - wanted:
            if node_id in self.node_items:
                self.node_items[node_id].show_selected(False)
        for node_id in wanted:
            self.node_items[node_id].show_selected(True)
        self._lit = wanted

    def select_links(self, links: Iterable[Link]) -> None:
        """Selects these wires and no others; the document does not know of it."""
        wanted = frozenset(link for link in links if link in self.link_items)
        if wanted == self.selected_links:
            return
        for link in self.selected_links ^ wanted:
            if link in self.link_items:
                self.link_items[link].show_state(selected=link in wanted)
        self.selected_links = wanted
        self.link_selection_changed.emit()

    def pick_bend(self, bend: tuple[Link, int] | None) -> None:
        """Selects one bend of a wire, or none."""
        before = self.picked_bend
        self.picked_bend = bend if bend is not None and self._bend_is_there(bend) else None
        for one in (before, self.picked_bend):
            item = self.link_items.get(one[0]) if one is not None else None
            if item is not None:
                picked = self.picked_bend
                item.show_bend(picked[1] if picked is not None and picked[0] == item.link else None)

    def _bend_is_there(self, bend: tuple[Link, int]) -> bool:
        return bend[0] in self.link_items and bend[1] < len(self.bends(bend[0]))

    def choose_nothing(self) -> None:
        """Gives up whatever is selected beside nodes: wires, a bend, frames, notes."""
        self.select_links(())
        self.pick_bend(None)
        self.dressing.choose(())

    # -- what is where

    def shows(self, key: str) -> bool:
        """Whether there is a node, a frame or a note of this id on the canvas."""
        return key in self.node_items or key in self.dressing.frames or key in self.dressing.notes

    def _items_in(self, rect: QRectF) -> Iterator[QGraphicsItem]:
        mode = Qt.ItemSelectionMode.IntersectsItemBoundingRect
        return iter(self.items(rect, mode, Qt.SortOrder.DescendingOrder, QTransform()))

    def node_at(self, point: QPointF) -> NodeItem | None:
        """The topmost node whose body holds a scene point."""
        here = (point.x(), point.y(), point.x(), point.y())
        for item in self._items_in(QRectF(point.x() - 0.5, point.y() - 0.5, 1, 1)):
            if isinstance(item, NodeItem) and _holds(item.box(), here):
                return item
        return None

    def badge_at(self, point: QPointF) -> NodeItem | None:
        """The topmost node whose problem badge holds a scene point; none where badges are not drawn."""
        if self.detail.zoom < self.detail.plates_below:
            return None
        reach = BADGE_REACH
        here = (point.x(), point.y(), point.x(), point.y())
        for item in self._items_in(QRectF(point.x() - reach, point.y() - reach, 2 * reach, 2 * reach)):
            if not isinstance(item, NodeItem):
                continue
            away = item.mapFromScene(point) - item.badge_place()
            if item.problem is not None and QPointF.dotProduct(away, away) <= reach**2:
                return item
            if _holds(item.box(), here):
                return None
        return None

    def port_at(self, point: QPointF, reach: float, side: str | None = None) -> PortHit | None:
        """The nearest port within `reach` of a scene point, on one side of the nodes or on both."""
        best: tuple[float, PortHit] | None = None
        for item in self._items_in(QRectF(point.x() - reach, point.y() - reach, 2 * reach, 2 * reach)):
            if not isinstance(item, NodeItem):
                continue
            for here, spots in (("in", item.face.layout.inputs), ("out", item.face.layout.outputs)):
                if side is not None and here != side:
                    continue
                for spot in spots:
                    x, y = item.x() + spot.x - point.x(), item.y() + spot.y - point.y()
                    away = (x * x + y * y) ** 0.5
                    if away <= reach and (best is None or away < best[0]):
                        best = (away, PortHit(item.node_id, spot.name, here))
        return best[1] if best is not None else None

    def link_at(self, point: QPointF, reach: float = WIRE_REACH) -> LinkItem | None:
        """The nearest wire within `reach` of a scene point."""
        area = QRectF(point.x() - reach, point.y() - reach, 2 * reach, 2 * reach)
        wires = (item for item in self._items_in(area) if isinstance(item, LinkItem) and item.isVisible())
        near = [(item.distance(point), item.link, item) for item in wires]
        best = min(near, key=lambda found: found[:2], default=None)
        return best[2] if best is not None and best[0] <= reach else None

    def bend_at(self, point: QPointF, reach: float = WIRE_REACH) -> tuple[Link, int] | None:
        """The nearest bend of a wire within `reach` of a scene point."""
        area = QRectF(point.x() - reach, point.y() - reach, 2 * reach, 2 * reach)
        best: tuple[float, Link, int] | None = None
        for item in self._items_in(area):
            if not isinstance(item, LinkItem) or not item.isVisible():
                continue
            for index, (x, y) in enumerate(item.route.bends):
                away = ((x - point.x()) ** 2 + (y - point.y()) ** 2) ** 0.5
                if away <= reach and (best is None or away < best[0]):
                    best = (away, item.link, index)
        return best[1:] if best is not None else None

    def links_across(self, a: QPointF, b: QPointF) -> Iterator[tuple[Link, g.Point]]:
        """The wires that a straight stroke crosses, with where it does, in canonical order."""
        area = QRectF(a, b).normalized().adjusted(-1, -1, 1, 1)
        start, end = (a.x(), a.y()), (b.x(), b.y())
        wires = [item for item in self._items_in(area) if isinstance(item, LinkItem) and item.isVisible()]
        for item in sorted(wires, key=_canonical):
            place = crossing(start, end, item.polyline())
            if place is not None:
                yield item.link, place

    def nodes_in(self, rect: QRectF) -> list[str]:
        """The nodes whose bodies a rectangle touches, in canonical order."""
        area = (rect.left(), rect.top(), rect.right(), rect.bottom())
        return sorted((key for key, _ in self.boxes.near(area)), key=natural)

    def links_in(self, rect: QRectF) -> list[Link]:
        """The wires that lie wholly inside a rectangle."""
        mode = Qt.ItemSelectionMode.ContainsItemBoundingRect
        found = self.items(rect, mode, Qt.SortOrder.AscendingOrder, QTransform())
        return sorted(item.link for item in found if isinstance(item, LinkItem))

    def bounds(self, ids: Iterable[str] | None = None) -> QRectF | None:
        """The rectangle around all nodes, or around these; None for none."""
        boxes = self.boxes.all()
        chosen = boxes.values() if ids is None else [boxes[node_id] for node_id in ids if node_id in boxes]
        box = g.around(chosen)
        found = None if box is None else QRectF(box[0], box[1], box[2] - box[0], box[3] - box[1])
        dressed = self.dressing.bounds() if ids is None else QRectF()
        return found if dressed.isNull() else dressed if found is None else found.united(dressed)

    def _fit_scene_rect(self) -> None:
        # Qt's own scene rectangle only grows; the index divides this one.
        bounds = self.bounds() or QRectF()
        self.setSceneRect(bounds.adjusted(-MARGIN, -MARGIN, MARGIN, MARGIN))

    # -- looks

    def restyle(self) -> None:
        """Repaints everything in the current theme."""
        for node in self.node_items.values():
            node.restyle()
        self.dressing.restyle()
        for link in self.link_items.values():
            if link.label is not None:
                link.label.place(link.route)
        self.invalidate()
        self.update()

    def drawBackground(self, painter: QPainter, rect: QRectF | QRect) -> None:
        paint_grid(painter, QRectF(rect))


def _canonical(item: LinkItem) -> tuple[object, ...]:
    return link_key(item.link)


def _holds(box: g.Box, point: g.Box) -> bool:
    return box[0] <= point[0] <= box[2] and box[1] <= point[1] <= box[3]
