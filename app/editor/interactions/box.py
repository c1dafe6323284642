"""Selecting with a rectangle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF

from app.editor.interactions.base import Interaction, Pointer
from app.editor.link_item import Marquee

if TYPE_CHECKING:
    from app.editor.view import GraphView


class BoxSelect(Interaction):
    """A press on empty canvas: a click selects nothing, a drag what the box touches.

    With Shift or Ctrl the box adds to what was selected.
    """

    def __init__(self, view: GraphView, start: Pointer) -> None:
        super().__init__(view, start)
        self._before = (view.workspace.selection, view.graph_scene.selected_links)
        self._kept = self._before if start.adds else ((), frozenset())
        self._box: Marquee | None = None

    @property
    def reaches_out(self) -> bool:
        return self._box is not None

    def move(self, pointer: Pointer) -> None:
        if self._box is None:
            if not self.travelled(pointer):
                return
            self._box = Marquee()
            self.scene.addItem(self._box)
        rect = QRectF(self.start.scene, pointer.scene).normalized()
        self._box.span(rect)
        self.workspace.select((*self._kept[0], *self.scene.nodes_in(rect)))
        self.scene.select_links((*self._kept[1], *self.scene.links_in(rect)))

    def release(self, pointer: Pointer) -> None:
        if self._box is None:
            self.workspace.select(self._kept[0])
            self.scene.select_links(self._kept[1])
        self._clear()

    def cancel(self) -> None:
        if self._box is not None:
            self.workspace.select(self._before[0])
            self.scene.select_links(self._before[1])
        self._clear()

    def _clear(self) -> None:
        if self._box is not None:
            self.scene.removeItem(self._box)
            self._box = None
