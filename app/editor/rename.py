"""Typing a new name right on the node."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from app.editor.editing import rename
from app.theme import current_theme
from app.workspace import Workspace


class NameField(QLineEdit):
    """Lies over a node's name; Enter or leaving it renames, Esc does not."""

    def __init__(self, workspace: Workspace, parent: QWidget) -> None:
        super().__init__(parent)
        self._canvas = parent
        self.setObjectName("nodeNameField")
        self._workspace = workspace
        self._node_id: str | None = None
        self.installEventFilter(self)
        self.hide()

    @property
    def node_id(self) -> str | None:
        """The node that is being renamed."""
        return self._node_id

    def begin(self, node_id: str, name: str, place: QRect) -> None:
        """Opens over `place` (pixels of the parent) with `name` selected."""
        self._node_id = node_id
        self.setFont(current_theme().font(bold=True))
        self.setText(name)
        self.selectAll()
        self.setGeometry(place)
        self.show()
        self.raise_()
        self.setFocus(Qt.FocusReason.PopupFocusReason)

    def finish(self, *, keep: bool) -> None:
        """Closes; with `keep` the node gets the name."""
        node_id, self._node_id = self._node_id, None
        if node_id is None:
            return
        had_focus = self.hasFocus()
        self.hide()
        if keep:
            rename(self._workspace, node_id, self.text())
        if had_focus:
            self._canvas.setFocus(Qt.FocusReason.PopupFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        super().keyPressEvent(event)
        event.accept()  # what the field has no use for is not for the canvas either

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self and self._node_id is not None:
            if event.type() == QEvent.Type.ShortcutOverride:
                event.accept()  # the canvas knows many of these keys, but here they are typing
                return True
            if event.type() == QEvent.Type.FocusOut:
                self.finish(keep=True)
            elif event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
                if event.key() == Qt.Key.Key_Escape:
                    self.finish(keep=False)
                    return True
                if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab):
                    self.finish(keep=True)
                    return True
        return super().eventFilter(watched, event)
