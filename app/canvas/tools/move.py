"""Dragging nodes, notes, and frames with their members."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QPointF, Qt

from app.canvas.editing.framing import membership
from app.canvas.editing.insertion import Insertion, find_insertion
from app.canvas.items.bends import carried_bends
from app.canvas.items.geometry import Point, finite, snapped
from app.canvas.tools.base import Interaction, Pointer, Surface
from engine.document.edits import ChangeNote, Edit, Move


class MoveNodes(Interaction):
    """Moves what is selected: one step for the whole drag. Ctrl leaves the snapping grid.

    A single node without wires can be dropped on a wire and is put into it; Alt keeps it out. F takes the
    nodes out of their frames, or puts them into the frame under the pointer.
    """

    def __init__(self, view: Surface, start: Pointer, grabbed: str, *, click_selects: bool) -> None:
        super().__init__(view, start)
        self.view = view
        self._grabbed = grabbed
        self._click_selects = click_selects
        self._origins: dict[str, Point] = {}
        self._positions: dict[str, Point] = {}
        self._by: Point = (0.0, 0.0)
        self._notes: dict[str, Point] = {}
        self._insertion: Insertion | None = None
        self._begun = False
        self._regroups = False
        self._last = start.scene

    @property
    def reaches_out(self) -> bool:
        return self._begun

    def _begin(self) -> bool:
        """Takes hold of the selected nodes and notes and of the members of selected frames."""
        project, dressing = self.workspace.document.project, self.scene.dressing
        nodes = self.workspace.graph.nodes
        ids = dict.fromkeys(self.workspace.selection)
        for key in sorted(dressing.chosen):
            if key in dressing.frames:
                ids.update(dict.fromkeys(sorted(project.frames[key].members)))
            else:
                self._notes[key] = project.notes_on_canvas[key].position
        self._origins = {node_id: nodes[node_id].position for node_id in ids if node_id in nodes}
        self._begun = bool(self._origins or self._notes)
        return self._begun

    def _anchor(self) -> Point:
        """The corner that keeps to the grid: of what was grabbed, or of the first that moves along."""
        known = self._origins.get(self._grabbed) or self._notes.get(self._grabbed)
        return known or next(iter((self._origins or self._notes).values()))

    def move(self, pointer: Pointer) -> None:
        if not self._begun and not (self.travelled(pointer) and self._begin()):
            return
        away = pointer.scene - self.start.scene
        x, y = self._anchor()
        goal = (x + away.x(), y + away.y())
        if self.view.snapping and not pointer.has(Qt.KeyboardModifier.ControlModifier):
            goal = snapped(goal)
        self._by = (goal[0] - x, goal[1] - y)
        self._last = pointer.scene
        self._positions = self._moved(self._origins)
        self.scene.preview(self._positions)
        self.scene.dressing.preview_notes(self._moved(self._notes))
        self._show_frames()
        self._offer_wire(pointer)

    def _moved(self, origins: dict[str, Point]) -> dict[str, Point]:
        dx, dy = self._by
        return {key: finite((x + dx, y + dy)) for key, (x, y) in origins.items()}

    # -- frames

    def key(self, key: Qt.Key) -> bool:
        if key != Qt.Key.Key_F or not self._origins:
            return False
        self._regroups = not self._regroups
        self.scene.dressing.refit(self._origins)
        self._show_frames()
        return True

    def _regrouped(self, point: QPointF) -> list[Edit]:
        """How F changes the frames, if it was pressed."""
        if not self._regroups:
            return []
        dressing = self.scene.dressing
        return membership(self.workspace, self._origins, dressing.frame_around(point))

    def _show_frames(self) -> None:
        if not self._regroups:
            return
        leaving = {
            key: item.frame.members - self._origins.keys() for key, item in self.scene.dressing.frames.items()
        }
        for key, members in leaving.items():
            if members != self.scene.dressing.frames[key].frame.members:
                self.scene.dressing.preview_members(key, members)
        into = self.scene.dressing.frame_around(self._last)
        where = f"into {into.frame.title or 'the frame'}" if into is not None else "out of its frame"
        self.view.hint.say(where, self.view.mapFromScene(self._last))

    # -- wires

    def _offer_wire(self, pointer: Pointer) -> None:
        found = None
        alone = len(self._origins) == 1 and self._grabbed in self._origins and not self._notes
        if alone and not pointer.has(Qt.KeyboardModifier.AltModifier):
            found = find_insertion(self.view, self._grabbed, pointer.scene)
        if found != self._insertion:
            self._mark(self._insertion, False)
            self._insertion = found
            self._mark(found, True)

    def _mark(self, insertion: Insertion | None, on: bool) -> None:
        item = self.scene.link_items.get(insertion.link) if insertion is not None else None
        if item is not None:
            item.show_state(selected=on)

    # -- the end

    def release(self, pointer: Pointer) -> None:
        insertion = self._insertion
        self._mark(insertion, False)
        self.view.hint.clear_away()
        if not self._begun:
            if self._click_selects:
                self._select_alone()
            return
        edits = self._edits(pointer)
        label = "Move"
        if insertion is not None:
            edits += insertion.edits()
            label = "Insert into wire"
        if not edits or not self.workspace.apply(label, *edits):
            self._settle()

    def _edits(self, pointer: Pointer) -> list[Edit]:
        edits: list[Edit] = []
        if self._by != (0.0, 0.0):
            if self._positions:
                edits.append(Move(self._positions))
                edits += carried_bends(self.workspace.graph, self._positions, self._by)
            notes = self.workspace.document.project.notes_on_canvas
            for key, place in self._moved(self._notes).items():
                edits.append(ChangeNote(replace(notes[key], position=place)))
        return edits + self._regrouped(pointer.scene)

    def _select_alone(self) -> None:
        # What was selected along with the rest would be deleted with it.
        self.scene.choose_nothing()
        if self._grabbed in self.scene.node_items:
            self.workspace.select((self._grabbed,))
        else:
            self.workspace.select(())
            self.scene.dressing.choose((self._grabbed,))

    def _settle(self) -> None:
        self.scene.settle(self._origins)

    def cancel(self) -> None:
        self._mark(self._insertion, False)
        self.view.hint.clear_away()
        self._settle()
