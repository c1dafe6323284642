"""A row of tokens as a text that is filled in: answers in colour, under a wrong one what stood there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import QWidget

from app.charts.plot import Plot
from app.theme import SMALL, Theme, current_theme

GAP = 6  # between tokens that are more than a character
ABOVE = 3  # a line and the next
WIDEST = 180  # pixels of a token


class Token(NamedTuple):
    """One token; `mark` is "right" or "wrong" where it is an answer, `below` what should stand there."""

    text: str
    mark: str = ""
    below: str = ""
    note: str = ""


class TokenText(Plot):
    """Tokens in lines from left to right; an answer is chosen by a click or the arrow keys."""

    chosen = Signal(int)  # the number of the token

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tokens: tuple[Token, ...] = ()
        self._chosen = -1
        self._at: list[QRect] = []
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Text with what was filled in")

    @property
    def tokens(self) -> tuple[Token, ...]:
        """What is shown."""
        return self._tokens

    @property
    def lines_height(self) -> int:
        """The height that all lines need at this width."""
        rects, line = self._laid_out(current_theme())
        return rects[-1].bottom() + line if rects else line

    def show_tokens(self, tokens: Sequence[Token], chosen: int = -1) -> None:
        """Show these tokens, one of them chosen."""
        if (tuple(tokens), chosen) != (self._tokens, self._chosen):
            self._tokens, self._chosen = tuple(tokens), chosen
            self._message = ""
            self.changed()

    def _laid_out(self, theme: Theme) -> tuple[list[QRect], int]:
        """Where each token stands, and the height of the words below one."""
        metrics, small = QFontMetrics(theme.mono()), QFontMetrics(theme.mono(SMALL))
        below = small.height() if any(token.below for token in self._tokens) else 0
        line = metrics.height() + below + ABOVE
        gap = 0 if all(len(token.text) <= 1 for token in self._tokens if not token.mark) else GAP
        found, x, y = [], 2, 2
        for token in self._tokens:
            wide = min(WIDEST, metrics.horizontalAdvance(token.text))
            if token.mark:
                wide = max(wide, min(WIDEST, small.horizontalAdvance(token.below))) + 4
            if x > 2 and x + wide > self.width() - 2:
                x, y = 2, y + line
            found.append(QRect(x, y, wide, metrics.height()))
            x += wide + gap
        return found, below

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        self._at, below = self._laid_out(theme)
        colours = {"right": theme.good_text, "wrong": theme.bad_text}
        middle = Qt.AlignmentFlag.AlignCenter
        for number, (token, at) in enumerate(zip(self._tokens, self._at, strict=True)):
            if at.bottom() + (below if token.below else 0) > self.height():
                break
            painter.setFont(theme.mono())
            painter.setPen(colours.get(token.mark, theme.text))
            if token.mark:
                ground = QColor(colours[token.mark])
                ground.setAlpha(70 if number == self._chosen else 30)
                painter.fillRect(at, ground)
            text = token.text
            if at.width() >= WIDEST:  # else it has its own width, which is rounded
                metrics = QFontMetrics(theme.mono())
                text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, at.width())
            painter.drawText(at, middle, text)
            if token.below:
                painter.setFont(theme.mono(SMALL))
                painter.setPen(theme.dim)
                painter.drawText(
                    QRect(at.x() - 4, at.bottom() + 1, at.width() + 8, below), middle, token.below
                )

    def _number_at(self, at: QPoint) -> int:
        return next((number for number, rect in enumerate(self._at) if rect.contains(at)), -1)

    def describe(self, at: QPoint) -> str:
        number = self._number_at(at)
        return self._tokens[number].note if 0 <= number < len(self._tokens) else ""

    def mousePressEvent(self, event: QMouseEvent) -> None:
        number = self._number_at(event.position().toPoint())
        if 0 <= number < len(self._tokens) and self._tokens[number].mark:
            self.chosen.emit(number)
        else:
            super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        answers = [number for number, token in enumerate(self._tokens) if token.mark]
        if not step or not answers:
            super().keyPressEvent(event)
            return
        at = answers.index(self._chosen) if self._chosen in answers else -step
        self.chosen.emit(answers[max(0, min(len(answers) - 1, at + step))])

    def sizeHint(self) -> QSize:
        return QSize(240, self.lines_height)
