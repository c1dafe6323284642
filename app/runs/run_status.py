"""The words of the top bar: how far a run is, how well it does and where it computes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.charts.plot import number, percent
from app.theme import SMALL, Theme, current_theme, themes
from app.widgets.labels import plain
from engine.feed.progress import Progress
from engine.values import counted

HEIGHT = 32
GOOD = 0.9  # an accuracy from which on it is shown in green
# Where a part of the words of a run begins that can be left out.
_PART = re.compile(r" · | in (?:epoch )?\d| of (?:batches|all rows)")


def time_left(seconds: float) -> str:
    """`1 min 52 s left`: rounded so that it does not flicker."""
    whole = max(0, round(seconds))
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60} min left"
    if whole >= 600:
        return f"{whole // 60} min left"
    if whole >= 60:
        return f"{whole // 60} min {whole % 60} s left"
    return f"{whole} s left"


def slashed(words: str) -> str:
    """`Epoch 3/20` for `Epoch 3 of 20`; batches of 16 stay as they are."""
    return re.sub(r"(?<=\d) of (?=\d)", "/", words)


def shortened(words: str) -> list[str]:
    """The words of a run, the longest first; whole parts are left out from the end, and no number is cut.

    `Epoch 3 of 20 · step 510` is also `Epoch 3/20 · step 510`, `Epoch 3/20 · 510` and `Epoch 3/20`.
    """
    brief = slashed(words)
    ways = [words, brief, brief.replace(" · step ", " · ")]
    ways += [brief[: part.start()] for part in reversed(list(_PART.finditer(brief)))]
    return list(dict.fromkeys(ways))


class ProgressText(QWidget):
    """Where the run is, in words, and a thin bar under them; its size never follows the numbers."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("progressText")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(172)
        self.setMaximumWidth(320)
        self._words = ("", "")
        self._fraction = 0.0
        self._role = "accent"
        themes.theme_changed.connect(self._theme_changed)

    def text(self) -> str:
        """Both pieces of text."""
        return "  ".join(word for word in self._words if word)

    @property
    def fraction(self) -> float:
        """How much of the run is done, 0 to 1."""
        return self._fraction

    def show_progress(
        self,
        state: str,
        progress: Progress | None,
        plan: str,
        layer_step: Mapping[str, Any] | None = None,
        *,
        soon: bool = False,
    ) -> None:
        """Show a trainer's progress; `plan` is what stands there before a run, which may begin `soon`.

        `layer_step` is the piece of a batch on show, as `Workspace.layer_step` has it.
        """
        left, right, fraction = plan, "", 0.0
        if progress is None:
            left, right = plan, "engine starting" if not soon else "begins in a moment"
        elif state == "loading":
            left, right = progress.reading or "Reading the data …", ""
        elif progress.step or state in ("running", "paused"):
            epochs = max(1, progress.epochs)
            steps = max(1, epochs * progress.steps_per_epoch)
            fraction = min(1.0, progress.step / steps)
            left = f"Epoch {min(progress.epoch + 1, epochs)} of {epochs} · step {progress.step:,}"
            if progress.phases > 1:  # whose epochs need not be of one length
                fraction = min(1.0, progress.epoch / epochs)
                epoch = min(progress.epoch + 1, epochs)
                left = f"Epoch {epoch} of {epochs} · phase {progress.phase} of {progress.phases}"
            if state == "finished":
                left = f"Finished · {counted(progress.epoch, 'epoch')}"
                if progress.step != progress.epoch:  # more than one batch in an epoch
                    left += f" · {counted(progress.step, 'step')}"
                fraction = 1.0
            elif state == "idle":
                left = f"Stopped in epoch {min(progress.epoch + 1, epochs)} · step {progress.step:,}"
            elif state == "failed":
                left = f"Failed in epoch {min(progress.epoch + 1, epochs)} · step {progress.step:,}"
            elif state == "paused" and layer_step:
                right = f"{layer_step['stage']} {layer_step['number']}/{layer_step['of']}"
            elif state in ("paused", "stopping"):
                right = state
            elif progress.seconds_left is not None:
                right = time_left(progress.seconds_left)
        elif state == "failed":
            left = "Failed before the first step"
        role = {"finished": "good", "failed": "bad"}.get(state, "accent")
        if ((left, right), fraction, role) != (self._words, self._fraction, self._role):
            self._words, self._fraction, self._role = (left, right), fraction, role
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(230, HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = current_theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.font(SMALL))
        metrics = QFontMetrics(theme.font(SMALL))
        line = QRectF(0, 2, self.width(), 18)
        words, beside = self._words
        ways = shortened(words)
        left, right, room = ways[-1], "", self.width()
        # how long a run still takes says more than its steps, and its epoch says more than that
        for other in dict.fromkeys((beside, "")):
            free = self.width() - (metrics.horizontalAdvance(other) + 12 if other else 0)
            fitting = next((way for way in ways if metrics.horizontalAdvance(way) <= free), None)
            if fitting is not None:
                left, right, room = fitting, other, free
                break
        painter.setPen(theme.text)
        shown = metrics.elidedText(left, Qt.TextElideMode.ElideRight, room)
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
        painter.setPen(theme.dim)
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, right)
        track = QRectF(0, 23, self.width(), 5)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.raised)
        painter.drawRoundedRect(track, 2.5, 2.5)
        if self._fraction > 0:
            painter.setBrush(getattr(theme, self._role))
            painter.drawRoundedRect(QRectF(0, 23, max(5.0, self.width() * self._fraction), 5), 2.5, 2.5)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(
                event.globalPos(), f"{self.text()}\n{percent(self._fraction)} of the planned steps", self
            )
            return True
        return super().event(event)

    def _theme_changed(self, theme: Theme) -> None:
        self.update()


