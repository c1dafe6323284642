"""The panels on a real run: the trainer's own numbers and views reach the screen."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.data.panel import DataPanel
from app.panels.views import ViewsPanel
from app.runs.progress import TrainingBar
from app.runs.training import TrainingPanel
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe
from tests.app.conftest import add_iris

pytest.importorskip("torch")
LONG = 30_000


@pytest.fixture
def live(workspace: Workspace) -> Workspace:
    """Iris, three classes, three epochs, with the real engine."""
    from app.workspace.engine_parts import EngineParts
    from engine.document.edits import SetPlan
    from engine.emit.script import export_script
    from engine.shapes.shapes import ShapeBook
    from engine.train.trainer import Trainer

    add_iris(workspace)
    workspace.apply("Plan", SetPlan(workspace.document.project.plan.with_(epochs=3)))
    workspace.adopt_engine(EngineParts(ShapeBook, Trainer, export_script))
    return workspace


def test_a_run_is_shown_from_the_first_step_to_the_test_score(qtbot: QtBot, live: Workspace) -> None:
    bar, panel = TrainingBar(live), TrainingPanel(live)
    for widget in (bar, panel):
        qtbot.addWidget(widget)
        widget.show()
    panel.resize(1200, 300)
    train = bar.findChild(QPushButton, "trainButton")
    qtbot.waitUntil(train.isEnabled, timeout=LONG)
    qtbot.mouseClick(train, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: live.state == "finished", timeout=LONG)
    qtbot.waitUntil(lambda: "test loss" in panel.outcome.text().casefold(), timeout=LONG)
    qtbot.waitUntil(lambda: "train_loss" in panel.curves.curves.tracks)
    tracks = panel.curves.curves.tracks
    qtbot.waitUntil(lambda: tracks["train_loss"].end("step") == live.trainer.progress.step)
    assert len(tracks["val_loss"]) == 3
    assert panel.curves.plot is not None
    qtbot.waitUntil(lambda: panel.curves.plot.drawn(0)[0][-1] == 3.0)
    qtbot.waitUntil(lambda: panel.answers.confusion.matrix is not None)
    matrix = panel.answers.confusion.matrix
    assert matrix is not None and matrix.shape == (3, 3)
    qtbot.waitUntil(lambda: [bar.name for bar in panel.layers.norms.bars] == ["classes"])
    assert train.text() == "Train more"


def test_views_come_before_training_and_the_example_can_be_changed(qtbot: QtBot, live: Workspace) -> None:
    panel = ViewsPanel(live)
    qtbot.addWidget(panel)
    panel.resize(1100, 280)
    panel.show()
    live.select(["n2"])
    card = panel.dock.card
    qtbot.waitUntil(lambda: card("activations").state.kind == "drawn", timeout=LONG)
    qtbot.waitUntil(lambda: card("prediction").pane.view.bars.bars != (), timeout=LONG)
    assert [bar.name.split()[0] for bar in card("prediction").pane.view.bars.bars] == [
        "setosa",
        "versicolor",
        "virginica",
    ]
    forward = panel.findChild(QPushButton, "nextExample")
    qtbot.mouseClick(forward, Qt.MouseButton.LeftButton)
    shown = panel.findChild(QLabel, "viewsExample")
    qtbot.waitUntil(lambda: shown.text() == "validation example 2", timeout=LONG)
    assert live.trainer.feed.latest(Probe("n2", "filters")) is not None


def test_without_a_validation_split_views_show_training_examples(qtbot: QtBot, live: Workspace) -> None:
    from dataclasses import replace

    from engine.document.edits import SetParam, SetPlan

    plan = live.document.project.plan
    plan = replace(plan, phases=(replace(plan.phases[0], stop=replace(plan.stop, restore_best=False)),))
    live.apply("No validation", SetPlan(plan), SetParam("n1", "validation", 0.0))
    views, panel, data = ViewsPanel(live), TrainingPanel(live), DataPanel(live)
    for widget in (views, panel, data):
        qtbot.addWidget(widget)
        widget.resize(1100, 280)
        widget.show()
    live.select(["n2"])
    shown = views.findChild(QLabel, "viewsExample")
    qtbot.waitUntil(lambda: shown.text() == "training example 1", timeout=LONG)
    live.trainer.start(live.document.project, live.document.revision)
    qtbot.waitUntil(lambda: live.state == "finished", timeout=LONG)
    qtbot.waitUntil(lambda: "no validation split" in panel.answers.confusion.message, timeout=LONG)
    qtbot.waitUntil(lambda: "test loss" in panel.outcome.text().casefold(), timeout=LONG)
    assert "val_loss" not in panel.curves.curves.tracks
    said = [label.text() for label in data.findChildren(QLabel)]
    assert any("no validation split: its fraction is 0" in words for words in said)
    data.close_reader()


def test_the_data_of_the_network_are_described(qtbot: QtBot, live: Workspace) -> None:
    panel = DataPanel(live)
    qtbot.addWidget(panel)
    panel.resize(1100, 280)
    panel.show()
    qtbot.waitUntil(lambda: [bar.value for bar in panel.counts.bars] == [90.0, 30.0, 30.0], timeout=LONG)
    assert [bar.name for bar in panel.classes.bars] == ["setosa", "versicolor", "virginica"]
    panel.close_reader()
