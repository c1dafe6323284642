"""Typing a note's Markdown right where it lies."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app.theme import current_theme


class NoteField(QPlainTextEdit):
    """Lies over a note; leaving it or Ctrl+Enter keeps what was typed, Esc does not."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._canvas = parent
        self.setObjectName("noteField")
        self.setAccessibleName("Text of the note")
        self.setTabChangesFocus(False)
        self.note_id: str | None = None
        self._keep: Callable[[str, str], object] | None = None
        self.installEventFilter(self)
        self.hide()

    def begin(self, note_id: str, text: str, place: QRect, keep: Callable[[str, str], object]) -> None:
        """Opens over `place` (pixels of the parent); `keep` is called with the id and the text."""
        self.finish(keep=True)
        self.note_id, self._keep = note_id, keep
        theme = current_theme()
        self.setFont(theme.font())
        self.setStyleSheet(
            f"#noteField {{ background: {theme.panel.name()}; color: {theme.text.name()};"
            f" border: 1px solid {theme.accent.name()}; border-radius: 6px; padding: 6px; }}"
        )
        self.setPlainText(text)
        self.setGeometry(place)
        self.show()
        self.raise_()
        self.selectAll()
        self.setFocus(Qt.FocusReason.PopupFocusReason)

    def finish(self, *, keep: bool) -> None:
        """Closes; with `keep` the note gets the text."""
        note_id, self.note_id = self.note_id, None
        if note_id is None:
            return
        had_focus = self.hasFocus()
        self.hide()
        if keep and self._keep is not None:
            self._keep(note_id, self.toPlainText())
        if had_focus:
            self._canvas.setFocus(Qt.FocusReason.PopupFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        super().keyPressEvent(event)
        event.accept()  # what the field has no use for is not for the canvas either

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self and self.note_id is not None:
            if event.type() == QEvent.Type.ShortcutOverride:
                event.accept()  # the canvas knows many of these keys, but here they are typing
                return True
            if event.type() == QEvent.Type.FocusOut:
                self.finish(keep=True)
            elif event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
                if event.key() == Qt.Key.Key_Escape:
                    self.finish(keep=False)
                    return True
                enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
                if enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
                    self.finish(keep=True)
                    return True
        return super().eventFilter(watched, event)
