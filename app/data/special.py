"""Node types whose data are set in the data panel itself, and the widgets that do it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from app.data.points_pad import PointsPad
from app.workspace.open_document import OpenDocument

Factory = Callable[[OpenDocument, str], QWidget]  # with the id of the node


SPECIAL: dict[str, Factory] = {"DrawnPoints": PointsPad}
