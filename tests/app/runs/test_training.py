"""The training panel: curves, layers and answers follow the feed; ends of runs are said with the way on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.charts.bars import Bar
from app.runs.run_csv import metrics_csv
from app.runs.training import TrainingPanel
from app.runs.training_answers import BOXES, NO_ANSWERS
from app.runs.training_curves import REDRAW_MS
from app.runs.training_layers import NORMS, health
from app.widgets.segments import Segments
from app.workspace.workspace import POLL_MS, Workspace
from engine.document.edits import AddNodes, Remove
from engine.document.graph import Node
from engine.errors import TrainingError
from engine.feed.feed import Feed, Probe, Snapshot
from tests.app.fake_run import STEPS_PER_EPOCH, FakeTrainer, losses, snapshots, train, workspace_with_fakes


class Shown:
    """A training panel on screen."""

    def __init__(self, qtbot: QtBot, folder: Path, size: tuple[int, int] = (1224, 310)) -> None:
        self.qtbot = qtbot
        self.workspace: Workspace
        self.trainer: FakeTrainer
        self.workspace, self.trainer = workspace_with_fakes(folder)
        self.messages: list[tuple[str, str]] = []
        self.workspace.message.connect(self._note)
        self.panel = TrainingPanel(self.workspace)
        qtbot.addWidget(self.panel)
        self.panel.resize(*size)
        with qtbot.waitExposed(self.panel):
            self.panel.show()

    def _note(self, text: str, kind: str) -> None:
        self.messages.append((text, kind))

    def tick(self) -> None:
        self.workspace.ticked.emit()

    def words(self, name: str) -> str:
        found = self.panel.findChild(QLabel, name)
        assert found is not None
        return found.text()

    def segments(self, name: str) -> Segments:
        found = self.panel.findChild(Segments, name)
        assert found is not None
        return found


@pytest.fixture
def shown(qtbot: QtBot, tmp_path: Path) -> Iterator[Shown]:
    made = Shown(qtbot, tmp_path)
    yield made
    made.workspace.close()


def drawn_steps(shown: Shown) -> float:
    plot = shown.panel.curves.plot
    if not plot._curves:
        return 0.0
    x, _ = plot.drawn(0)
    return float(x[-1]) if len(x) else 0.0


def test_before_training_the_panel_offers_to_train(shown: Shown, qtbot: QtBot) -> None:
    button = shown.panel.findChild(QPushButton, "trainFromEmpty")
    assert button.isVisible()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert shown.trainer.asked == ["start"]


def test_five_clicks_in_the_empty_panel_begin_one_run(shown: Shown, qtbot: QtBot) -> None:
    button = shown.panel.findChild(QPushButton, "trainFromEmpty")
    for _ in range(5):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert shown.trainer.asked == ["start"]


def test_a_run_that_has_ended_offers_to_go_on_or_to_start_over(shown: Shown, qtbot: QtBot) -> None:
    outcome = shown.panel.outcome
    train(shown.trainer, 3.0)
    for state, words in (("idle", "Stopped in epoch 4 after 1,290 steps."), ("finished", "Finished after")):
        for button, asked in ((outcome.more, "more"), (outcome.over, "start")):
            shown.trainer.state = state
            shown.workspace.state_changed.emit(state)
            assert outcome.isVisible() and shown.words("outcomeText").startswith(words)
            qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
            assert shown.trainer.asked[-1] == asked
    shown.workspace.state_changed.emit("running")
    assert not outcome.isVisible()


def test_a_run_that_waits_says_what_for(shown: Shown) -> None:
    train(shown.trainer, 1.0)
    shown.trainer.state = "paused"
    shown.trainer.held = TrainingError("conv1: nothing is connected to x.", node_id="n2")
    shown.workspace.state_changed.emit("paused")
    assert shown.words("outcomeText") == "Training waits: conv1: nothing is connected to x."
    assert shown.panel.outcome.show_node.isVisible() and not shown.panel.outcome.more.isVisible()
    assert shown.panel.tells("Training waits: conv1: nothing is connected to x.")
    shown.trainer.held = None
    shown.workspace.state_changed.emit("paused")
    assert not shown.panel.outcome.isVisible()


def test_the_first_point_is_on_screen_before_the_first_epoch_has_ended(shown: Shown, qtbot: QtBot) -> None:
    """C-1"""
    shown.trainer.feed.open("train_loss").extend(losses(1))
    shown.trainer.feed.changed()
    shown.segments("curveAxis").choose("step")
    shown.tick()
    qtbot.waitUntil(lambda: drawn_steps(shown) == 1.0)


def test_the_last_point_is_on_screen_after_the_run_has_ended(shown: Shown, qtbot: QtBot) -> None:
    """C-15"""
    shown.segments("curveAxis").choose("step")
    train(shown.trainer, 1.0)
    shown.tick()
    # The end of a run comes in one burst, faster than the panel redraws.
    for step in range(STEPS_PER_EPOCH, STEPS_PER_EPOCH + 50):
        shown.trainer.feed.open("train_loss").extend(losses(1, start=step))
        shown.trainer.feed.changed()
        shown.tick()
    shown.trainer.state = "finished"
    qtbot.waitUntil(lambda: drawn_steps(shown) == STEPS_PER_EPOCH + 50, timeout=1000)


def test_the_newest_point_is_never_further_away_than_one_look_and_one_redraw(
    shown: Shown, qtbot: QtBot
) -> None:
    """C-15: so often the window looks, and a redraw that is put off needs no other look."""
    assert POLL_MS + REDRAW_MS < 1000
    shown.segments("curveAxis").choose("step")
    train(shown.trainer, 0.1)
    shown.tick()
    qtbot.waitUntil(lambda: drawn_steps(shown) == STEPS_PER_EPOCH // 10)
    shown.trainer.feed.open("train_loss").extend(losses(1, start=STEPS_PER_EPOCH // 10))
    shown.trainer.feed.changed()
    shown.tick()  # the one look that the new point gets, while the last redraw is a moment ago
    qtbot.waitUntil(lambda: drawn_steps(shown) == STEPS_PER_EPOCH // 10 + 1)


def test_a_deep_model_and_a_million_steps_keep_their_extremes(shown: Shown, qtbot: QtBot) -> None:
    """C-16: 300 layers beside it; what is drawn is no more than the screen holds."""
    shown.segments("curveAxis").choose("step")
    rows = losses(1_000_000)
    rows["value"][123_456], rows["value"][654_321] = 99.0, 1e-4
    shown.trainer.feed.open("train_loss").extend(rows)
    shown.trainer.feed.changed()
    nodes = tuple(f"n{number}" for number in range(300))
    norms = np.ones((300, 3))
    norms[7, 0] = 42.0
    facts = {"nodes": nodes, "columns": ("gradient", "weight", "update")}
    shown.trainer.feed.put(NORMS, Snapshot(0, 1_000_000, norms, facts))
    while shown.panel.curves.plot is None or drawn_steps(shown) < 1_000_000:
        shown.tick()
        qtbot.wait(10)
    x, y = shown.panel.curves.plot.drawn(0)
    assert np.isclose(y.max(), 99.0) and np.isclose(y.min(), 1e-4) and x[-1] == 1_000_000
    assert len(x) <= 4 * shown.panel.curves.plot.width()
    shown.panel.grab()


def test_a_long_run_is_taken_in_bit_by_bit_until_its_last_point(
    shown: Shown, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C-16: the window draws in between, and nothing is left out in the end."""
    monkeypatch.setattr("app.charts.run_curves.MOST_AT_ONCE", 5000)
    shown.segments("curveAxis").choose("step")
    rows = losses(18_000)
    rows["value"][7777] = 99.0
    shown.trainer.feed.open("train_loss").extend(rows)
    shown.trainer.feed.changed()
    shown.tick()
    qtbot.waitUntil(lambda: drawn_steps(shown) > 0)
    assert drawn_steps(shown) == 5000
    assert shown.panel.curves.curves.behind
    qtbot.waitUntil(lambda: drawn_steps(shown) == 18_000)
    assert not shown.panel.curves.curves.behind
    assert np.isclose(shown.panel.curves.plot.drawn(0)[1].max(), 99.0)


