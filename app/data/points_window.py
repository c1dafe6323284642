"""A window of its own for the pad, so that one draws while the canvas and the views are visible."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QVBoxLayout, QWidget

from app.data.points_pad import PointsPad
from app.workspace.open_document import OpenDocument


class PointsWindow(QDialog):
    """The pad of one node; it closes by itself when the node is gone."""

    def __init__(self, workspace: OpenDocument, node_id: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("pointsWindow")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setModal(False)
        self.resize(700, 480)
        self._workspace = workspace
        self.pad = PointsPad(workspace, node_id)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 12, 12, 12)
        column.addWidget(self.pad)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Undo), self, workspace.undo)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Redo), self, workspace.redo)
        workspace.changed.connect(self._changed)
        self._changed()
        self.pad.pad.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # Enter in a field must not close the window; Esc does, when no stroke was there to take back.
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)

    def _changed(self, _change: object = None) -> None:
        node = self._workspace.node(self.pad.node_id)
        if node is None:
            self.close()
            return
        kind = self._workspace.type_of(node)
        self.setWindowTitle(node.name or (kind.title if kind is not None else node.type))
