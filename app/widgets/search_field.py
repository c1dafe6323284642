"""A search field that names its shortcut while it is empty."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from app.theme import SMALL, current_theme


class SearchField(QLineEdit):
    """A line of text with a hint at its right; Esc empties it, Down asks for the list below."""

    moved_down = Signal()

    def __init__(self, placeholder: str, hint: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hint = hint
        self.setPlaceholderText(placeholder)
        self.setMinimumHeight(30)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Down:
            self.moved_down.emit()
        elif event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._hint and not self.text():
            theme = current_theme()
            painter = QPainter(self)
            painter.setFont(theme.mono(SMALL))
            painter.setPen(theme.hint)
            side = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(self.rect().adjusted(0, 0, -12, 0), side, self._hint)
            painter.end()
