"""Moving all wires of an output to another output at once."""

from __future__ import annotations

from PySide6.QtCore import Qt

from app.canvas.editing.joining import judged
from app.canvas.items.link_item import DraftWire
from app.canvas.scene.scene import PortHit
from app.canvas.tools.base import Interaction, Pointer, Surface
from engine.document.edits import Connect, Disconnect
from engine.document.graph import Link


class MoveWires(Interaction):
    """Ctrl and a drag from an output: its wires follow the pointer and end at the output they are let go on.

    Let go anywhere else, they stay where they were.
    """

    cursor = Qt.CursorShape.CrossCursor

    def __init__(self, view: Surface, start: Pointer, hit: PortHit) -> None:
        super().__init__(view, start)
        self.view = view
        self._hit = hit
        graph = self.workspace.graph
        self._links = [one for one in graph.outgoing(hit.node_id) if one.source_port == hit.port]
        self._drafts: list[DraftWire] = []

    @property
    def reaches_out(self) -> bool:
        return bool(self._drafts)

    def move(self, pointer: Pointer) -> None:
        if not self._drafts:
            if not self._links or not self.travelled(pointer):
                return
            self._begin()
        goal = self._goal(pointer)
        moved, reason = self._moved(goal) if goal is not None else ([], "")
        place = pointer.scene
        if goal is not None and moved:
            place = self.scene.node_items[goal.node_id].port_place(goal.port, "out") or place
        for draft in self._drafts:
            draft.lead_to((place.x(), place.y()), refused=bool(reason))
        if reason:
            self.view.hint.say(reason, pointer.view, bad=True)
        elif goal is not None:
            count = len(self._links)
            what = "1 wire" if count == 1 else f"{count} wires"
            self.view.hint.say(f"{self.scene.node_items[goal.node_id].face.name} · {what}", pointer.view)
        else:
            self.view.hint.clear_away()

    def _begin(self) -> None:
        for link in self._links:
            ends = self.scene.wires.ends(link)
            if ends is not None:
                self._drafts.append(DraftWire(ends[1], from_output=False))
                self.scene.addItem(self._drafts[-1])
                self.scene.link_items[link].show_hidden(True)

    def _goal(self, pointer: Pointer) -> PortHit | None:
        """The output under the pointer, or the first one of the node there."""
        hit = self.scene.port_at(pointer.scene, self.view.port_reach(), "out")
        if hit is not None:
            return hit
        item = self.scene.node_at(pointer.scene)
        if item is None or not item.face.layout.outputs or item.node_id == self._hit.node_id:
            return None
        return PortHit(item.node_id, item.face.layout.outputs[0].name, "out")

    def _moved(self, goal: PortHit) -> tuple[list[Link], str]:
        """The wires as they would be, or the reason why one of them cannot be."""
        if goal == self._hit:
            return list(self._links), ""
        made = []
        for link in self._links:
            wanted = Link(goal.node_id, goal.port, link.target, link.target_port)
            verdict = judged(self.workspace, wanted)
            if not verdict.ok:
                return [], verdict.reason
            made.append(wanted)
        return made, ""

    def release(self, pointer: Pointer) -> None:
        goal = self._goal(pointer) if self._drafts else None
        self.cancel()
        if goal is None or goal == self._hit:
            return
        moved, reason = self._moved(goal)
        if reason:
            self.workspace.message.emit(reason, "warning")
            return
        self.workspace.apply("Move wires", *map(Disconnect, self._links), *map(Connect, moved))

    def cancel(self) -> None:
        for draft in self._drafts:
            self.scene.removeItem(draft)
        self._drafts.clear()
        for link in self._links:
            item = self.scene.link_items.get(link)
            if item is not None:
                item.show_hidden(False)
        self.view.hint.clear_away()
