"""The joins of a tokeniser of pieces, one by one, and a text as it is cut after each."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QSlider, QVBoxLayout, QWidget

from app.charts.arrays.token_text import Token, TokenText
from app.widgets.labels import ElidedLabel
from engine.data.text.piece_steps import PieceSteps
from engine.data.text.token_names import named_tokens

LONGEST = 160  # characters of the text, at first
LOW, HIGH = 44, 110  # pixels of the cut text


class PieceStepsBox(QWidget):
    """A slider through the joins; below it a text, typed or the data's own, cut by those up to there."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._steps: PieceSteps | None = None
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setObjectName("pieceSteps")
        self.slider.setAccessibleName("How many joins")
        self.slider.setToolTip("How many pairs of pieces are joined; at the left there are characters only")
        self.slider.valueChanged.connect(self._again)
        self.said = ElidedLabel("", "small")
        self.typed = QLineEdit()
        self.typed.setObjectName("pieceText")
        self.typed.setAccessibleName("Text to cut into pieces")
        self.typed.setPlaceholderText("a text to cut into pieces")
        self.typed.textChanged.connect(self._again)
        self.cut = TokenText()
        self.cut.setObjectName("pieceCut")
        self.cut.setMinimumHeight(LOW)
        self.cut.setMaximumHeight(HIGH)
        top = QHBoxLayout()
        top.setContentsMargins(0, 0, 0, 0)
        top.setSpacing(12)
        top.addWidget(self.slider, 2)
        top.addWidget(self.said, 3)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(top)
        column.addWidget(self.typed)
        column.addWidget(self.cut)

    def show_steps(self, steps: PieceSteps | None) -> None:
        """Show the joins of another vocabulary, all of them at first; without any there is nothing to see."""
        self.setVisible(steps is not None)
        if steps is None or steps == self._steps:
            return
        fresh = self._steps is None or not self.typed.text() or self.typed.text() == _begin(self._steps)
        self._steps = steps
        self.slider.setRange(0, len(steps.joined))
        self.slider.setValue(len(steps.joined))
        if fresh:
            self.typed.setText(_begin(steps))
        self._again()

    def _again(self, _changed: object = None) -> None:
        if self._steps is None:
            return
        step, count = self.slider.value(), len(self._steps.joined)
        found = self._steps.cut(self.typed.text(), step)
        names = _names(found)
        new = self._steps.joined[step - 1] if step else ""
        marks = ["right" if token == new else "" for token in found]
        self.cut.show_tokens([Token(name, mark) for name, mark in zip(names, marks, strict=True)])
        self.said.setText(f"{self._words(step)} · {step:,} of {count:,} joins · {len(found):,} tokens")

    def _words(self, step: int) -> str:
        assert self._steps is not None
        if not step:
            return "characters only"
        pair = self._steps.pair(step)
        (new,) = _names([self._steps.joined[step - 1]])
        return f"{' + '.join(_names(list(pair)))} → {new}" if pair else f"→ {new}"


def _begin(steps: PieceSteps) -> str:
    return " ".join(steps.sample.split())[:LONGEST]


def _names(tokens: list[str]) -> list[str]:
    return [named_tokens((one,), 1)[0] for one in tokens]
