"""Resizing a note by its corner."""

from __future__ import annotations

from dataclasses import replace

from app.canvas.items.geometry import Point, snapped
from app.canvas.scene.canvas import GraphOnShow
from app.canvas.tools.base import Interaction, Pointer
from engine.document.edits import ChangeNote

SMALLEST = (64.0, 40.0)
LARGEST = 4000.0


class ResizeNote(Interaction):
    """Follows the pointer with the lower right corner of a note; one step on release."""

    def __init__(self, view: GraphOnShow, start: Pointer, note_id: str) -> None:
        super().__init__(view, start)
        self._note_id = note_id
        self._size: Point | None = None

    def move(self, pointer: Pointer) -> None:
        if self._size is None and not self.travelled(pointer):
            return
        note = self.workspace.document.project.notes_on_canvas[self._note_id]
        away = pointer.scene - self.start.scene
        width, height = snapped((note.size[0] + away.x(), note.size[1] + away.y()))
        self._size = (
            min(LARGEST, max(SMALLEST[0], width)),
            min(LARGEST, max(SMALLEST[1], height)),
        )
        self.scene.dressing.notes[self._note_id].show_size(self._size)

    def release(self, pointer: Pointer) -> None:
        size, self._size = self._size, None
        note = self.workspace.document.project.notes_on_canvas[self._note_id]
        if size is not None and size != note.size:
            self.workspace.apply("Resize note", ChangeNote(replace(note, size=size)))

    def cancel(self) -> None:
        item = self.scene.dressing.notes.get(self._note_id)
        if item is not None and self._size is not None:
            item.show_size(item.note.size)
        self._size = None
