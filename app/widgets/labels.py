"""Labels and separators with the roles of the style sheet."""

from __future__ import annotations

import re
from html import escape

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QSizePolicy, QWidget

MOST_FIGURES = 24  # characters of a number, or of a shape, that is shown whole


def label(text: str, role: str = "", *, wrap: bool = False, parent: QWidget | None = None) -> QLabel:
    """A plain-text label with a role of the style sheet ("title", "dim", "small", "mono", ...)."""
    made = QLabel(text, parent)
    made.setTextFormat(Qt.TextFormat.PlainText)
    if role:
        made.setProperty("role", role)
    made.setWordWrap(wrap)
    return made


def plain(text: str) -> str:
    """Text that is shown letter by letter in a tool tip, where Qt takes what looks like HTML for HTML.

    Whatever comes from a project, a file or a run goes through this: HTML may name files to read.
    """
    if "<" not in text and "&lt;" not in text:
        return text
    return f"<qt>{escape(text)}</qt>".replace("\n", "<br>")


def rule() -> QFrame:
    """A one-pixel line between groups."""
    line = QFrame()
    line.setProperty("role", "rule")
    return line


def title_field() -> QLineEdit:
    """A heading that can be typed in: it looks like text until the pointer or the caret is in it."""
    field = QLineEdit()
    field.setProperty("role", "title")
    # Takes back the field's inner margin, so that the text lines up with what stands below.
    field.setTextMargins(-2, 0, 0, 0)
    return field


def restyle(widget: QWidget) -> None:
    """Makes the style sheet look again at the properties of `widget`."""
    widget.style().unpolish(widget)
    widget.style().polish(widget)


_NUMBERS = re.compile(r"[\d\s.,:×%+\-−e/N?()]*\d[\d\s.,:×%+\-−e/N?()]*")


class ElidedLabel(QLabel):
    """A one-line label that shortens its text with "…"; the whole text is then the tooltip.

    Numbers are never shortened: what is cut of one makes another number.
    """

    def __init__(self, text: str = "", role: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        if role:
            self.setProperty("role", role)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._mode = Qt.TextElideMode.ElideRight
        self._whole = False  # whether it keeps the width of its number
        self.setText(text)

    def setFixedWidth(self, width: int) -> None:
        super().setFixedWidth(width)
        # A layout gives an ignored size no room, not even a fixed one.
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)

    def elide_middle(self) -> None:
        """Shortens in the middle, for paths."""
        self._mode = Qt.TextElideMode.ElideMiddle

    def setText(self, text: str) -> None:
        super().setText(text)
        self._offer_tooltip()

    def minimumSizeHint(self) -> QSize:
        return QSize(20, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._offer_tooltip()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        shown = self.fontMetrics().elidedText(self.text(), self._mode, self.contentsRect().width())
        painter.drawText(self.contentsRect(), int(self.alignment()), shown)
        painter.end()

    def _offer_tooltip(self) -> None:
        wide = self.fontMetrics().horizontalAdvance(self.text())
        if self.sizePolicy().horizontalPolicy() != QSizePolicy.Policy.Fixed:
            number = len(self.text()) <= MOST_FIGURES and _NUMBERS.fullmatch(self.text()) is not None
            if number or self._whole:
                self.setMinimumWidth(wide + 2 if number else 0)
            self._whole = number
        fits = wide <= self.contentsRect().width()
        self.setToolTip("" if fits else plain(self.text()))


class WholeLabel(QLabel):
    """A label as high as its lines: in what scrolls, layouts don't ask how high a width makes it."""

    def __init__(self, text: str, role: str) -> None:
        super().__init__(text)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", role)
        self.setWordWrap(True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.setMinimumHeight(self.heightForWidth(self.width()))
