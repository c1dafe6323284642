"""What an empty panel shows: what would fill it, and the step that does."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.theme import current_theme, themes
from app.widgets.icons import pixmap
from app.widgets.labels import label


class EmptyState(QWidget):
    """A mark, a title, a sentence and at most one button, in the middle of the panel."""

    def __init__(
        self, mark: str, title: str, text: str, button: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._name = mark
        self._mark = label("")
        self._mark.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._title = label(title, "heading")
        self._title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._text = label(text, "empty", wrap=True)
        self._text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._text.setMaximumWidth(460)
        self._text.setMinimumWidth(200)
        self.button = QPushButton(button)
        self.button.setVisible(bool(button))
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(8)
        column.addStretch(1)
        for widget in (self._mark, self._title, self._text, self.button):
            column.addWidget(widget, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)
        themes.theme_changed.connect(self._retint)
        self._retint(current_theme())

    def say(self, mark: str, title: str, text: str) -> None:
        """Replaces mark and words."""
        self._name = mark
        self._title.setText(title)
        self._text.setText(text)
        width = min(460, self._text.fontMetrics().horizontalAdvance(text) + 8)
        self._text.setMinimumWidth(width)
        # A centred label does not grow with its lines by itself.
        self._text.setMinimumHeight(self._text.heightForWidth(width))
        self._retint(current_theme())

    def words(self) -> str:
        """Title and sentence together."""
        return f"{self._title.text()}: {self._text.text()}"

    def _retint(self, _theme: object) -> None:
        theme = current_theme()
        colour = {"tick-circle": theme.good, "error": theme.bad, "warning": theme.warning}.get(
            self._name, theme.faint
        )
        self._mark.setPixmap(pixmap(self._name, colour, 24))
