"""News over the canvas: what happened, at which node, and how to fix it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from app.theme import current_theme, themes
from app.widgets.icons import icon, pixmap
from app.widgets.labels import label

_INFO_MS = 6000
_ANSWER_MS = 15000  # somebody must see it, read it and go there
_WIDEST = 720
_MARGIN = 16
_NARROW = 480  # a stage that sentences fit on


def _none() -> None:
    """No stage but the parent itself."""


@dataclass(frozen=True)
class Notice:
    """One message: `kind` is "info", "warning" or "error"; `answers` are buttons and what they do."""

    text: str
    kind: str
    node_id: str = ""
    answers: tuple[tuple[str, Callable[[], object]], ...] = ()
    until_saved: bool = False  # saving the document settles it
    about: str = ""  # what a run said it of, which may be over one day
    brief: bool = False  # whether it goes away by itself though it has answers

    @property
    def passing(self) -> bool:
        """Whether it goes away by itself."""
        return self.kind == "info" and (self.brief or not self.answers)


class Banner(QWidget):
    """Shows one message at a time over its parent, which keeps its layout.

    It stands in the middle of the `stage`, a widget inside the parent, where that is wide enough.

    Errors, warnings and questions stay until dismissed, information goes by itself. `node_wanted` carries
    the id of the node that a message is about.
    """

    node_wanted = Signal(str)
    dismissed = Signal()  # by the user, or by one of the answers

    def __init__(self, parent: QWidget, stage: Callable[[], QWidget | None] = _none) -> None:
        super().__init__(parent)
        self._host = parent
        self._stage = stage
        self.setObjectName("banner")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._notice = Notice("", "info")
        self._mark = label("")
        self._text = label("", wrap=True)
        self._text.setObjectName("bannerText")
        self._show = QPushButton("Show node")
        self._show.setProperty("kind", "small")
        self._show.setObjectName("bannerShow")
        self._show.clicked.connect(self._want_node)
        self._answers = [self._answer_button(name) for name in ("bannerFirst", "bannerSecond")]
        self._close = QPushButton()
        self._close.setProperty("kind", "quiet")
        self._close.setObjectName("bannerClose")
        self._close.setAccessibleName("Dismiss message")
        self._close.setToolTip("Dismiss")
        self._close.clicked.connect(self._closed)
        row = self._row = QHBoxLayout(self)
        row.setContentsMargins(14, 8, 8, 8)
        row.setSpacing(10)
        row.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._text, 1)
        for button in (self._show, *self._answers):
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.hide)
        themes.theme_changed.connect(self._retint)
        parent.installEventFilter(self)
        self._retint(current_theme())
        self.hide()

    def _answer_button(self, name: str) -> QPushButton:
        button = QPushButton()
        button.setProperty("kind", "small")
        button.setObjectName(name)
        button.clicked.connect(self._answered)
        return button

    @property
    def text(self) -> str:
        """The sentence that is shown."""
        return self._text.text()

    def show_message(self, text: str, kind: str, node_id: str = "") -> None:
        """Replaces what is shown; `kind` is "info", "warning" or "error"."""
        self.show_notice(Notice(text, kind, node_id))

    def show_notice(self, notice: Notice) -> None:
        """Replaces what is shown."""
        self._notice = notice
        self._text.setText(notice.text)
        self._show.setVisible(bool(notice.node_id))
        for index, button in enumerate(self._answers):
            button.setVisible(index < len(notice.answers))
            if index < len(notice.answers):
                button.setText(notice.answers[index][0])
        self._retint(current_theme())
        self._settle()
        self.show()
        self.raise_()
        if notice.passing:
            self._timer.start(_ANSWER_MS if notice.answers else _INFO_MS)
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
        """Stands in the middle of the stage's upper edge, as wide as the sentence needs."""
        stage = self._stage()
        left, across = 0, self._host.width()
        if stage is not None and stage.isVisible() and stage.width() >= _NARROW:
            left, across = stage.mapTo(self._host, QPoint()).x(), stage.width()
        room = across - 2 * _MARGIN
        wanted = self._text.fontMetrics().horizontalAdvance(self._text.text()) + 120
        for button in (self._show, *self._answers):
            wanted += 0 if button.isHidden() else button.sizeHint().width() + 10
        width = max(200, min(room, _WIDEST, wanted))
        layout = self._row
        height = (
            layout.totalHeightForWidth(width)
            if layout.hasHeightForWidth()
            else layout.totalSizeHint().height()
        )
        self.setGeometry(left + (across - width) // 2, _MARGIN, width, max(36, height))

    def _want_node(self) -> None:
        self.node_wanted.emit(self._notice.node_id)

    def _closed(self) -> None:
        self.dismiss()
        self.dismissed.emit()

    def _answered(self) -> None:
        button = self.sender()
        answers = dict(zip(self._answers, self._notice.answers, strict=False))
        self._closed()
        for known, (_, do) in answers.items():
            if known is button:
                do()

    def _retint(self, _theme: object) -> None:
        theme = current_theme()
        kind = self._notice.kind
        colour = {"error": theme.bad, "warning": theme.warning}.get(kind, theme.accent)
        name = kind if kind in ("error", "warning") else "info"
        self._mark.setPixmap(pixmap(name, colour))
        self._close.setIcon(icon("close", theme.dim, 12))
