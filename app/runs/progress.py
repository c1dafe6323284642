"""The training controls of the top bar: train, pause, step, stop, how far the run is and how well it does."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from app.look.base import Subject
from app.look.own import scaled_words
from app.runs.run_status import DeviceChip, MetricText, ProgressText
from app.theme import Theme, current_theme, themes
from app.widgets.icons import icon
from app.widgets.one_click import OneClick
from app.workspace.engine_parts import RunControl
from app.workspace.open_document import TrainableDocument
from app.workspace.pace import Pace
from engine.document.names import spoken
from engine.feed.feed import Feed
from engine.runs.records import lower_is_better

REDRAW_MS = 250
NARROW = 860

# state, or "stopped" for a run that has ended early: what the main button says, its icon, its tool tip
MAIN = {
    "idle": ("Train", "play", "Train the network from its first weights"),
    "loading": ("Pause", "pause", "The data are being read"),
    "running": ("Pause", "pause", "Pause after this batch"),
    "paused": ("Resume", "play", "Go on training"),
    "stopping": ("Stop", "pause", "The run ends after this batch"),
    "finished": ("Train more", "play", "Go on for more epochs: weights, optimiser and schedule stay"),
    "stopped": ("Train more", "play", "Go on to the end of the plan: weights, optimiser and schedule stay"),
    "failed": ("Train", "play", "Train again from the first weights"),
}


class TrainingBar(QWidget):
    """One main action, Back, Step and Stop, how far the run is, the newest metric and the device."""

    back_changed = Signal()  # whether one can step back

    def __init__(self, workspace: TrainableDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("trainingBar")
        self._workspace = workspace
        self._main = self._button("trainButton", kind="main")
        self._back = self._button("backButton")
        self._back.setAccessibleName("Step back")
        self._step = self._button("stepButton")
        self._step.setText("Step")
        self._stop = self._button("stopButton")
        self._stop.setText("Stop")
        self._over = self._button("startOverButton")
        self._over.setAccessibleName("Start over")
        self._progress = ProgressText()
        self._metric = MetricText()
        self._metric.units = self._units
        self._device = DeviceChip()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        parts = (
            self._main,
            6,
            self._back,
            4,
            self._step,
            6,
            self._stop,
            6,
            self._over,
            12,
            self._progress,
            14,
            self._metric,
            14,
            self._device,
        )
        for part in parts:
            if isinstance(part, int):
                row.addSpacing(part)
            else:
                row.addWidget(part, int(part is self._progress))
        self._main.clicked.connect(self._main_clicked)
        self._back.clicked.connect(self.back)
        self._step.clicked.connect(self.step)
        self._stop.clicked.connect(self.stop)
        self._over.clicked.connect(self.start_over)
        self._pace = Pace(REDRAW_MS, self.refresh, self)
        workspace.ticked.connect(self._pace.ask)
        workspace.state_changed.connect(self._state_changed)
        workspace.inferred.connect(self._pace.ask)
        workspace.changed.connect(self._pace.ask)  # another plan, before the engine infers anything
        workspace.engine_ready.connect(self._pace.now)
        themes.theme_changed.connect(self._dress)
        self._shown: tuple[str, str] = ("", "")
        self._dress(current_theme())

    def _button(self, name: str, kind: str = "") -> QPushButton:
        made = OneClick()
        made.setObjectName(name)
        if kind:
            made.setProperty("kind", kind)
        made.setIconSize(QSize(14, 14))
        made.setFixedHeight(28)
        return made

    def resizeEvent(self, event: QResizeEvent) -> None:
        for part in (self._metric, self._device):
            part.set_compact(event.size().width() < NARROW)
        super().resizeEvent(event)

    # -- actions ----------------------------------------------------------------------------------

    def _main_clicked(self) -> None:
        self.toggle()

    def toggle(self) -> None:
        """Train, pause or resume: whatever the main button offers now."""
        trainer, state = self._workspace.trainer, self._workspace.state
        if trainer is not None and state in ("running", "loading"):
            trainer.pause()
        elif state == "paused" or self._workspace.can_train_more:
            self._workspace.go_on()
        else:
            self._workspace.train()
        self.refresh()

    def start_over(self) -> None:
        """Train from the first weights, in place of a run that has ended; that one is kept among the runs."""
        self._workspace.train()
        self.refresh()

    def step(self) -> None:
        """Train on one batch and pause; starts a run where there is none."""
        if (trainer := self._at_rest()) is not None:
            trainer.step()
            self.refresh()

    def step_layer(self) -> None:
        """Show what the next batch does at one more node, at rest; starts a run where there is none."""
        if (trainer := self._at_rest()) is not None:
            if trainer.state == "running":
                trainer.pause()
            trainer.step_layer()
            self.refresh()

    def _at_rest(self) -> RunControl | None:
        """The trainer, with a run that stands still: the one that has ended, else a new one; None without."""
        trainer = self._workspace.trainer
        if trainer is not None and trainer.state in ("idle", "finished", "failed"):
            goes_on = self._workspace.can_train_more
            if not (self._workspace.go_on() if goes_on else self._workspace.train()):
                return None
            trainer.pause()
        return trainer

    def back(self) -> None:
        """Return to before the last step, of a batch or of a node."""
        if self._workspace.trainer is not None:
            self._workspace.trainer.back()
            self.refresh()

    def stop(self) -> None:
        """End the run after this batch; the weights stay."""
        if (trainer := self._workspace.trainer) is not None and self._workspace.training:
            trainer.stop()
            self.refresh()

    # -- what is shown ----------------------------------------------------------------------------

    def refresh(self) -> None:
        """Show the trainer's state and numbers as they are now."""
        state = self._workspace.state
        reason = self._reason()
        more = self._workspace.can_train_more
        text, name, tip = MAIN["stopped" if more and state == "idle" else state]
        starting = self._workspace.trainer is None and self._workspace.engine_error is None
        can_train = not reason or state in ("running", "loading") or starting
        self._set(self._main, can_train and state != "stopping", reason if not can_train else f"{tip} (F5)")
        if self._shown != (text, name):
            self._shown = (text, name)
            self._main.setText(text)
            self._main.setIcon(icon(name, current_theme().on_accent, 14))
        can_step = (state in ("idle", "paused", "finished", "failed")) and not reason
        self._set(
            self._step,
            can_step,
            reason or ("Train on one batch (F6)" if can_step else "Pause first, then go batch by batch"),
        )
        self._show_back(state)
        can_stop = self._workspace.training and state != "stopping"
        self._set(
            self._stop,
            can_stop,
            "End the run and keep the weights (Shift+F5)" if can_stop else "No run is under way",
        )
        self._set(
            self._over,
            more and not reason,
            (reason or "Start over from the first weights (Ctrl+F5)") if more else "No run has ended",
        )
        trainer = self._workspace.trainer
        self._progress.show_progress(
            state,
            trainer.progress if trainer is not None else None,
            self._plan_line(),
            self._workspace.layer_step,
            soon=self._workspace.train_when_ready,
        )
        feed = trainer.feed if trainer is not None else None
        self._metric.show_metric(*newest_metric(feed), best_metric(feed))
        self._device.show_device(trainer.progress.device if trainer is not None else "")

    def _show_back(self, state: str) -> None:
        trainer = self._workspace.trainer
        can = trainer is not None and trainer.can_go_back
        if can:
            tip = "Back to before the last step (Shift+F6)"
        elif state in ("running", "loading"):
            tip = "Pause first, then go forward and back step by step"
        else:
            tip = "Nothing to go back to: only steps that were taken singly can be taken back"
        changed = can != self._back.isEnabled()
        self._set(self._back, can, tip)
        if changed:
            self.back_changed.emit()

    def _reason(self) -> str:
        """Why training cannot start; empty when it can."""
        if self._workspace.trainer is None:
            return self._workspace.engine_error or "The engine is still starting"
        errors = self._workspace.errors()
        if not errors:
            return ""
        first = errors[0]
        node = self._workspace.node(first.node_id) if first.node_id else None
        more = (
            f"\nand {len(errors) - 1} more problem{'s' if len(errors) > 2 else ''}" if len(errors) > 1 else ""
        )
        name = f"{node.name}: " if node is not None and node.name and node.name not in first.message else ""
        return f"{name}{first.message}{more}"

    def _plan_line(self) -> str:
        plan = self._workspace.document.project.plan
        epochs = sum(phase.stop.epochs for phase in plan.phases)
        length = f"{epochs} epoch{'s' if epochs != 1 else ''}"
        if len(plan.phases) > 1:
            return f"{length} in {len(plan.phases)} phases"
        batch = plan.batch_of(plan.phases[0])
        return f"{length} of {f'batches of {batch}' if batch else 'all rows at once'}"

    def _units(self) -> str:
        name = newest_metric(self._workspace.trainer.feed if self._workspace.trainer is not None else None)[0]
        return "" if "accuracy" in name else scaled_words(Subject(self._workspace))

    def _set(self, button: QPushButton, enabled: bool, tip: str) -> None:
        if button.isEnabled() != enabled:
            button.setEnabled(enabled)
        if button.toolTip() != tip:
            button.setToolTip(tip)

    def _state_changed(self, state: str) -> None:
        self._pace.now()

    def _dress(self, theme: Theme) -> None:
        metrics = QFontMetrics(theme.font(13, bold=True))
        widest = max(metrics.horizontalAdvance(text) for text, _, _ in MAIN.values())
        self._main.setFixedWidth(widest + 14 + 6 + 24)
        for button, name in ((self._step, "step"), (self._stop, "stop")):
            button.setIcon(icon(name, theme.dim, 14))
            button.setFixedWidth(metrics.horizontalAdvance("Step") + 14 + 6 + 24)
        self._back.setIcon(icon("step-back", theme.dim, 14))
        self._back.setFixedWidth(32)
        self._over.setIcon(icon("undo", theme.dim, 14))
        self._over.setFixedWidth(32)
        self._shown = ("", "")
        self.refresh()


def newest_metric(feed: Feed | None) -> tuple[str, float | None]:
    """What to judge a run by, and its newest value: the first validation metric, else the losses."""
    series = judged_by(feed)
    return (spoken(series), feed.last(series)) if feed is not None and series else ("", None)


def judged_by(feed: Feed | None) -> str:
    """The series to judge a run by; "" before there is any."""
    names = feed.series() if feed is not None else ()
    ways = ("val_", "batch_")  # one batch stands for the split until the first epoch has ended
    metrics = [name for way in ways for name in names if name.startswith(way) and "loss" not in name]
    trained = [name for name in names if name.startswith("train_")]
    wanted = (name for name in [*metrics, "val_loss", *trained] if name in names)
    return next((name for name in wanted if feed is not None and feed.last(name) is not None), "")


def best_metric(feed: Feed | None) -> float | None:
    """The best epoch's value of what the run is judged by; None before there are two epochs."""
    series = judged_by(feed)
    if feed is None or not series.startswith("val_"):
        return None
    values = feed.read(series)["value"]
    if len(values) < 2:
        return None
    best = np.fmin if lower_is_better(series, feed.higher) else np.fmax
    return float(best.reduce(values))
