"""Typing a new name right where it stands: of a node, a frame, a block."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from app.theme import current_theme


class NameField(QLineEdit):
    """Lies over a name; Enter or leaving it renames, Esc does not."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._canvas = parent
        self.setObjectName("nodeNameField")
        self._owner: str | None = None
        self._keep: Callable[[str, str], object] | None = None
        self.installEventFilter(self)
        self.hide()

    @property
    def owner(self) -> str | None:
        """The id of what is being renamed."""
        return self._owner

    def begin(self, owner: str, name: str, place: QRect, keep: Callable[[str, str], object]) -> None:
        """Opens over `place` (pixels of the parent) with `name` selected; `keep` gets the id and the name."""
        self._owner, self._keep = owner, keep
        self.setFont(current_theme().font(bold=True))
        self.setText(name)
        self.selectAll()
        self.setGeometry(place)
        self.show()
        self.raise_()
        self.setFocus(Qt.FocusReason.PopupFocusReason)

    def finish(self, *, keep: bool) -> None:
        """Closes; with `keep` the name is passed on."""
        owner, self._owner = self._owner, None
        if owner is None:
            return
        had_focus = self.hasFocus()
        self.hide()
        if keep and self._keep is not None:
            self._keep(owner, self.text())
        if had_focus:
            self._canvas.setFocus(Qt.FocusReason.PopupFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        super().keyPressEvent(event)
        event.accept()  # what the field has no use for is not for the canvas either

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self and self._owner is not None:
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
