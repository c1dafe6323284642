"""The training panel: curves, what layers do and what the answers are, with the end of the run above them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.charts.plot import colour_of, figures
from app.look.base import Subject
from app.look.own import scaled_words
from app.runs.run_csv import metrics_csv
from app.runs.run_status import GOOD
from app.runs.training_answers import TrainingAnswers
from app.runs.training_curves import TrainingCurves
from app.runs.training_layers import TrainingLayers
from app.theme import Theme, current_theme, themes
from app.widgets.labels import ElidedLabel
from app.widgets.one_click import OneClick
from app.workspace.open_document import TrainableDocument
from app.workspace.own_units import OwnUnitsFinder
from app.workspace.watching import Live, Probes
from engine.document.files import write_atomically
from engine.errors import NeuroloomError
from engine.feed.feed import Feed
from engine.values import counted

PADDING = 16
NARROW = 760  # below this width the layers give way to curves and answers
CRAMPED = 520
ROOMY = 280  # a height from which two lines over the columns leave these room enough


class TrainingPanel(QWidget):
    """Everything about the run that is not about one node."""

    def __init__(self, workspace: TrainableDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("trainingPanel")
        self._workspace = workspace
        self.outcome = Outcome()
        self.curves = TrainingCurves(workspace)
        self.layers = TrainingLayers(workspace)
        self.answers = TrainingAnswers(workspace)
        columns = QHBoxLayout()
        columns.setContentsMargins(0, 0, 0, 0)
        columns.setSpacing(32)
        columns.addWidget(self.curves, 42)
        columns.addWidget(self.layers, 30)
        columns.addWidget(self.answers, 30)
        for part in (self.curves, self.layers, self.answers):
            part.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        column = QVBoxLayout(self)
        column.setContentsMargins(PADDING, 8, PADDING, 8)
        column.setSpacing(8)
        column.addWidget(self.outcome)
        column.addLayout(columns, 1)
        self.curves.export_asked.connect(self._ask_where)
        self.outcome.show_node.clicked.connect(self._reveal)
        self.outcome.more.clicked.connect(workspace.go_on)
        self.outcome.over.clicked.connect(self._start_over)
        self._live = Live(workspace, self, self._probes, self._refresh, 250)
        OwnUnitsFinder.of(workspace).found.connect(self._live.again)
        workspace.state_changed.connect(self._state_changed)
        workspace.layer_stepped.connect(self._live.again)

    def minimumSizeHint(self) -> QSize:
        return QSize(320, 150)

    def resizeEvent(self, event: QResizeEvent) -> None:
        width = event.size().width()
        self.layers.setVisible(width >= NARROW)
        self.answers.setVisible(width >= CRAMPED)
        super().resizeEvent(event)

    def _probes(self) -> Probes:
        return frozenset()

    def _state_changed(self, state: str) -> None:
        self._live.again()

    def _refresh(self) -> None:
        trainer = self._workspace.trainer
        if trainer is None:
            return
        state, error = trainer.state, trainer.error
        if state == "failed" and error is not None:
            self.outcome.say("bad", error.message, error.fix or "", error.node_id)
        elif trainer.held is not None:
            how = "Training goes on by itself as soon as that is undone or fixed."
            self.outcome.say("warning", f"Training waits: {trainer.held}", how, trainer.held.node_id)
        elif state == "finished":
            head, early = finished_words(trainer.feed, trainer.progress.epoch, trainer.progress.step)
            accuracy = [
                trainer.feed.last(name) or 0.0 for name in trainer.feed.series() if "accuracy" in name
            ]
            self.outcome.say(
                "good" if max(accuracy, default=0.0) >= GOOD else "accent", head, early, ended=True
            )
            self.outcome.setToolTip(scaled_words(Subject(self._workspace)))
        elif self._workspace.can_train_more:
            now = trainer.progress
            head = f"Stopped in epoch {min(now.epoch + 1, now.epochs)} after {counted(now.step, 'step')}."
            self.outcome.say("accent", head, "", ended=True)
        elif step := self._workspace.layer_step:
            how = _how_on(step) if self.height() >= ROOMY else ""
            self.outcome.say("accent", step["sentence"], how, next(iter(step["nodes"]), None))
            self.outcome.setToolTip(_how_on(step))
        else:
            self.outcome.hide()

    def tells(self, text: str) -> bool:
        """Whether the panel is on show and says already that the run failed or waits, and why."""
        trainer = self._workspace.trainer
        if trainer is None or not self.isVisible():
            return False
        if trainer.held is not None:
            return text == f"Training waits: {trainer.held}"
        error = trainer.error if trainer.state == "failed" else None
        return error is not None and text in (error.message, str(error))

    def _start_over(self) -> None:
        self._workspace.train()

    def _reveal(self) -> None:
        if self.outcome.node_id is not None:
            self._workspace.reveal(self.outcome.node_id)

    # -- export -----------------------------------------------------------------------------------

    def _ask_where(self) -> None:
        title = self._workspace.document.project.title or "run"
        chosen, _ = QFileDialog.getSaveFileName(
            self, "Save metrics", f"{title} metrics.csv", "CSV files (*.csv)"
        )
        if chosen:
            self.export_metrics(Path(chosen))

    def export_metrics(self, path: Path) -> None:
        """Write the run's numbers to `path`; says in a message whether it went well."""
        trainer = self._workspace.trainer
        if trainer is None or not trainer.feed.series():
            self._workspace.message.emit("There are no numbers to save before the first batch.", "warning")
            return
        try:
            write_atomically(path, metrics_csv(trainer.feed).encode("utf-8"))
        except NeuroloomError as error:
            self._workspace.message.emit(str(error), "error")
        else:
            self._workspace.message.emit(f"Metrics saved to {path}.", "info")


