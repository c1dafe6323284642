"""A read-only view of Python source: colours, line numbers, and lines that can be clicked."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from app.theme import SMALL, Theme, current_theme, themes

_STRING = r"(?:[rbfRBF]{0,2})(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
_TOKEN = re.compile(
    rf"(?P<comment>#.*)|(?P<string>{_STRING})|(?P<number>\b\d[\d_]*\.?\d*(?:[eE][+-]?\d+)?\b)"
    r"|(?P<definition>(?<=\bdef )\w+|(?<=\bclass )\w+)|(?P<decorator>^\s*@[\w.]+)|(?P<word>\b[A-Za-z_]\w*\b)"
)
_TRIPLE = '"""'
_TOP = 6
_KEYWORDS = frozenset((*keyword.kwlist, "self"))
_BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("_"))


def code_colours(theme: Theme) -> dict[str, QColor]:
    """What each kind of word is painted in; each at least 4.5:1 on the panel."""
    if theme.dark:
        values = {"keyword": "#8fb8ff", "string": "#9fd6a4", "number": "#f0b878", "definition": "#e7c97d"}
        values |= {"builtin": "#7fcbd6", "decorator": "#c9a6e8", "comment": "#8a94a6"}
    else:
        values = {"keyword": "#1f55c4", "string": "#1c6e3d", "number": "#9a4a00", "definition": "#7a5200"}
        values |= {"builtin": "#0b6572", "decorator": "#7a3ea8", "comment": "#616b7d"}
    return {kind: QColor(value) for kind, value in values.items()}


class PythonHighlighter(QSyntaxHighlighter):
    """Colours Python line by line; block state 1 means inside a triple-quoted string."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._formats: dict[str, QTextCharFormat] = {}
        self.take_theme(current_theme())

    def take_theme(self, theme: Theme) -> None:
        """Colours everything again."""
        self._formats = {}
        for kind, colour in code_colours(theme).items():
            made = QTextCharFormat()
            made.setForeground(colour)
            if kind == "comment":
                made.setFontItalic(True)
            self._formats[kind] = made
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        start = 0
        if self.previousBlockState() == 1:
            end = text.find(_TRIPLE)
            if end < 0:
                self.setFormat(0, len(text), self._formats["string"])
                self.setCurrentBlockState(1)
                return
            start = end + 3
            self.setFormat(0, start, self._formats["string"])
        self.setCurrentBlockState(0)
        opening = text.find(_TRIPLE, start)
        self._colour(text[: opening if opening >= 0 else None], start)
        if opening >= 0:
            end = text.find(_TRIPLE, opening + 3)
            length = (end + 3 if end >= 0 else len(text)) - opening
            self.setFormat(opening, length, self._formats["string"])
            if end < 0:
                self.setCurrentBlockState(1)

    def _colour(self, text: str, start: int) -> None:
        for match in _TOKEN.finditer(text, start):
            kind = match.lastgroup or ""
            if kind == "word":
                word = match.group()
                kind = "keyword" if word in _KEYWORDS else "builtin" if word in _BUILTINS else ""
            if kind:
                self.setFormat(match.start(), match.end() - match.start(), self._formats[kind])


class PythonText(QPlainTextEdit):
    """Source with a gutter of line numbers. `line_clicked` carries the line, from 1."""

    line_clicked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("codeText")
        self.setReadOnly(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._lines: tuple[int, ...] = ()
        self._gutter = Gutter(self)
        self._highlighter = PythonHighlighter(self.document())
        self.blockCountChanged.connect(self._make_room)
        self.updateRequest.connect(self._gutter_scrolled)
        themes.theme_changed.connect(self._take_theme)
        self._set_fonts()

    def show_source(self, text: str) -> None:
        """Replaces the source and keeps the place that was being read."""
        if text == self.toPlainText():
            return
        vertical, horizontal = self.verticalScrollBar().value(), self.horizontalScrollBar().value()
        self.setPlainText(text)
        self.verticalScrollBar().setValue(vertical)
        self.horizontalScrollBar().setValue(horizontal)

    def mark_lines(self, lines: Iterable[int], *, scroll: bool = True) -> None:
        """Shows these lines, counted from 1, on a tinted ground, and brings the first into view."""
        self._lines = tuple(sorted(lines))
        self._mark()
        if scroll and self._lines:
            block = self.document().findBlockByNumber(self._lines[0] - 1)
            if not self._is_visible(self._lines[0]):
                cursor = QTextCursor(block)
                self.setTextCursor(cursor)
                self.centerCursor()

    @property
    def marked_lines(self) -> tuple[int, ...]:
        """The lines on tinted ground."""
        return self._lines

    def gutter_width(self) -> int:
        """Width of the line numbers in pixels."""
        digits = max(3, len(str(self.blockCount())))
        return self.fontMetrics().horizontalAdvance("9") * digits + 28

    def paint_gutter(self, event: QPaintEvent) -> None:
        """Paints the line numbers; called by the gutter."""
        theme = current_theme()
        painter = QPainter(self._gutter)
        painter.setFont(theme.mono(SMALL))
        block = self.firstVisibleBlock()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        marked = set(self._lines)
        while block.isValid() and top <= event.rect().bottom():
            height = self.blockBoundingRect(block).height()
            number = block.blockNumber() + 1
            rect = QRect(0, round(top), self._gutter.width() - 14, round(height))
            if number in marked:
                painter.fillRect(QRect(0, round(top), 3, round(height)), theme.accent)
            painter.setPen(theme.text if number in marked else theme.hint)
            painter.drawText(rect, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(number))
            top += height
            block = block.next()
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        area = self.contentsRect()
        self._gutter.setGeometry(
            QRect(area.left(), area.top() + _TOP, self.gutter_width(), area.height() - _TOP)
        )

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and not self.textCursor().hasSelection():
            self.line_clicked.emit(self.cursorForPosition(event.position().toPoint()).blockNumber() + 1)

    def _is_visible(self, line: int) -> bool:
        block = self.document().findBlockByNumber(line - 1)
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        return 0 <= top <= self.viewport().height() - 20

    def _mark(self) -> None:
        ground = current_theme().selection
        shown = []
        for line in self._lines:
            block = self.document().findBlockByNumber(line - 1)
            if not block.isValid():
                continue
            extra = QTextEdit.ExtraSelection()
            extra.cursor = QTextCursor(block)
            extra.format.setBackground(ground)
            extra.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
            shown.append(extra)
        self.setExtraSelections(shown)
        self._gutter.update()

    def _set_fonts(self) -> None:
        self.setFont(current_theme().mono(12))
        # The style sheet would win over setFont.
        self.setStyleSheet(f'font-family: "{current_theme().mono().family()}"; font-size: 12px;')
        self._make_room(self.blockCount())

    def _make_room(self, _count: int) -> None:
        self.setViewportMargins(self.gutter_width(), _TOP, 0, 0)

    def _gutter_scrolled(self, _rect: QRect, _dy: int) -> None:
        self._gutter.update()

    def _take_theme(self, theme: Theme) -> None:
        self._highlighter.take_theme(theme)
        self._mark()


class Gutter(QWidget):
    """The strip of line numbers beside the text."""

    def __init__(self, text: PythonText) -> None:
        super().__init__(text)
        self._text = text

    def sizeHint(self) -> QSize:
        return QSize(self._text.gutter_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._text.paint_gutter(event)
