"""Finding a node type by name and adding it: where it goes, and what it is joined to."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, QPointF
from PySide6.QtWidgets import QWidget

from app.canvas.editing import editing
from app.canvas.editing.joining import addable
from app.canvas.items.geometry import FIRST_PORT, HEIGHT, WIDTH, free_spot
from app.canvas.scene.canvas import Canvas
from app.canvas.search import SearchPopup
from app.workspace.block_library import STAND_INS, Placeable, defined, drawn, kept, ready
from engine.catalogue import Data, NodeType


class Finder:
    """The search popup of a canvas."""

    def __init__(self, view: Canvas, parent: QWidget) -> None:
        self._view = view
        self._place = QPointF()
        self.popup = SearchPopup(view.workspace.catalogue, parent)

    def open_at(self, place: QPoint) -> None:
        """Offers all that can be added, with the popup's corner at `place` (viewport pixels)."""
        self._place = self._view.mapToScene(place)
        workspace = self._view.workspace
        types = addable(workspace)
        types.sort(key=_less_common if workspace.graph.nodes else _later_in_a_network)
        own: list[Placeable] = [
            *drawn(workspace.catalogue),
            *defined(workspace.document.project, workspace.scope),
            *ready(),
            *kept(workspace.places.blocks),
        ]
        self.popup.open_at(place, types, self._add, self._nothing, own)

    def offer(
        self,
        place: QPoint,
        types: list[type[NodeType]],
        choose: Callable[[str], object],
        give_up: Callable[[], None],
    ) -> None:
        """Offers only these types, for a gesture that ends in a new node."""
        self.popup.open_at(place, types, choose, give_up)

    def close(self) -> None:
        """Closes the popup without a choice."""
        self.popup.dismiss()

    def _add(self, type_id: str) -> None:
        """Adds the chosen type after the one selected node, otherwise where the popup was opened."""
        view, workspace = self._view, self._view.workspace
        boxes = view.graph_scene.boxes.all()
        if len(workspace.selection) == 1 and not type_id.startswith(STAND_INS):
            added = editing.add_after(workspace, type_id, workspace.selection[0], boxes)
            if added is not None:
                view.reveal(added)
            return
        wanted = (self._place.x(), self._place.y() - FIRST_PORT)
        editing.add(workspace, type_id, free_spot(wanted, (WIDTH, HEIGHT), boxes))

    def _nothing(self) -> None:
        """Nothing was chosen, nothing is left behind."""


def _later_in_a_network(found: type[NodeType]) -> tuple[bool, bool, bool]:
    """A network begins with data: sets that are there already, then files of one's own."""
    return not issubclass(found, Data), found.family != Data.family, _less_common(found)


def _less_common(found: type[NodeType]) -> bool:
    return not found.common
