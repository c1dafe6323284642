"""A field for notes: read with its emphasis, headings and lists, edited as the Markdown it is."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QFocusEvent, QResizeEvent
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app.widgets.text_view import TextView


class NotesField(QPlainTextEdit):
    """Plain text for whoever types; over it lies what it means while nobody does."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.read = TextView(self)
        self.read.setObjectName("notesRead")
        self.read.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.read.document().setDocumentMargin(self.document().documentMargin())
        self.read.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.read.viewport().installEventFilter(self)
        self.textChanged.connect(self._meant)
        self._meant()

    def setPlainText(self, text: str) -> None:
        """Also where signals are blocked, what it means follows."""
        super().setPlainText(text)
        self._meant()

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.read.hide()
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._meant()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.read.setGeometry(self.contentsRect())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A click on what is read, unless it marks text or follows a link, begins to edit."""
        if event.type() == QEvent.Type.MouseButtonRelease and not self.read.textCursor().hasSelection():
            self.setFocus(Qt.FocusReason.MouseFocusReason)
            return True
        return super().eventFilter(watched, event)

    def _meant(self) -> None:
        text = self.toPlainText()
        editing = self.hasFocus()
        if not editing:
            self.read.show_markdown(text)
        self.read.setVisible(bool(text) and not editing)
