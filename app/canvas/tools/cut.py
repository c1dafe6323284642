"""A stroke across wires: with Ctrl and the right button it cuts every wire that it crosses."""

from __future__ import annotations

from app.canvas.editing import editing
from app.canvas.items.geometry import Point
from app.canvas.items.strokes import StrokeItem
from app.canvas.scene.canvas import GraphOnShow
from app.canvas.tools.base import Interaction, Pointer
from engine.document.graph import Link


class Stroke(Interaction):
    """Follows the pointer and collects the wires it crosses, with the point where it first did."""

    cuts = False

    def __init__(self, view: GraphOnShow, start: Pointer) -> None:
        super().__init__(view, start)
        self.crossed: dict[Link, Point] = {}
        self._line: StrokeItem | None = None
        self._last = start.scene

    def move(self, pointer: Pointer) -> None:
        if self._line is None:
            if not self.travelled(pointer):
                return
            self._line = StrokeItem(self.start.scene, cuts=self.cuts)
            self.scene.addItem(self._line)
        self._line.lead_to(pointer.scene)
        for link, place in self.scene.links_across(self._last, pointer.scene):
            if link not in self.crossed:
                self.crossed[link] = place
                self.scene.link_items[link].show_state(marked="cut" if self.cuts else "bend")
        self._last = pointer.scene

    def release(self, pointer: Pointer) -> None:
        self.move(pointer)
        crossed = dict(self.crossed)
        self.cancel()
        if crossed:
            self.finish(crossed)

    def finish(self, crossed: dict[Link, Point]) -> None:
        """The stroke is drawn: make the change."""

    def cancel(self) -> None:
        for link in self.crossed:
            item = self.scene.link_items.get(link)
            if item is not None:
                item.show_state(marked="")
        self.crossed.clear()
        if self._line is not None:
            self.scene.removeItem(self._line)
            self._line = None


class CutWires(Stroke):
    """Removes all wires that were crossed, in one step."""

    cuts = True

    def finish(self, crossed: dict[Link, Point]) -> None:
        editing.cut_wires(self.workspace, crossed)
