"""News over the canvas: what happened, at which node, and how to mend it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from app.theme import current_theme, themes
from app.widgets.icons import icon, pixmap
from app.widgets.labels import label

_INFO_MS = 6000
_WIDEST = 720
_MARGIN = 16


class Banner(QWidget):
    """Shows one message at a time over its parent, which keeps its layout.

    Errors and warnings stay until dismissed, information goes by itself. `node_wanted` carries the id of
    the node that a message is about.
    """

    node_wanted = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._host = parent
        self.setObjectName("banner")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._kind = "info"
        self._node_id = ""
        self._mark = QLabel()
        self._text = label("", wrap=True)
        self._text.setObjectName("bannerText")
        self._show = QPushButton("Show node")
        self._show.setProperty("kind", "small")
        self._show.setObjectName("bannerShow")
        self._show.clicked.connect(self._want_node)
        self._close = QPushButton()
        self._close.setProperty("kind", "quiet")
        self._close.setObjectName("bannerClose")
        self._close.setAccessibleName("Dismiss message")
        self._close.setToolTip("Dismiss")
        self._close.clicked.connect(self.dismiss)
        row = self._row = QHBoxLayout(self)
        row.setContentsMargins(14, 8, 8, 8)
        row.setSpacing(10)
        row.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._text, 1)
        row.addWidget(self._show, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_INFO_MS)
        self._timer.timeout.connect(self.hide)
        themes.theme_changed.connect(self._retint)
        parent.installEventFilter(self)
        self._retint(current_theme())
        self.hide()

    @property
    def text(self) -> str:
        """The sentence that is shown."""
        return self._text.text()

    def show_message(self, text: str, kind: str, node_id: str = "") -> None:
        """Replaces what is shown; `kind` is "info", "warning" or "error"."""
        self._kind, self._node_id = kind, node_id
        self._text.setText(text)
        self._show.setVisible(bool(node_id))
        self._retint(current_theme())
        self._settle()
        self.show()
        self.raise_()
        if kind == "info":
            self._timer.start()
        else:
            self._timer.stop()

    def dismiss(self) -> None:
        """Takes the message away."""
        self._timer.stop()
        self.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self._settle()
        return super().eventFilter(watched, event)

    def _settle(self) -> None:
        """Stands in the middle of the parent's upper edge, as wide as the sentence needs."""
        room = self._host.width() - 2 * _MARGIN
        wanted = self._text.fontMetrics().horizontalAdvance(self._text.text()) + 120
        wanted += self._show.sizeHint().width() + 10 if self._node_id else 0
        width = max(200, min(room, _WIDEST, wanted))
        layout = self._row
        height = (
            layout.totalHeightForWidth(width)
            if layout.hasHeightForWidth()
            else layout.totalSizeHint().height()
        )
        self.setGeometry((self._host.width() - width) // 2, _MARGIN, width, max(36, height))

    def _want_node(self) -> None:
        self.node_wanted.emit(self._node_id)

    def _retint(self, _theme: object) -> None:
        theme = current_theme()
        colour = {"error": theme.bad, "warning": theme.warning}.get(self._kind, theme.accent)
        name = self._kind if self._kind in ("error", "warning") else "info"
        self._mark.setPixmap(pixmap(name, colour))
        self._close.setIcon(icon("close", theme.dim, 12))