def test_quantities_are_offered_as_they_come(shown: Shown, qtbot: QtBot) -> None:
    train(shown.trainer, 2.5)
    shown.tick()
    quantity = shown.segments("curveQuantity")
    qtbot.waitUntil(lambda: quantity.sizeHint().width() > 150)
    qtbot.mouseClick(quantity, Qt.MouseButton.LeftButton, pos=quantity.rect_of("accuracy").center())
    assert quantity.text() == "Accuracy"
    plot = shown.panel.curves.plot
    assert plot is not None
    x, y = plot.drawn(0)
    assert x.tolist() == [1.0, 2.0]
    assert 0.9 < y[-1] < 1.0
    assert shown.segments("curveScale").key == "linear"


@pytest.mark.parametrize(("axis", "end"), [("step", 3182.0), ("epoch", 7.4), ("seconds", 95.46)])
def test_curves_can_be_drawn_against_step_epoch_and_time(
    shown: Shown, qtbot: QtBot, axis: str, end: float
) -> None:
    train(shown.trainer, 7.4)
    segments = shown.segments("curveAxis")
    qtbot.mouseClick(segments, Qt.MouseButton.LeftButton, pos=segments.rect_of(axis).center())
    shown.tick()
    qtbot.waitUntil(lambda: abs(drawn_steps(shown) - end) < 0.01)