class MetricText(QWidget):
    """The newest value of the metric a run is judged by, after its name; below it that of the best epoch."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("metricText")
        self._name = ""
        self._value: float | None = None
        self._best: float | None = None
        self._compact = False
        self.units: Callable[[], str] | None = None  # a sentence on the units of the value
        self.setFixedWidth(self._room())
        self.setFixedHeight(HEIGHT)
        themes.theme_changed.connect(self._theme_changed)

    def text(self) -> str:
        """Name and value, and what is below."""
        return f"{self._name} {self._figures(self._value)} {self._below()}".strip()

    def show_metric(self, name: str, value: float | None, best: float | None = None) -> None:
        """Show another value, that of the last epoch where there is a `best` one; None shows nothing."""
        if (name, value, best) != (self._name, self._value, self._best):
            renamed = name != self._name
            self._name, self._value, self._best = name, value, best
            if renamed:
                self.setFixedWidth(self._room())
            self.update()

    @property
    def good(self) -> bool:
        """Whether the value says that the network has learned its task; a loss alone never does."""
        return "accuracy" in self._name and self._value is not None and self._value >= GOOD

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), plain(self.told()), self)
            return True
        return super().event(event)

    def told(self) -> str:
        """The value in full, and in which units it is."""
        if self._value is None:
            return ""
        newest = f"{self._name}: {self._value:.6g}, the newest value of this run"
        if self._best is not None:
            newest += f"; {self._best:.6g} in its best epoch"
        units = self.units() if self.units is not None else ""
        return "\n".join(part for part in (newest, units) if part)

    def set_compact(self, compact: bool) -> None:
        """Whether to write "val. accuracy" for "validation accuracy"."""
        if compact != self._compact:
            self._compact = compact
            self.setFixedWidth(self._room())
            self.update()

    def _shorten(self, name: str) -> str:
        return name.replace("validation ", "val. ").replace("training ", "train ") if self._compact else name

    def _below(self) -> str:
        return "" if self._best is None else f"last · best {self._figures(self._best)}"

    def _figures(self, value: float | None) -> str:
        if value is None:
            return ""
        return f"{value:.4f}" if 0 <= value < 100 and value >= 5e-4 else number(value)

    def _room(self) -> int:
        """As wide as the usual name needs, or this one's up to half as much again; never by the numbers."""
        theme = current_theme()
        metrics = QFontMetrics(theme.font(SMALL))
        usual = metrics.horizontalAdvance(self._shorten("validation accuracy"))
        words = min(max(usual, metrics.horizontalAdvance(self._shorten(self._name))), usual * 3 // 2)
        return words + 10 + QFontMetrics(theme.mono(13, bold=True)).horizontalAdvance("0.9871") + 2

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._value is None:
            return
        theme = current_theme()
        painter = QPainter(self)
        painter.setFont(theme.mono(13, bold=True))
        figures = self._figures(self._value)
        line = HEIGHT if self._best is None else 17
        taken = painter.fontMetrics().horizontalAdvance(figures) + 10
        middle = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        known = self._value - self._value == 0
        painter.setPen((theme.good_text if self.good else theme.text) if known else theme.bad_text)
        painter.drawText(QRectF(0, 0, self.width(), line), middle, figures)
        painter.setFont(theme.font(SMALL))
        painter.setPen(theme.dim)
        room = self.width() - taken
        words = self._shorten(self._name)
        metrics = painter.fontMetrics()
        if metrics.horizontalAdvance(words) > room and self._best is None:  # a second line is free
            first, _, rest = words.partition(" ")
            painter.drawText(QRectF(0, 0, room, line / 2), middle, first)
            words = metrics.elidedText(rest, Qt.TextElideMode.ElideRight, room)
            painter.drawText(QRectF(0, line / 2, room, line / 2), middle, words)
        else:
            words = metrics.elidedText(words, Qt.TextElideMode.ElideRight, room)
            painter.drawText(QRectF(0, 0, room, line), middle, words)
        if self._best is not None:
            painter.drawText(QRectF(0, line, self.width(), HEIGHT - line), middle, self._below())

    def _theme_changed(self, theme: Theme) -> None:
        self.setFixedWidth(self._room())
        self.update()


class DeviceChip(QWidget):
    """Where the run computes: "CPU · 2 cores"."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("deviceChip")
        self._text = ""
        self._compact = False
        self.setFixedHeight(26)
        self._fit()
        themes.theme_changed.connect(self._theme_changed)

    def text(self) -> str:
        """The device in words."""
        return self._text

    def show_device(self, device: str) -> None:
        """Show a device by torch's name, or its description."""
        text = device_words(device)
        if text != self._text:
            self._text = text
            self.setToolTip(f"Training computes on: {text}" if text else "")
            self._fit()
            self.update()

    def set_compact(self, compact: bool) -> None:
        """Whether to leave out how many cores or threads there are; the tool tip has them."""
        if compact != self._compact:
            self._compact = compact
            self._fit()
            self.update()

    def _words(self) -> str:
        return self._text.partition(" · ")[0] if self._compact else self._text

    def _fit(self) -> None:
        metrics = QFontMetrics(current_theme().font(SMALL))
        usual = "CPU" if self._compact else "CPU · 2 cores"
        self.setFixedWidth(min(170, metrics.horizontalAdvance(self._words() or usual) + 32))

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._text:
            return
        theme = current_theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(theme.line)
        painter.setBrush(theme.raised)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.good)
        painter.drawEllipse(QRectF(10, self.height() / 2 - 3, 6, 6))
        painter.setPen(theme.text)
        painter.setFont(theme.font(SMALL))
        words = painter.fontMetrics().elidedText(
            self._words(), Qt.TextElideMode.ElideRight, self.width() - 30
        )
        painter.drawText(
            QRectF(22, 0, self.width() - 28, self.height()), Qt.AlignmentFlag.AlignVCenter, words
        )

    def _theme_changed(self, theme: Theme) -> None:
        self._fit()
        self.update()


def device_words(device: str) -> str:
    """`cpu` in words, with the number of cores; a description is left as it is."""
    if device != "cpu":
        return device.upper() if device.startswith(("cuda", "mps")) else device
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return f"CPU · {cores} core{'s' if cores != 1 else ''}"
