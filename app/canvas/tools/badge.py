"""Pressing the badge of a node: a click tells what is wrong, a drag moves the node as anywhere on it."""

from __future__ import annotations

from app.canvas.tools.base import Pointer, Surface
from app.canvas.tools.move import MoveNodes


class PressBadge(MoveNodes):
    """Opens the problems of the node when the button comes up where it went down."""

    def __init__(self, view: Surface, start: Pointer, grabbed: str) -> None:
        super().__init__(view, start, grabbed, click_selects=True)
        self._node_id = grabbed

    def release(self, pointer: Pointer) -> None:
        clicked = not self.reaches_out
        super().release(pointer)
        if clicked:
            self.view.problems.open(self._node_id)