def test_a_new_run_starts_new_curves(shown: Shown, qtbot: QtBot) -> None:
    shown.segments("curveAxis").choose("step")
    train(shown.trainer, 3.0)
    shown.tick()
    qtbot.waitUntil(lambda: drawn_steps(shown) == 3 * STEPS_PER_EPOCH)
    shown.trainer.feed.clear()
    shown.trainer.feed.open("train_loss").extend(losses(5))
    shown.trainer.feed.changed()
    shown.tick()
    qtbot.waitUntil(lambda: drawn_steps(shown) == 5.0)
    assert set(shown.panel.curves.curves.tracks) == {"train_loss"}


def test_a_new_run_shows_nothing_of_the_one_before(shown: Shown, qtbot: QtBot) -> None:
    train(shown.trainer, 3.0)
    shown.tick()
    layers, answers = shown.panel.layers, shown.panel.answers
    qtbot.waitUntil(lambda: answers.confusion.matrix is not None and len(layers.norms.bars) == 3)
    shown.trainer.feed.clear()
    shown.tick()
    qtbot.waitUntil(lambda: "after the first step" in answers.confusion.message)
    qtbot.waitUntil(lambda: bool(layers.norms.message))  # each part draws at its own pace
    assert layers.activations.message and not shown.words("trainingHealth")


def test_two_windows_keep_their_curves_apart(qtbot: QtBot, tmp_path: Path) -> None:
    one, two = Shown(qtbot, tmp_path / "one"), Shown(qtbot, tmp_path / "two")
    for shown, count in ((one, 7), (two, 11)):
        shown.segments("curveAxis").choose("step")
        shown.trainer.feed.open("train_loss").extend(losses(count))
        shown.trainer.feed.changed()
        shown.tick()
    qtbot.waitUntil(lambda: (drawn_steps(one), drawn_steps(two)) == (7.0, 11.0))


def test_layers_show_the_selected_node_and_say_how_the_run_does(shown: Shown, qtbot: QtBot) -> None:
    train(shown.trainer, 1.0)
    shown.tick()
    layers = shown.panel.layers
    qtbot.waitUntil(lambda: len(layers.norms.bars) == 3)
    assert [bar.name for bar in layers.norms.bars] == ["conv1", "conv2", "classes"]
    assert "the learning rate fits" in shown.words("trainingHealth")
    assert layers.node_id == "n2"
    shown.workspace.select(["n6"])
    assert layers.node_id == "n6"
    qtbot.waitUntil(lambda: Probe("n6", "activations") in shown.trainer.watched)
    assert Probe("n2", "activations") not in shown.trainer.watched