def finished_words(feed: Feed, epochs: int, step: int) -> tuple[str, str]:
    """How a finished run ended: the test scores, and why it stopped where it did."""
    scores = []
    for name in feed.series():
        if name.startswith("test_") and (value := feed.last(name)) is not None:
            scores.append(f"test {name.removeprefix('test_').replace('_', ' ')} {figures(value)}")
    accuracy_first = sorted(scores, key=_is_loss)
    words = " · ".join(accuracy_first)
    head = f"Finished after {epochs} epoch{'s' if epochs != 1 else ''}."
    stops = (event for event in feed.events if event.message.startswith("Stopped early"))
    early = next((event.message for event in stops if event.step == step), "")  # one before may have gone on
    return f"{head} {words[:1].upper()}{words[1:]}" if words else head, early


def _how_on(step: Mapping[str, Any]) -> str:
    """Where in its batch a step by layer is, and the keys that lead on from there."""
    place = f"{step['number']} of {step['of']} in this batch"
    if step["number"] == step["of"]:
        return f"{place}. F7 begins the next one, Shift+F6 goes back to before it."
    return f"{place}. F7 goes on, Shift+F6 goes back, Step trains the rest of it."


def _is_loss(score: str) -> bool:
    return "loss" in score


class Outcome(QWidget):
    """One line on how the run ended: what happened, and how to go on from there."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("outcome")
        self.node_id: str | None = None
        self._role = "good"
        self._what = ElidedLabel("")
        self._what.setObjectName("outcomeText")
        self._how = ElidedLabel("", "small")
        self._how.setObjectName("outcomeFix")
        self.show_node = self._button("Show node", "outcomeNode")
        self.more = self._button("Train more", "outcomeMore")
        self.more.setToolTip("Go on from the weights as they are; optimiser and schedule stay")
        self.over = self._button("Start over", "outcomeOver")
        self.over.setToolTip("A new run from the first weights; this one is kept among the runs")
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(self._what)
        words.addWidget(self._how)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 4, 6, 4)
        row.setSpacing(12)
        row.addLayout(words, 1)
        for button in (self.show_node, self.more, self.over):
            row.addWidget(button)
        themes.theme_changed.connect(self._theme_changed)
        self.hide()

    def _button(self, text: str, name: str) -> QPushButton:
        made = OneClick(text)
        made.setObjectName(name)
        made.setProperty("kind", "small")
        return made

    def text(self) -> str:
        """What stands there."""
        return f"{self._what.text()} {self._how.text()}".strip()

    def say(self, role: str, what: str, how: str, node_id: str | None = None, *, ended: bool = False) -> None:
        """Show how a run stands: `role` is a colour of the theme; one that has `ended` can go on."""
        self._role, self.node_id = role, node_id
        if self._what.text() != what:
            self._what.setText(what)
        if self._how.text() != how:
            self._how.setText(how)
        self._how.setVisible(bool(how))
        self.setFixedHeight(46 if how else 34)
        self.show_node.setVisible(node_id is not None)
        self.more.setVisible(ended)
        self.over.setVisible(ended)
        self.show()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = current_theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(theme.line)
        painter.setBrush(theme.raised)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour_of(theme, self._role))
        painter.drawRoundedRect(QRectF(1, 6, 3, self.height() - 12), 1.5, 1.5)

    def _theme_changed(self, theme: Theme) -> None:
        self.update()
