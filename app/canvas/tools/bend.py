"""Moving a bend of a wire, and leading wires through new ones with a stroke."""

from __future__ import annotations

from PySide6.QtCore import Qt

from app.canvas.items.bends import with_bend
from app.canvas.items.geometry import Point, finite, snapped
from app.canvas.tools.base import Interaction, Pointer, Surface
from app.canvas.tools.cut import Stroke
from engine.document.edits import SetBends
from engine.document.graph import Link


class DragBend(Interaction):
    """Moves one bend; a click selects it. Ctrl leaves the snapping grid."""

    def __init__(self, view: Surface, start: Pointer, link: Link, index: int) -> None:
        super().__init__(view, start)
        self.view = view
        self._link, self._index = link, index
        self._before = self.scene.bends(link)
        self._points: tuple[Point, ...] | None = None
        view.workspace.select(())
        self.scene.select_links(())
        self.scene.pick_bend((link, index))

    @property
    def reaches_out(self) -> bool:
        return self._points is not None

    def move(self, pointer: Pointer) -> None:
        if self._points is None and not self.travelled(pointer):
            return
        place = finite((pointer.scene.x(), pointer.scene.y()))
        if self.view.snapping and not pointer.has(Qt.KeyboardModifier.ControlModifier):
            place = snapped(place)
        points = list(self._before)
        points[self._index] = place
        self._points = tuple(points)
        self.scene.wires.route([self._link], {self._link: self._points})

    def release(self, pointer: Pointer) -> None:
        points, self._points = self._points, None
        if points is None:
            return
        picked = (self._link, self._index)
        if points == self._before or not self.workspace.apply("Move bend", SetBends(self._link, points)):
            self.scene.wires.route([self._link])
        self.scene.pick_bend(picked)

    def cancel(self) -> None:
        if self._points is not None and self._link in self.scene.link_items:
            self.scene.wires.route([self._link])
        self._points = None


class AddBends(Stroke):
    """Shift and a stroke with the right button: every wire that is crossed gets a bend there."""

    def finish(self, crossed: dict[Link, Point]) -> None:
        edits = []
        for link, place in crossed.items():
            line = self.scene.link_items[link].polyline()
            edits.append(SetBends(link, with_bend(line, self.scene.bends(link), place)))
        self.workspace.apply("Add bends" if len(edits) > 1 else "Add bend", *edits)