def test_a_hidden_panel_watches_nothing(shown: Shown, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: NORMS in shown.trainer.watched)
    shown.panel.hide()
    qtbot.waitUntil(lambda: shown.trainer.watched == frozenset())
    train(shown.trainer, 1.0)
    shown.tick()
    assert shown.panel.curves.curves.tracks == {}
    shown.panel.show()
    assert "train_loss" in shown.panel.curves.curves.tracks


def test_confused_classes_are_listed(shown: Shown, qtbot: QtBot) -> None:
    train(shown.trainer, 1.0)
    shown.tick()
    answers = shown.panel.answers
    qtbot.waitUntil(lambda: answers.confusion.matrix is not None)
    listed = [label.text() for label in answers.findChildren(QLabel) if " as " in label.text()]
    assert listed[:2] == ["4 as 9 14", "7 as 2 12"]


def test_numbers_that_are_predicted_stand_beside_the_right_ones(shown: Shown, qtbot: QtBot) -> None:
    pairs = np.column_stack([np.sin(np.arange(80) / 5) * 0.9, np.sin(np.arange(80) / 5)])
    shown.trainer.feed.put(Probe("n7", "predictions"), Snapshot(1, 1, pairs, {"kind": "values"}))
    shown.tick()
    forecast = shown.panel.answers.forecast
    qtbot.waitUntil(lambda: [line.name for line in forecast.lines] == ["right", "predicted"])
    assert shown.panel.answers._title.text() == "Predictions"
    facts = {"kind": "values", "of": "pixel", "example": 2, "split": "validation"}
    shown.trainer.feed.put(Probe("n7", "predictions"), Snapshot(1, 2, pairs, facts))
    shown.tick()
    qtbot.waitUntil(lambda: shown.panel.answers._title.text() == "Pixels of one example")
    assert forecast.frame_shown.x_name == "pixel"
    assert shown.panel.answers._title.toolTip().startswith("validation example 3")


def test_players_have_no_answers_to_show(shown: Shown) -> None:
    nodes = (Node("n901", "DiscriminatorLoss"), Node("n902", "GeneratorLoss"))
    losses = [n.id for n in shown.workspace.document.project.graph.nodes.values() if n.type == "CrossEntropy"]
    assert losses and shown.workspace.apply("Remove", Remove(tuple(losses)))
    assert shown.workspace.apply("Add", AddNodes(nodes, ()))
    assert shown.panel.answers.confusion.message == NO_ANSWERS
    assert not shown.segments("whichLoss").isVisible()


def test_of_boxes_it_is_said_where_they_are_drawn(shown: Shown) -> None:
    losses = [n.id for n in shown.workspace.document.project.graph.nodes.values() if n.type == "CrossEntropy"]
    assert shown.workspace.apply("Remove", Remove(tuple(losses)))
    assert shown.workspace.apply("Add", AddNodes((Node("n901", "CentrePointLoss"),), ()))
    assert shown.panel.answers.confusion.message == BOXES


def test_a_failed_run_names_the_node_and_the_fix(shown: Shown, qtbot: QtBot) -> None:
    train(shown.trainer, 0.5)
    shown.trainer.state = "failed"
    shown.trainer.error = TrainingError(
        "The loss became not a number (NaN) at step 312: the first such value comes out of “conv1”.",
        node_id="n2",
        fix="Lower the learning rate (now 10).",
    )
    shown.workspace.state_changed.emit("failed")
    assert shown.panel.outcome.isVisible()
    assert "conv1" in shown.words("outcomeText")
    assert shown.words("outcomeFix") == "Lower the learning rate (now 10)."
    qtbot.mouseClick(shown.panel.outcome.show_node, Qt.MouseButton.LeftButton)
    assert shown.workspace.selection == ("n2",)


def test_a_finished_run_tells_its_test_scores(shown: Shown) -> None:
    train(shown.trainer, 12.0)
    feed = shown.trainer.feed
    feed.append("test_loss", 5160, 12.0, 150.0, 0.0311)
    feed.append("test_accuracy", 5160, 12.0, 150.0, 0.9907)
    shown.trainer.state = "finished"
    shown.workspace.state_changed.emit("finished")
    assert shown.words("outcomeText") == "Finished after 12 epochs. Test accuracy 0.9907 · test loss 0.0311"
    assert not shown.panel.outcome.show_node.isVisible()
    shown.trainer.state = "running"
    shown.workspace.state_changed.emit("running")
    assert not shown.panel.outcome.isVisible()


