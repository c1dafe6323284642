"""Small things that lie over the canvas and do not scroll with it: status, cursor hint, empty page."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from app.theme import SMALL, current_theme, themes

EDGE = 14
HINT_WIDTH = 300
HINT_PADDING = 22
AWAY = QPoint(16, 18)  # from the cursor


def kept_inside(place: QPoint, size: QSize, room: QSize) -> QPoint:
    """`place` moved so that something of `size` stays within `room`, 4 pixels from its edges."""
    x = max(4, min(place.x(), room.width() - size.width() - 4))
    y = max(4, min(place.y(), room.height() - size.height() - 4))
    return QPoint(x, y)


class Overlay(QLabel):
    """A line of text that lets the pointer through."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._canvas = parent
        self.setObjectName(name)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setTextFormat(Qt.TextFormat.PlainText)


class StatusLine(Overlay):
    """Zoom, size of the model and number of problems, in the lower left corner."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__("canvasStatus", parent)
        themes.theme_changed.connect(self._dress)
        self._dress()

    def show_parts(self, parts: list[str]) -> None:
        """Shows the parts side by side."""
        text = "    ".join(parts)
        if text != self.text():
            self.setText(text)
            self.adjustSize()
            self.settle()

    def settle(self) -> None:
        """Goes back to its corner after the canvas changed its size."""
        self.move(EDGE, self._canvas.height() - self.height() - EDGE + 4)

    def _dress(self) -> None:
        theme = current_theme()
        self.setFont(theme.font(SMALL))
        self.setStyleSheet(f"color: {theme.dim.name()}; background: transparent; font-size: {SMALL}px;")
        self.adjustSize()


class CursorHint(Overlay):
    """A sentence beside the cursor during a gesture: why a wire is refused, what it replaces."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__("canvasHint", parent)
        self.setFont(current_theme().font(SMALL))
        self.hide()

    def say(self, text: str, place: QPoint, *, bad: bool = False) -> None:
        """Shows `text` beside `place` (pixels of the parent)."""
        theme = current_theme()
        edge = theme.bad if bad else theme.line
        colour = theme.bad_text if bad else theme.text
        self.setStyleSheet(
            f"background: {theme.panel.name()}; color: {colour.name()}; border: 1px solid {edge.name()};"
            f" border-radius: 5px; padding: 4px 8px; font-size: {SMALL}px;"
        )
        self.setText(text)
        line = self.fontMetrics().horizontalAdvance(text) + HINT_PADDING
        self.setWordWrap(line > HINT_WIDTH)
        self.setFixedWidth(min(line, HINT_WIDTH))
        self.setFixedHeight(
            self.heightForWidth(HINT_WIDTH) if line > HINT_WIDTH else self.sizeHint().height()
        )
        self.move(kept_inside(place + AWAY, self.size(), self._canvas.size()))
        self.show()
        self.raise_()

    def clear_away(self) -> None:
        """Hides the hint."""
        if self.isVisible() or self.text():
            self.setText("")
            self.hide()


class EmptyPage(QWidget):
    """What an empty canvas says, with the first step offered.

    A child of the viewport: what the pointer does here, beside the button, it does on the canvas.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._canvas = parent
        self.setObjectName("canvasEmpty")
        self.title = QLabel("Nothing here yet", self)
        self.text = QLabel(
            "Drop a file or folder of data, drag a node from the left, or double-click to search.\n"
            "A network usually begins with data and ends with a loss.",
            self,
        )
        self.button = QPushButton("Add a node", self)
        self.button.setObjectName("canvasEmptyAdd")
        self.button.setToolTip("Tab")
        for label in (self.title, self.text):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        box = QVBoxLayout(self)
        box.setSpacing(10)
        box.addWidget(self.title)
        box.addWidget(self.text)
        box.addWidget(self.button, 0, Qt.AlignmentFlag.AlignCenter)
        themes.theme_changed.connect(self._dress)
        self._dress()

    def settle(self) -> None:
        """Stands in the middle of the canvas."""
        self.adjustSize()
        room = self._canvas.size()
        self.move((room.width() - self.width()) // 2, (room.height() - self.height()) // 2)

    def _dress(self) -> None:
        theme = current_theme()
        self.title.setFont(theme.font(15, bold=True))
        self.title.setStyleSheet(
            f"color: {theme.text.name()}; background: transparent; font-size: 15px; font-weight: 600;"
        )
        self.text.setStyleSheet(f"color: {theme.dim.name()}; background: transparent;")
