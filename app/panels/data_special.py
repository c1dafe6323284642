"""Node types whose data are set in the data panel itself, and the widgets that do it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from app.panels.points_pad import PointsPad
from app.workspace import Workspace

Factory = Callable[[Workspace, str], QWidget]  # with the id of the node

SPECIAL: dict[str, Factory] = {"DrawnPoints": PointsPad}
