"""Live pictures and numbers on the nodes, from the trainer's feed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from app.editor.view import GraphView


class Thumbnails(QObject):
    """Shows the newest snapshot of every node in view."""

    def __init__(self, view: GraphView) -> None:
        super().__init__(view)
        self._view = view

    def look_again(self) -> None:
        """The view shows other nodes now."""
