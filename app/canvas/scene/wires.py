"""The wires of a scene: their items, the ways they go, and how they keep apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from app.canvas.items import geometry as g
from app.canvas.items.drawn_nodes import DrawnNodes
from app.canvas.items.lanes import MOST, set_apart
from app.canvas.items.link_item import LinkItem
from app.canvas.items.routing import Boxes, Route, bent_route, find_route
from engine.document.graph import Link, link_key

MOST_EARLIER = 10_000  # ways kept because an undo may bring them back
_NOWHERE = Route(((0.0, 0.0), (0.0, 0.0)), True, (0.0, 0.0, 0.0, 0.0))


class Wires:
    """One LinkItem a link; knows which wires a node has and where each of them runs."""

    def __init__(self, scene: DrawnNodes) -> None:
        self._scene = scene
        self.items: dict[Link, LinkItem] = {}
        self._of: dict[str, set[Link]] = {}
        self._routes: dict[Link, Route] = {}
        self._earlier: dict[Link, tuple[int, Route]] = {}  # with the state of the boxes that led it this way
        self._settled: int | None = None  # the state of the boxes for which every wire goes its way
        self._cornered: set[Link] = set()
        self._apart = True  # whether wires with corners are few enough to be set apart

    def of(self, node_ids: Iterable[str]) -> set[Link]:
        """The wires that start or end at these nodes."""
        return set().union(*(self._of.get(node_id, ()) for node_id in node_ids))

    def put(self, link: Link) -> None:
        """Shows a new wire; `reroute` its nodes to give it a way."""
        item = LinkItem(link, _NOWHERE, self._scene.detail)
        item.family = self._family(link)
        self.items[link] = item
        for end in (link.source, link.target):
            self._of.setdefault(end, set()).add(link)
        self._scene.addItem(item)

    def take(self, link: Link) -> None:
        """Takes a wire and its label away."""
        item = self.items.pop(link)
        route = self._routes.pop(link, None)
        if route is not None:
            self._remember(link, route)
        self._cornered.discard(link)
        for end in (link.source, link.target):
            links = self._of[end]
            links.discard(link)
            if not links:
                del self._of[end]
        if item.label is not None:
            self._scene.removeItem(item.label)
            item.label = None
        self._scene.removeItem(item)

    def _remember(self, link: Link, route: Route) -> None:
        """Keeps the way that a wire had: finding one is the dearest part of bringing many wires back."""
        if self._settled is None or route is _NOWHERE:
            return
        if len(self._earlier) >= MOST_EARLIER:
            self._earlier.clear()
        self._earlier[link] = (self._settled, route)

    def _family(self, link: Link) -> str:
        """Wires from any but the first column of a data source stand out: they bypass the model."""
        face = self._scene.node_items[link.source].face
        if face.kind != "data" or not face.layout.outputs:
            return ""
        return "" if face.layout.outputs[0].name == link.source_port else "data"

    # -- ways

    def reroute(self, node_ids: Iterable[str], dirty: list[g.Box]) -> None:
        """Routes the wires of these nodes and those that a changed box may be in the way of."""
        links = self.of(node_ids)
        whole = g.around(dirty)
        if whole is not None and len(links) < len(self.items):
            changed = Boxes()
            for index, box in enumerate(dirty):
                changed.put(str(index), box)
            for link, route in self._routes.items():
                if link not in links and g.meet(route.reach, whole) and changed.near(route.reach):
                    links.add(link)
        self.route(links)
        self._settled = self._scene.boxes.state

    def rebend(self, node_ids: Iterable[str]) -> None:
        """Nothing has moved, but wires of these nodes may be led through other points now."""
        self.route(
            [link for link in self.of(node_ids) if self._scene.bends(link) != self._routes[link].bends]
        )

    def route(self, links: Iterable[Link], bends: Mapping[Link, tuple[g.Point, ...]] | None = None) -> None:
        """Finds the way of these wires and shows it; `bends` stand in for those of the document."""
        found = list(links)
        # A wire that has lost its corners leaves room, so it counts as well.
        cornered = [link in self._cornered for link in found]
        for link in found:
            self._find(link, bends)
        changed = [link for link, had in zip(found, cornered, strict=True) if had or link in self._cornered]
        if changed:
            self._set_apart(changed)

    def _find(self, link: Link, bends: Mapping[Link, tuple[g.Point, ...]] | None) -> None:
        """Finds the way of one wire as if there were no others."""
        ends = self.ends(link)
        if ends is None:
            return
        points = self._scene.bends(link) if bends is None or link not in bends else bends[link]
        scene = self._scene
        if points:
            route = bent_route(*ends, points)
        else:
            state, route = self._earlier.get(link, (None, _NOWHERE))
            if state != scene.boxes.state or route.bends or (route.points[0], route.points[-1]) != ends:
                route = find_route(*ends, scene.boxes, link.source, link.target)
            if link in self._routes:
                self._remember(link, self._routes[link])
        self._routes[link] = route
        if route.curved:
            self._cornered.discard(link)
            self.items[link].show_route(route)
        else:
            self._cornered.add(link)

    def _set_apart(self, changed: list[Link]) -> None:
        """Shows the wires that have corners, moved aside where they would lie on each other."""
        apart = len(self._cornered) <= MOST
        if not apart and not self._apart:
            for link in changed:
                if link in self._cornered:
                    self.items[link].show_route(self._routes[link])
            return
        self._apart = apart
        routed = sorted(self._cornered, key=link_key)
        owned = [((link.source, link.source_port), self._routes[link]) for link in routed]
        for link, route in zip(routed, set_apart(owned), strict=True):
            self.items[link].show_route(route)

    def ends(self, link: Link) -> tuple[g.Point, g.Point] | None:
        """Where a wire starts and ends now; None when an end is not shown."""
        items = self._scene.node_items
        source, target = items.get(link.source), items.get(link.target)
        if source is None or target is None:
            return None
        start, end = source.port_place(link.source_port, "out"), target.port_place(link.target_port, "in")
        if start is None or end is None:
            return None
        return (start.x(), start.y()), (end.x(), end.y())

    def follow(self, shifts: Mapping[str, g.Point]) -> None:
        """Nodes have moved by so much: a wire between two that moved alike moves along, others find a way."""
        others = []
        self._settled = None  # other wires keep their ways until the nodes are let go
        for link in self.of(shifts):
            shift = shifts.get(link.source)
            if shift is None or shifts.get(link.target) != shift:
                others.append(link)
                continue
            wire = self.items[link]
            plain, shown = self._routes[link], wire.route
            self._routes[link] = plain.shifted(shift)
            wire.show_shifted(self._routes[link] if shown is plain else shown.shifted(shift), shift)
        self.route(others)
