"""Node types whose data are set in the data panel itself, and the widgets that do it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from app.workspace.open_document import OpenDocument

Factory = Callable[[OpenDocument, str], QWidget]  # with the id of the node


def _points(workspace: OpenDocument, node_id: str) -> QWidget:
    from app.data.points_pad import PointsPad  # it brings pyqtgraph, which the window starts without

    return PointsPad(workspace, node_id)


SPECIAL: dict[str, Factory] = {"DrawnPoints": _points}
