"""Selecting with a rectangle."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QRectF

from app.canvas.items.link_item import Marquee
from app.canvas.scene.canvas import GraphOnShow
from app.canvas.tools.base import Interaction, Pointer
from engine.document.graph import Link


class BoxSelect(Interaction):
    """A press on empty canvas: a click selects nothing, a drag what the box touches.

    With Shift or Ctrl the box adds to what was selected.
    """

    def __init__(self, view: GraphOnShow, start: Pointer) -> None:
        super().__init__(view, start)
        scene = view.graph_scene
        self._before = (view.workspace.selection, scene.selected_links, scene.dressing.chosen)
        self._kept = self._before if start.adds else ((), frozenset(), frozenset())
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
        self._select(self.scene.nodes_in(rect), self.scene.links_in(rect), self.scene.dressing.notes_in(rect))

    def release(self, pointer: Pointer) -> None:
        if self._box is None:
            self._select((), (), ())
            self.scene.pick_bend(None)
        self._clear()

    def cancel(self) -> None:
        if self._box is not None:
            self._kept = self._before
            self._select((), (), ())
        self._clear()

    def _select(self, nodes: Iterable[str], links: Iterable[Link], notes: Iterable[str]) -> None:
        """Selects these along with what is kept."""
        self.workspace.select((*self._kept[0], *nodes))
        self.scene.select_links((*self._kept[1], *links))
        self.scene.dressing.choose((*self._kept[2], *notes))

    def _clear(self) -> None:
        if self._box is not None:
            self.scene.removeItem(self._box)
            self._box = None
