"""Dragging nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from app.editor.geometry import Point, finite, snapped
from app.editor.insertion import Insertion, find_insertion
from app.editor.interactions.base import Interaction, Pointer
from engine.edits import Move

if TYPE_CHECKING:
    from app.editor.view import GraphView


class MoveNodes(Interaction):
    """Moves the selected nodes: one step for the whole drag. Ctrl leaves the snapping grid.

    A single node without wires can be dropped on a wire and is put into it; Alt keeps it out.
    """

    def __init__(self, view: GraphView, start: Pointer, grabbed: str, *, click_selects: bool) -> None:
        super().__init__(view, start)
        self._grabbed = grabbed
        self._click_selects = click_selects
        self._origins: dict[str, Point] = {}
        self._positions: dict[str, Point] = {}
        self._insertion: Insertion | None = None

    @property
    def reaches_out(self) -> bool:
        return bool(self._origins)

    def move(self, pointer: Pointer) -> None:
        if not self._origins:
            if not self.travelled(pointer):
                return
            nodes = self.workspace.document.project.graph.nodes
            self._origins = {node_id: nodes[node_id].position for node_id in self.workspace.selection}
            if self._grabbed not in self._origins:
                self._origins = {}
                return
        away = pointer.scene - self.start.scene
        x, y = self._origins[self._grabbed]
        goal = (x + away.x(), y + away.y())
        if self.view.snapping and not pointer.has(Qt.KeyboardModifier.ControlModifier):
            goal = snapped(goal)
        dx, dy = goal[0] - x, goal[1] - y
        self._positions = {key: finite((px + dx, py + dy)) for key, (px, py) in self._origins.items()}
        self.scene.preview(self._positions)
        self._offer_wire(pointer)

    def _offer_wire(self, pointer: Pointer) -> None:
        found = None
        if len(self._origins) == 1 and not pointer.has(Qt.KeyboardModifier.AltModifier):
            found = find_insertion(self.view, self._grabbed, pointer.scene)
        if found != self._insertion:
            self._mark(self._insertion, False)
            self._insertion = found
            self._mark(found, True)

    def _mark(self, insertion: Insertion | None, on: bool) -> None:
        item = self.scene.link_items.get(insertion.link) if insertion is not None else None
        if item is not None:
            item.show_state(selected=on)

    def release(self, pointer: Pointer) -> None:
        insertion = self._insertion
        self._mark(insertion, False)
        if not self._origins:
            if self._click_selects:
                # Wires that were selected along with the rest would be deleted with the node.
                self.view.graph_scene.select_links(())
                self.workspace.select((self._grabbed,))
            return
        if insertion is not None:
            self.workspace.apply("Insert into wire", Move(self._positions), *insertion.edits())
        elif self._positions != self._origins:
            if not self.workspace.apply("Move", Move(self._positions)):
                self.scene.settle(self._origins)
        else:
            self.scene.settle(self._origins)

    def cancel(self) -> None:
        self._mark(self._insertion, False)
        self.scene.settle(self._origins)
