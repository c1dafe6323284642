"""The training controls: one main action, numbers that keep their place, reasons for what is disabled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from app.runs.progress import TrainingBar, best_metric, newest_metric
from app.runs.run_status import (
    DeviceChip,
    MetricText,
    ProgressText,
    device_words,
    shortened,
    slashed,
    time_left,
)
from app.window.top_bar import HEIGHT, TopBar
from app.workspace.workspace import Workspace
from engine.document.names import spoken
from engine.document.plan import Plan
from engine.feed.feed import Feed
from tests.app.fake_run import FakeTrainer, train, workspace_with_fakes


@dataclass
class Trouble:
    message: str
    node_id: str | None = None
    severity: str = "error"


class Controls:
    """A training bar on screen, with its parts at hand."""

    def __init__(self, qtbot: QtBot, folder: Path) -> None:
        self.qtbot = qtbot
        self.workspace: Workspace
        self.trainer: FakeTrainer
        self.workspace, self.trainer = workspace_with_fakes(folder)
        self.bar = TrainingBar(self.workspace)
        qtbot.addWidget(self.bar)
        self.bar.resize(760, 40)
        with qtbot.waitExposed(self.bar):
            self.bar.show()

    def button(self, name: str) -> QPushButton:
        found = self.bar.findChild(QPushButton, name)
        assert found is not None
        return found

    def click(self, name: str) -> None:
        self.qtbot.mouseClick(self.button(name), Qt.MouseButton.LeftButton)

    def trouble(self, *problems: Trouble) -> None:
        self.workspace.shapes.problems = list(problems)
        self.bar.refresh()


@pytest.fixture
def controls(qtbot: QtBot, tmp_path: Path) -> Iterator[Controls]:
    made = Controls(qtbot, tmp_path)
    yield made
    made.workspace.close()


def test_the_main_button_trains_pauses_and_resumes(controls: Controls) -> None:
    main = controls.button("trainButton")
    assert main.text() == "Train"
    controls.click("trainButton")
    assert controls.trainer.asked == ["start"]
    assert main.text() == "Pause"
    controls.click("trainButton")
    assert main.text() == "Resume"
    controls.click("trainButton")
    assert controls.trainer.asked == ["start", "pause", "resume"]


def test_a_double_click_begins_a_run_and_leaves_it_running(controls: Controls) -> None:
    main = controls.button("trainButton")
    QTest.mouseClick(main, Qt.MouseButton.LeftButton)
    QTest.mouseDClick(main, Qt.MouseButton.LeftButton)
    assert controls.trainer.asked == ["start"] and main.text() == "Pause"


def test_a_run_that_has_ended_trains_more_or_starts_over(controls: Controls) -> None:
    main, over = controls.button("trainButton"), controls.button("startOverButton")
    assert not over.isEnabled()
    train(controls.trainer, 2.0)
    for state in ("idle", "finished"):
        controls.trainer.state = state
        controls.bar.refresh()
        assert main.text() == "Train more" and over.isEnabled()
        controls.click("trainButton")
        assert controls.trainer.asked[-1] == "more" and not over.isEnabled()
        controls.trainer.state = state
        controls.bar.refresh()
        controls.click("startOverButton")
        assert controls.trainer.asked[-1] == "start"


def test_stop_is_offered_only_during_a_run(controls: Controls) -> None:
    assert not controls.button("stopButton").isEnabled()
    assert controls.button("stopButton").toolTip() == "No run is under way"
    controls.click("trainButton")
    assert controls.button("stopButton").isEnabled()
    controls.click("stopButton")
    assert controls.trainer.asked == ["start", "stop"]
    assert not controls.button("stopButton").isEnabled()


def test_step_goes_batch_by_batch_while_paused(controls: Controls) -> None:
    controls.click("stepButton")
    assert controls.trainer.asked[-1] == "step"
    controls.click("stepButton")
    assert controls.trainer.asked.count("step") == 2
    controls.click("trainButton")
    assert controls.trainer.state == "running"
    assert not controls.button("stepButton").isEnabled()
    assert "Pause first" in controls.button("stepButton").toolTip()


def test_errors_disable_training_and_say_why(controls: Controls) -> None:
    controls.trouble(Trouble("Nothing is connected to its input.", "n6"), Trouble("There is no loss."))
    main = controls.button("trainButton")
    assert not main.isEnabled()
    assert main.toolTip() == "classes: Nothing is connected to its input.\nand 1 more problem"
    controls.click("trainButton")
    assert controls.trainer.asked == []
    controls.trouble()
    assert main.isEnabled()


def test_before_the_engine_is_there_training_can_be_asked_for(controls: Controls) -> None:
    controls.workspace.trainer = None
    controls.bar.refresh()
    assert not controls.button("stepButton").isEnabled()
    assert "starting" in controls.button("stepButton").toolTip()
    controls.button("trainButton").click()
    assert controls.workspace.train_when_ready
    progress = controls.bar.findChild(ProgressText)
    assert progress is not None and progress.text().endswith("begins in a moment")


def test_before_the_engine_is_there_the_plan_that_was_opened_is_told(controls: Controls) -> None:
    controls.workspace.trainer = None
    progress = controls.bar.findChild(ProgressText)
    assert progress is not None
    project = controls.workspace.document.project
    controls.workspace.show(replace(project, plan=Plan(batch=16).with_(epochs=60)), None)
    plan = "60 epochs of batches of 16"
    controls.qtbot.waitUntil(lambda: progress.text().startswith(plan))
    assert slashed(plan) == plan
    assert slashed("Epoch 3 of 20 · step 4 of 9") == "Epoch 3/20 · step 4/9"


@pytest.mark.parametrize(
    ("words", "shortest"),
    [
        ("Epoch 80 of 120 · step 1,520", "Epoch 80/120"),
        ("Epoch 7 of 12 · phase 2 of 3", "Epoch 7/12"),
        ("Finished · 30 epochs · 510 steps", "Finished"),
        ("Stopped in epoch 3 · step 400", "Stopped"),
        ("120 epochs of batches of 32", "120 epochs"),
        ("10 epochs of all rows at once", "10 epochs"),
        ("12 epochs in 2 phases", "12 epochs"),
    ],
)
def test_words_without_room_leave_out_whole_parts(words: str, shortest: str) -> None:
    ways = shortened(words)
    assert ways[0] == words and ways[-1] == shortest
    assert all(len(longer) > len(shorter) for longer, shorter in pairwise(ways))
    assert "Finished · 30 epochs" in shortened("Finished · 30 epochs · 510 steps")


def test_an_engine_that_cannot_start_trains_nothing(controls: Controls) -> None:
    controls.workspace.trainer = None
    controls.workspace.engine_error = "torch is missing."
    controls.bar.refresh()
    assert not controls.button("trainButton").isEnabled()
    assert controls.button("trainButton").toolTip() == "torch is missing."


def test_progress_is_told_in_epochs_steps_and_time(controls: Controls) -> None:
    """C-18: the device too."""
    train(controls.trainer, 3.4)
    controls.bar.refresh()
    progress = controls.bar.findChild(ProgressText)
    assert progress.text() == "Epoch 4 of 12 · step 1,462  1 min 51 s left"
    assert abs(progress.fraction - 3.4 / 12) < 0.01
    assert controls.bar.findChild(MetricText).text() == "validation accuracy 0.9817 last · best 0.9817"
    assert controls.bar.findChild(DeviceChip).text() == "CPU · 2 threads"


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("paused", "Epoch 4 of 12 · step 1,462  paused"),
        ("finished", "Finished · 3 epochs · 1,462 steps"),
        ("failed", "Failed in epoch 4 · step 1,462"),
        ("idle", "Stopped in epoch 4 · step 1,462"),
        ("loading", "Reading the data …"),
    ],
)
def test_every_state_is_said(controls: Controls, state: str, words: str) -> None:
    train(controls.trainer, 3.4)
    controls.trainer.state = state
    controls.bar.refresh()
    assert controls.bar.findChild(ProgressText).text() == words
    controls.bar.grab()


def test_widgets_keep_their_size_while_values_change(controls: Controls) -> None:
    sizes = set()
    for epochs in (0.1, 1.0, 2.5, 11.9):
        controls.trainer.feed.clear()
        train(controls.trainer, epochs)
        for state in ("running", "paused", "finished"):
            controls.trainer.state = state
            controls.bar.refresh()
            controls.bar.layout().activate()
            parts = [controls.button(name) for name in ("trainButton", "stepButton", "stopButton")]
            parts += [controls.bar.findChild(kind) for kind in (ProgressText, MetricText, DeviceChip)]
            sizes.add(tuple(part.geometry().getRect() for part in parts))
    assert len(sizes) == 1


def test_a_tick_brings_the_bar_up_to_date(controls: Controls, qtbot: QtBot) -> None:
    train(controls.trainer, 1.0)
    controls.workspace.ticked.emit()
    progress = controls.bar.findChild(ProgressText)
    qtbot.waitUntil(lambda: "step 430" in progress.text())


def test_the_metric_is_the_validation_metric_then_the_losses() -> None:
    feed = Feed()
    assert newest_metric(feed) == ("", None)
    feed.append("train_loss", 1, 0.1, 0.1, 2.3)
    assert newest_metric(feed) == ("training loss", 2.3)
    feed.append("val_loss", 1, 1.0, 0.1, 0.5)
    assert newest_metric(feed) == ("validation loss", 0.5)
    feed.append("val_accuracy", 1, 1.0, 0.1, 0.9)
    assert newest_metric(feed) == ("validation accuracy", 0.9)
    assert newest_metric(None) == ("", None)


def test_the_last_and_the_best_epoch_are_told_apart(qtbot: QtBot) -> None:
    feed, shown = Feed(), MetricText()
    qtbot.addWidget(shown)
    for epoch, value in enumerate((0.9, 0.9667, 0.9333), start=1):
        feed.append("val_accuracy", epoch, float(epoch), 0.1, value)
    shown.show_metric(*newest_metric(feed), best_metric(feed))
    assert shown.text() == "validation accuracy 0.9333 last · best 0.9667"
    assert "best epoch" in shown.told()


def test_only_a_high_accuracy_is_good(qtbot: QtBot) -> None:
    shown = MetricText()
    qtbot.addWidget(shown)
    for name, value, good in (("accuracy", 0.4, False), ("accuracy", 0.95, True), ("loss", 0.95, False)):
        shown.show_metric(f"validation {name}", value)
        assert shown.good == good


def test_words_for_series_times_and_devices() -> None:
    assert spoken("val_mean_absolute_error") == "validation mean absolute error"
    assert spoken("lr") == "learning rate"
    assert [time_left(seconds) for seconds in (8.2, 112, 870, 7300)] == [
        "8 s left",
        "1 min 52 s left",
        "14 min left",
        "2 h 1 min left",
    ]
    assert device_words("NVIDIA H100") == "NVIDIA H100"
    assert device_words("cpu").startswith("CPU · ")


def test_at_1280_the_parts_of_the_bar_stand_apart_beside_a_long_name(
    qtbot: QtBot, workspace: Workspace
) -> None:
    bar, controls = TopBar(), TrainingBar(workspace)
    qtbot.addWidget(bar)
    bar.add_controls(controls)
    bar.show_document(controls, "Stacked autoencoder with a long name", "", False)
    bar.resize(1280, HEIGHT)
    bar.show()
    # So wide that the controls have their room only beside a chip of 120 pixels, as in a real window.
    for part in (controls._metric, controls._device):
        part.set_compact(True)  # as they become there
    others = 16 + 10 + 12 + 12 + 16
    bar.menu_bar.setFixedSize(1280 - others - 120 - controls.minimumSizeHint().width(), 28)
    QApplication.processEvents()
    for left, right in pairwise((controls._stop, controls._progress, controls._metric, controls._device)):
        assert left.geometry().right() < right.geometry().left()
    assert bar.chip.geometry().right() < bar._controls.geometry().left()
    assert 110 <= bar.chip.width() <= 130
