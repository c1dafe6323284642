"""Where a card draws: the view, the words in its place, and the veil over one that no longer holds."""

from __future__ import annotations

import logging

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.charts.plot import colour_of
from app.look.base import LiveView, Probes, Snapshots
from app.look.dock.states import State, failed_words, is_drawable
from app.theme import SMALL, current_theme
from app.widgets.labels import ElidedLabel, label
from engine.errors import reason_of
from engine.feed.feed import Probe, Snapshot

log = logging.getLogger(__name__)

VEIL = 0.55


class Pane(QWidget):
    """One view with its states; several stand side by side where runs are compared."""

    def __init__(self, view: LiveView, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.view = view
        self.drawn: dict[Probe, Snapshot] = {}
        self.state = State("waiting")
        self._why = ""  # the last one could not be drawn
        self._words = label("", "small", wrap=True)
        self._words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._words.setMinimumSize(1, 1)
        self._words.setMargin(6)
        self._caption = _Caption()
        self._caption.hide()
        self._stack = QStackedWidget()
        self._stack.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.close_button = QPushButton("Close")
        self.close_button.setProperty("kind", "small")
        self.close_button.hide()
        said = QWidget()
        lines = QVBoxLayout(said)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.addStretch(1)
        lines.addWidget(self._words)
        lines.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignHCenter)
        lines.addStretch(1)
        self._stack.addWidget(said)
        self._stack.addWidget(view)
        self._veil = _Veil(self._stack)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self._caption)
        column.addWidget(self._stack, 1)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)

    def caption(self, name: str, role: str, step: str) -> None:
        """Says whose view it is, with the colour of the run; nothing without a name."""
        self._caption.show_run(name, role, step)
        if self._caption.isHidden() == bool(name):
            self._caption.setVisible(bool(name))

    def probes(self) -> Probes:
        """What the view needs now."""
        try:
            return self.view.probes()
        except Exception:  # a view that fails must not take the others with it
            log.exception("%s could not say what it needs", type(self.view).__name__)
            return frozenset()

    def draw(self, found: dict[Probe, Snapshot]) -> str:
        """Draws what is new; returns why there is no view, empty where there is one."""
        views = {probe: one for probe, one in found.items() if is_drawable(one)}
        failed = failed_words({probe: found[probe] for probe in self.view.essential() if probe in found})
        if not views or failed:
            self.drawn = {}
            return failed or failed_words(found)
        if any(self.drawn.get(probe) is not one for probe, one in views.items()):
            self.drawn = views
            self._why = self._drawn(views)
        return self._why

    def _drawn(self, views: Snapshots) -> str:
        try:
            self.view.draw(views)
        except Exception as error:  # see above
            log.exception("%s could not be drawn", type(self.view).__name__)
            return f"This view could not be drawn: {reason_of(error)}"
        return ""

    def forget(self) -> None:
        """What is drawn is no longer what was asked for."""
        self.drawn = {}

    def show_state(self, state: State) -> None:
        """Shows the view, or words in its place."""
        if state == self.state and self._stack.currentIndex() == int(state.kind == "drawn"):
            return
        self.state = state
        self._words.setText(state.words)
        self.close_button.setVisible(state.kind == "gone")
        self._stack.setCurrentIndex(int(state.kind == "drawn"))
        self._veil.say(state.mark if state.dim else "")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._veil.settle()


class _Caption(QWidget):
    """A square in the colour of a run, its name, and the step that is shown of it."""

    def __init__(self) -> None:
        super().__init__()
        self._role = "accent"
        self._name = ElidedLabel("", "small")
        self._name.elide_middle()
        self._step = ElidedLabel("", "small")
        self._step.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 0, 0, 0)
        row.setSpacing(6)
        row.addWidget(self._name, 1)
        row.addWidget(self._step)

    def show_run(self, name: str, role: str, step: str) -> None:
        if role != self._role:
            self._role = role
            self.update()
        for part, text in ((self._name, name), (self._step, step)):
            if part.text() != text:
                part.setText(text)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(0, (self.height() - 9) // 2, 9, 9, colour_of(current_theme(), self._role))
        painter.end()


class _Veil(QWidget):
    """Dims what lies under it and says why."""

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self._word = ""
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def say(self, word: str) -> None:
        """Dims with this word; lifts the veil without one."""
        self._word = word
        self.setVisible(bool(word))
        if word:
            self.settle()
            self.raise_()
            self.update()

    def settle(self) -> None:
        """Covers what it lies over."""
        parent = self.parentWidget()
        if parent is not None:
            self.setGeometry(parent.rect())

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = current_theme()
        painter = QPainter(self)
        wash = QColor(theme.panel)
        wash.setAlphaF(VEIL)
        painter.fillRect(self.rect(), wash)
        painter.setFont(theme.font(SMALL, bold=True))
        text = painter.fontMetrics().elidedText(
            self._word, Qt.TextElideMode.ElideRight, max(20, self.width() - 24)
        )
        wide, high = painter.fontMetrics().horizontalAdvance(text) + 16, painter.fontMetrics().height() + 6
        chip = QRect((self.width() - wide) // 2, (self.height() - high) // 2, wide, high)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(theme.warning)
        painter.setBrush(theme.raised)
        painter.drawRoundedRect(chip, 5, 5)
        painter.setPen(theme.text)
        painter.drawText(chip, Qt.AlignmentFlag.AlignCenter, text)
        painter.end()