def test_narrow_panels_leave_the_layers_out(shown: Shown) -> None:
    shown.panel.resize(700, 300)
    assert not shown.panel.layers.isVisible()
    assert shown.panel.answers.isVisible()
    shown.panel.resize(1064, 250)
    assert shown.panel.layers.isVisible()


def test_metrics_are_saved_with_a_row_an_epoch(shown: Shown, tmp_path: Path) -> None:
    """C-25: training and validation in each row."""
    shown.panel.export_metrics(tmp_path / "none.csv")
    assert shown.messages[-1][1] == "warning"
    train(shown.trainer, 3.2)
    shown.panel.export_metrics(tmp_path / "metrics.csv")
    lines = (tmp_path / "metrics.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "epoch,step,seconds,train_loss,val_loss,val_accuracy"
    assert len(lines) == 1 + 3
    assert lines[1].startswith("1,430,")
    shown.panel.export_metrics(tmp_path / "no" / "folder.csv")
    assert shown.messages[-1][1] == "error"


def test_before_the_first_epoch_has_ended_the_csv_has_a_row_a_step() -> None:
    feed = Feed()
    feed.append("train_loss", 1, 0.5, 0.1, 2.0)
    assert metrics_csv(feed) == "epoch,step,seconds,train_loss\n0.5,1,0.1,2.0\n"


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([[1.0, 10.0, 0.01], [1.0, 10.0, 0.01]], "the learning rate fits"),
        ([[1.0, 10.0, 3.0], [1.0, 10.0, 3.0]], "which is a lot"),
        ([[1.0, 10.0, 1e-6], [1.0, 10.0, 1e-6]], "which is little"),
        ([[1e-7, 10.0, 0.01], [1.0, 10.0, 0.01]], "The gradient of one is vanishingly small"),
        ([[float("nan"), 10.0, 0.01], [1.0, 10.0, 0.01]], "one has a gradient that is not finite"),
    ],
)
def test_health_is_said_in_words(rows: list[list[float]], words: str) -> None:
    bars = [Bar(name, row[0]) for name, row in zip(("one", "two"), rows, strict=True)]
    snapshot = Snapshot(0, 0, np.array(rows), {"nodes": ("n1", "n2")})
    assert words in health(bars, snapshot, learns=True)
    assert "fits" not in health(bars, snapshot, learns=False)


def test_new_views_are_drawn_and_old_ones_are_not_drawn_again(shown: Shown, qtbot: QtBot) -> None:
    train(shown.trainer, 1.0)
    shown.tick()
    layers = shown.panel.layers
    qtbot.waitUntil(lambda: layers.activations.tiles.shown == 32)
    before = layers.activations.tiles.scale
    shown.tick()
    qtbot.wait(200)
    assert layers.activations.tiles.scale == before
    snapshots(shown.trainer.feed, 999)
    shown.tick()
    qtbot.waitUntil(lambda: layers.activations.tiles.scale != before)


def test_a_loss_below_zero_is_drawn_on_a_linear_scale(shown: Shown, qtbot: QtBot) -> None:
    """The logarithm of a likelihood's loss would be a flat line at the bottom."""
    loss, scale = shown.trainer.feed.open("train_loss"), shown.segments("curveScale")
    loss.extend(losses(30))
    shown.trainer.feed.changed()
    shown.tick()
    qtbot.waitUntil(lambda: drawn_steps(shown) > 0)
    assert scale.key == "log"
    low = losses(30, start=30)
    low["value"] -= 10
    loss.extend(low)
    shown.trainer.feed.changed()
    shown.tick()
    qtbot.waitUntil(lambda: scale.key == "linear")
    qtbot.mouseClick(scale, Qt.MouseButton.LeftButton, pos=scale.rect_of("log").center())
    shown.panel.curves.refresh()
    assert scale.key == "log"
