"""A press on a wire: a click selects it, a drag near one of its ends takes that end along."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QPointF

from app.canvas.tools.base import Interaction, Pointer, Surface
from app.canvas.tools.wire import taken_off
from engine.document.graph import Link

END = 48.0  # scene units from a port; a press on the wire that near, or nearer, means its end


class GrabWire(Interaction):
    """A wire that was pressed; turns into another gesture once it is dragged."""

    def __init__(self, view: Surface, start: Pointer, link: Link) -> None:
        super().__init__(view, start)
        self.view = view
        self._link = link

    def move(self, pointer: Pointer) -> None:
        if not self.travelled(pointer):
            return
        side = self._end_meant()
        if side is not None:
            self.view.gestures.turn_into(taken_off(self.view, self.start, self._link, side), pointer)

    def _end_meant(self) -> str | None:
        """The end that the press was near to, if any."""
        ends = self.scene.wires.ends(self._link)
        if ends is None:
            return None
        away = [QLineF(self.start.scene, QPointF(*end)).length() for end in ends]
        if min(away) > END:
            return None
        return "out" if away[0] < away[1] else "in"
