"""Drawing a wire, or taking an existing one off its input."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, Qt

from app.canvas.editing.joining import fitting_types, judged, new_node_for
from app.canvas.items.geometry import FIRST_PORT, WIDTH, Point
from app.canvas.items.link_item import DraftWire
from app.canvas.scene.scene import PortHit
from app.canvas.tools.base import Interaction, Pointer, Surface
from engine.catalogue.connect import Verdict
from engine.document.edits import AddNodes, Connect, Disconnect, Edit
from engine.document.graph import Link

MOST_JUDGED = 200  # nodes in view; beyond it, only the one under the cursor is judged


@dataclass(frozen=True, slots=True)
class Loose:
    """The end of a wire that stays on its port while the other follows the cursor."""

    node_id: str
    port: str
    side: str  # "out": the loose end looks for an input

    @property
    def wanted(self) -> str:
        return "in" if self.side == "out" else "out"

    def link_to(self, node_id: str, port: str) -> Link:
        """The link that would join this end to a port of the other side."""
        if self.side == "out":
            return Link(self.node_id, self.port, node_id, port)
        return Link(node_id, port, self.node_id, self.port)


def from_port(view: Surface, start: Pointer, hit: PortHit) -> DragWire:
    """A new wire from a port, or the one that ends there taken off its input."""
    graph = view.workspace.graph
    old = graph.feeding(hit.node_id, hit.port) if hit.side == "in" else None
    if old is not None:
        return taken_off(view, start, old, "in")
    return DragWire(view, start, Loose(hit.node_id, hit.port, hit.side))


def taken_off(view: Surface, start: Pointer, link: Link, side: str) -> DragWire:
    """A wire taken off its input ("in") or off its output ("out"); the other end stays."""
    if side == "in":
        return DragWire(view, start, Loose(link.source, link.source_port, "out"), link)
    return DragWire(view, start, Loose(link.target, link.target_port, "in"), link)


class DragWire(Interaction):
    """From a press on a port to the release on another one, on a node, or on empty canvas.

    The document is not touched before the release: a wire taken off a port is only hidden until then.
    """

    cursor = Qt.CursorShape.CrossCursor

    def __init__(self, view: Surface, start: Pointer, fixed: Loose, old: Link | None = None) -> None:
        super().__init__(view, start)
        self.view = view
        self.fixed = fixed
        self._old = old
        self._draft: DraftWire | None = None
        self._verdicts: dict[tuple[str, str], Verdict] = {}
        self._marked: set[str] = set()
        self._dimmed: set[str] = set()
        self._over: str | None = None
        self.choosing = False

    @property
    def survives_focus_out(self) -> bool:
        return self.choosing

    @property
    def reaches_out(self) -> bool:
        return self._draft is not None and not self.choosing

    # -- following the pointer

    def move(self, pointer: Pointer) -> None:
        if self.choosing:
            return
        if self._draft is None:
            if not self.travelled(pointer):
                return
            if not self._begin():
                return
        goal = self._goal(pointer)
        verdict = self._verdict(goal) if goal is not None else None
        refused = verdict is not None and not verdict.ok
        loose = pointer.scene
        if goal is not None and verdict is not None and verdict.ok:
            place = self.scene.node_items[goal.node_id].port_place(goal.port, goal.side)
            loose = place if place is not None else loose
        if self._draft is not None:
            self._draft.lead_to((loose.x(), loose.y()), refused=refused)
        self._say(pointer, goal, verdict)
        self._light(goal, verdict)

    def _begin(self) -> bool:
        item = self.scene.node_items.get(self.fixed.node_id)
        place = item.port_place(self.fixed.port, self.fixed.side) if item is not None else None
        if place is None:
            return False
        self._draft = DraftWire((place.x(), place.y()), from_output=self.fixed.side == "out")
        self.scene.addItem(self._draft)
        self._hide_old(True)
        self._judge_visible()
        return True

    def _hide_old(self, hidden: bool) -> None:
        item = self.scene.link_items.get(self._old) if self._old is not None else None
        if item is not None:
            item.show_hidden(hidden)

    def _goal(self, pointer: Pointer) -> PortHit | None:
        """The port meant: the nearest one, or a free one of the node under the cursor that fits.

        Where it has none, no port is meant: only a wire let go on a port itself replaces another.
        """
        hit = self.scene.port_at(pointer.scene, self.view.port_reach(), self.fixed.wanted)
        if hit is not None:
            return hit
        item = self.scene.node_at(pointer.scene)
        if item is None or item.node_id == self.fixed.node_id:
            return None
        layout = item.face.layout
        spots = layout.inputs if self.fixed.wanted == "in" else layout.outputs
        hits = [PortHit(item.node_id, spot.name, self.fixed.wanted) for spot in spots]
        free = [
            hit for hit in hits if (found := self._verdict(hit)).ok and found.replaces in (None, self._old)
        ]
        refused = [hit for hit in hits if not self._verdict(hit).ok]
        return next(iter(free or refused), PortHit(item.node_id, "", self.fixed.wanted))

    def _verdict(self, goal: PortHit) -> Verdict:
        key = (goal.node_id, goal.port)
        found = self._verdicts.get(key)
        if found is None:
            link = self.fixed.link_to(*key)
            item = self.scene.node_items[goal.node_id]
            if not goal.port and item.face.layout.inputs and goal.side == "in":
                said = f"{item.face.name} has no free input: let go on a port to replace its wire."
                return Verdict(False, said)
            found = Verdict(True, "", None, link) if link == self._old else judged(self.workspace, link)
            self._verdicts[key] = found
        return found

    # -- showing what fits

    def _judge_visible(self) -> None:
        """Greys out the nodes in view that cannot take the wire and marks the ports that can."""
        ids = self.scene.nodes_in(self.view.visible_rect())
        if len(ids) > MOST_JUDGED:
            return
        for node_id in ids:
            item = self.scene.node_items[node_id]
            layout = item.face.layout
            spots = layout.inputs if self.fixed.wanted == "in" else layout.outputs
            side = self.fixed.wanted
            good = [spot.name for spot in spots if self._verdict(PortHit(node_id, spot.name, side)).ok]
            if good:
                item.show_marks({(side, name): True for name in good})
                self._marked.add(node_id)
            elif node_id != self.fixed.node_id:
                item.show_dimmed(True)
                self._dimmed.add(node_id)

    def _light(self, goal: PortHit | None, verdict: Verdict | None) -> None:
        """Marks the refused port under the cursor, and only that one, as refused."""
        over = goal.node_id if goal is not None and verdict is not None and not verdict.ok else None
        if over == self._over:
            return
        before = self.scene.node_items.get(self._over) if self._over is not None else None
        if before is not None:
            before.show_marks({key: True for key, fits in before.marked.items() if fits})
        self._over = over
        now = self.scene.node_items.get(over) if over is not None else None
        if now is not None and goal is not None:
            now.show_marks({**now.marked, (goal.side, goal.port): False})
            self._marked.add(now.node_id)

    def _say(self, pointer: Pointer, goal: PortHit | None, verdict: Verdict | None) -> None:
        if verdict is None or goal is None:
            self.view.hint.clear_away()
        elif not verdict.ok:
            self.view.hint.say(verdict.reason, pointer.view, bad=True)
        elif verdict.replaces is not None and verdict.replaces != self._old:
            self.view.hint.say(self._replaces(verdict.replaces), pointer.view)
        else:
            self.view.hint.say(self._port_title(goal), pointer.view)

    def _replaces(self, link: Link) -> str:
        return f"replaces the wire from {self.workspace.graph.nodes[link.source].name or link.source}"

    def _port_title(self, goal: PortHit) -> str:
        """The port a wire would end at, with its node's name."""
        face = self.scene.node_items[goal.node_id].face
        spot = face.layout.spot(goal.port, goal.side)
        return f"{face.name} · {spot.label}" if spot is not None else face.name

    # -- the end

    def release(self, pointer: Pointer) -> None:
        if self._draft is None:
            return
        goal = self._goal(pointer)
        if goal is None:
            home = self.scene.node_at(pointer.scene)
            if home is not None and home.node_id == self.fixed.node_id:
                self.cancel()  # brought back to where it came from: never mind
            elif self._old is not None:
                old = self._old
                self.cancel()
                self.workspace.apply("Disconnect", Disconnect(old))
            else:
                self._choose(pointer)
            return
        verdict = self._verdict(goal)
        self.cancel()
        if not verdict.ok:
            self.workspace.message.emit(verdict.reason, "warning")
        elif verdict.link is not None and verdict.link != self._old:
            replaced = verdict.replaces if verdict.replaces != self._old else None
            edits: list[Edit] = [Disconnect(link) for link in (self._old, replaced) if link is not None]
            label = "Connect" if self._old is None else "Reconnect"
            told = self._replaces(replaced) if replaced is not None else ""
            if self.workspace.apply(label, *edits, Connect(verdict.link)) and told:
                self.workspace.message.emit(f"This {told}; undo brings it back.", "info")

    def _choose(self, pointer: Pointer) -> None:
        """Offers the node types that fit; the wire stays where it was let go until one is chosen or none."""
        self._unlight()
        self.view.hint.clear_away()
        self.choosing = True
        types = fitting_types(self.workspace, self.fixed.link_to)
        self.view.gestures.keep(self)
        self.view.finder.offer(pointer.view, types, self._chosen, self._given_up)
        self._choice_place = pointer.scene

    def _chosen(self, type_id: str) -> None:
        place = self._node_corner(self._choice_place)
        self.view.gestures.done(self)
        found = new_node_for(self.workspace, type_id, place, self.fixed.link_to)
        if found is not None:
            node, link = found
            links = (link,) if link is not None else ()
            if self.workspace.apply(f"Add {node.name}", AddNodes((node,), links, self.workspace.scope)):
                self.workspace.select((node.id,))

    def _node_corner(self, end: QPointF) -> Point:
        """Where the new node stands so that its first port is where the wire was let go."""
        x = end.x() if self.fixed.wanted == "in" else end.x() - WIDTH
        return x, end.y() - FIRST_PORT

    def _given_up(self) -> None:
        self.view.gestures.done(self)

    def cancel(self) -> None:
        if self.choosing:
            self.choosing = False
            self.view.finder.close()
        if self._draft is not None:
            self.scene.removeItem(self._draft)
            self._draft = None
        self._hide_old(False)
        self._unlight()
        self.view.hint.clear_away()

    def _unlight(self) -> None:
        for node_id in self._marked | self._dimmed:
            item = self.scene.node_items.get(node_id)
            if item is not None:
                item.show_marks({})
                item.show_dimmed(False)
        self._marked.clear()
        self._dimmed.clear()
        self._over = None
