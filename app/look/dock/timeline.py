"""A slider over the run: every view in the dock as it was at any recorded step."""

from __future__ import annotations

from bisect import bisect_right

from PySide6.QtCore import QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolButton, QToolTip, QWidget

from app.look.dock.playback import Playback
from app.theme import current_theme, themes
from app.widgets.icons import icon
from app.widgets.labels import label

HEIGHT = 22
PLAY_MS = 120
_KNOB = 5.5
_PAD = 8


class Track(QWidget):
    """The slider itself: recorded steps are marks on its line; the keys go from one to the next."""

    picked = Signal(int)  # a step
    stepped = Signal(int)  # towards the beginning (-1) or the end (1)
    ended = Signal()  # the right end: live

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("timelineTrack")
        self._steps: list[int] = []
        self._step: int | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(HEIGHT)
        self.setMouseTracking(True)
        self.setAccessibleName("Step of the run")
        themes.theme_changed.connect(self._repaint)

    def show_steps(self, steps: list[int], step: int | None) -> None:
        """Shows which steps are recorded, and the one on show: None is live, the right end."""
        if steps != self._steps or step != self._step:
            self._steps, self._step = steps, step
            said = "live" if step is None else f"step {step:,}"
            if said != self.accessibleDescription():
                self.setAccessibleDescription(said)
            self.update()

    def x_of(self, step: int) -> float:
        """Where a step is on the line, in pixels."""
        first, last = self._steps[0], self._steps[-1]
        return _PAD + (self.width() - 2 * _PAD) * (step - first) / max(1, last - first)

    def step_at(self, x: float) -> int:
        """The recorded step nearest to a place on the line."""
        first, last = self._steps[0], self._steps[-1]
        wanted = first + (x - _PAD) / max(1, self.width() - 2 * _PAD) * (last - first)
        after = bisect_right(self._steps, wanted)
        near = self._steps[max(0, after - 1) : after + 1]
        return min(near, key=lambda step: abs(step - wanted))

    def sizeHint(self) -> QSize:
        return QSize(300, HEIGHT)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._go(event.position().x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not self._steps:
            return
        x = event.position().x()
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._go(x)
        here = QPoint(round(x), -6)
        QToolTip.showText(self.mapToGlobal(here), f"step {self.step_at(x):,}", self)

    def _go(self, x: float) -> None:
        if not self._steps:
            return
        if x >= self.width() - _PAD:
            self.ended.emit()
        else:
            self.picked.emit(self.step_at(x))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Down):
            self.stepped.emit(-1)
        elif key in (Qt.Key.Key_Right, Qt.Key.Key_Up):
            self.stepped.emit(1)
        elif key == Qt.Key.Key_Home and self._steps:
            self.picked.emit(self._steps[0])
        elif key == Qt.Key.Key_End:
            self.ended.emit()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._steps:
            return
        theme = current_theme()
        painter = QPainter(self)
        middle = self.height() // 2
        right = self.width() - _PAD
        here = right if self._step is None else min(right, max(_PAD, self.x_of(self._step)))
        painter.setPen(QPen(theme.line, 3))
        painter.drawLine(_PAD, middle, right, middle)
        painter.setPen(QPen(theme.accent, 3))
        painter.drawLine(_PAD, middle, round(here), middle)
        painter.setPen(theme.faint)
        last = -10
        for step in self._steps:  # marks nearer than three pixels would be a second line
            x = round(self.x_of(step))
            if x - last >= 3:
                painter.drawLine(x, middle + 4, x, middle + 7)
                last = x
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.accent if self.hasFocus() else theme.panel, 2))
        painter.setBrush(theme.text)
        painter.drawEllipse(QPoint(round(here), middle), _KNOB, _KNOB)
        painter.end()

    def _repaint(self, _theme: object) -> None:
        self.update()


class Timeline(QWidget):
    """Play, the slider, which step is shown, and back to live; hidden until something is recorded."""

    def __init__(self, playback: Playback, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("timeline")
        self._playback = playback
        self._version: tuple[int, int] = (-1, -1)
        self._steps: list[int] = []
        self.play = self._button("timelinePlay", self._toggle_play)
        self.track = Track()
        self.words = label("", "small")
        self.words.setObjectName("timelineWords")
        self.live = QToolButton()
        self.live.setObjectName("timelineLive")
        self.live.setProperty("kind", "chip")
        self.live.setText("Live")
        self.live.setFixedHeight(HEIGHT - 2)
        self.live.setCheckable(True)
        self.live.setToolTip("Show the newest, and go on with it")
        self.live.clicked.connect(self._go_live)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.play)
        row.addWidget(self.track, 1)
        row.addWidget(self.words)
        row.addWidget(self.live)
        self._timer = QTimer(self)
        self._timer.setInterval(PLAY_MS)
        self._timer.timeout.connect(self._advance)
        self.track.picked.connect(self._pick)
        self.track.stepped.connect(self._step)
        self.track.ended.connect(self._end)
        playback.moved.connect(self.refresh)
        themes.theme_changed.connect(self._dress)
        self._dress()
        self.hide()

    def _button(self, name: str, slot: object) -> QToolButton:
        made = QToolButton()
        made.setObjectName(name)
        made.setProperty("kind", "icon")
        made.setFixedSize(HEIGHT, HEIGHT)
        made.clicked.connect(slot)
        return made

    @property
    def playing(self) -> bool:
        """Whether it goes from step to step by itself."""
        return self._timer.isActive()

    def refresh(self) -> None:
        """Show what is recorded now, and the step on show."""
        playback = self._playback
        history = playback.history
        version = (id(history), history.version if history is not None else 0)
        if version != self._version:
            self._version = version
            self._steps = playback.steps()
        steps = self._steps
        shown = len(steps) > 1 or not playback.live
        if self.isHidden() == shown:
            self.setVisible(shown)
        self.track.show_steps(steps, playback.step)
        of = f" of {steps[-1]:,}" if steps else ""
        words = f"step {steps[-1]:,}" if playback.live and steps else f"step {playback.step or 0:,}{of}"
        words = f"{playback.run} · {words}" if playback.run else words
        if words != self.words.text():
            self.words.setText(words)
        self.live.setChecked(playback.live)

    def _pick(self, step: int) -> None:
        self._playback.go_to(step)

    def _end(self) -> None:
        if self._playback.run:
            if self._steps:
                self._playback.go_to(self._steps[-1])
        else:
            self._playback.go_live()

    def _step(self, way: int) -> None:
        step = self._playback.neighbour(way)
        if step is not None:
            self._playback.go_to(step)
        elif way > 0:
            self._end()

    def _go_live(self) -> None:
        self._stop()
        self._playback.go_live()
        self.refresh()

    def _toggle_play(self) -> None:
        if self.playing:
            self._stop()
            return
        steps = self._steps
        here = self._playback.step
        if steps and (here is None or here >= steps[-1]):
            self._playback.go_to(steps[0])
        self._timer.start()
        self._dress()

    def _advance(self) -> None:
        step = self._playback.neighbour(1)
        if step is None:
            self._stop()
        else:
            self._playback.go_to(step)

    def _stop(self) -> None:
        self._timer.stop()
        self._dress()

    def hideEvent(self, event: QHideEvent) -> None:
        self._stop()
        super().hideEvent(event)

    def _dress(self, _theme: object = None) -> None:
        name, tip = ("pause", "Stop") if self.playing else ("play", "Play what was recorded")
        self.play.setIcon(icon(name, current_theme().dim, 14))
        self.play.setToolTip(tip)
        self.play.setAccessibleName(tip)
