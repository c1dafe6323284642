"""One line of news under the top bar: what happened, and how to mend it."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from app.theme import current_theme, themes
from app.widgets.icons import icon, pixmap
from app.widgets.labels import label

_INFO_MS = 6000


class Banner(QWidget):
    """Shows one message at a time; errors and warnings stay until dismissed, information goes by itself."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("banner")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._kind = "info"
        self._mark = QLabel()
        self._text = label("", wrap=True)
        self._text.setObjectName("bannerText")
        self._close = QPushButton()
        self._close.setProperty("kind", "quiet")
        self._close.setAccessibleName("Dismiss message")
        self._close.setToolTip("Dismiss")
        self._close.clicked.connect(self.dismiss)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 6, 8, 6)
        row.setSpacing(10)
        row.addWidget(self._mark)
        row.addWidget(self._text, 1)
        row.addWidget(self._close)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_INFO_MS)
        self._timer.timeout.connect(self.hide)
        themes.theme_changed.connect(self._retint)
        self._retint(current_theme())
        self.hide()

    @property
    def text(self) -> str:
        """The sentence that is shown."""
        return self._text.text()

    def show_message(self, text: str, kind: str) -> None:
        """Replaces what is shown; `kind` is "info", "warning" or "error"."""
        self._kind = kind
        self._text.setText(text)
        self._retint(current_theme())
        self.show()
        if kind == "info":
            self._timer.start()
        else:
            self._timer.stop()

    def dismiss(self) -> None:
        """Takes the message away."""
        self._timer.stop()
        self.hide()

    def _retint(self, theme: object) -> None:
        current = current_theme()
        colour = {"error": current.bad, "warning": current.warning}.get(self._kind, current.accent)
        name = self._kind if self._kind in ("error", "warning") else "info"
        self._mark.setPixmap(pixmap(name, colour))
        self._close.setIcon(icon("close", current.dim, 12))
