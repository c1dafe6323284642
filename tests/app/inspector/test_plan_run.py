"""What the window shows of plans that run: their length, the phase, all objectives, edits on the way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from app.charts.run_curves import RunCurves
from app.inspector.inspector import InspectorPanel
from app.inspector.plan_page import PlanPage
from app.runs.progress import TrainingBar
from app.runs.run_status import ProgressText
from app.runs.training import TrainingPanel
from app.runs.training_layers import NORMS
from app.workspace.plan_parts import objective_series
from app.workspace.workspace import Workspace
from engine.document.edits import SetPlan
from engine.document.plan import Choice, Minimise, Phase, Plan, Stop
from engine.emit.script import export_script
from engine.feed.feed import Feed, Snapshot
from engine.feed.progress import Progress
from tests.app.conftest import add_iris
from tests.app.fake_run import workspace_with_fakes

LONG = 30_000


@pytest.fixture
def live(workspace: Workspace) -> Workspace:
    """Iris with the real engine."""
    pytest.importorskip("torch")
    from app.workspace.engine_parts import EngineParts
    from engine.shapes.shapes import ShapeBook
    from engine.train.trainer import Trainer

    add_iris(workspace)
    workspace.adopt_engine(EngineParts(ShapeBook, Trainer, export_script))
    return workspace


def test_a_learning_rate_changed_during_a_run_takes_part_in_it(live: Workspace, qtbot: QtBot) -> None:
    live.apply("Plan", SetPlan(Plan().with_(epochs=1_000_000)))
    inspector = InspectorPanel(live)
    qtbot.addWidget(inspector)
    inspector.show()
    trainer = live.trainer
    assert live.train()
    qtbot.waitUntil(lambda: trainer.progress.step > 3, timeout=LONG)
    page = inspector.page
    assert isinstance(page, PlanPage)
    rate = page.fields["optimiser.lr"].control
    assert isinstance(rate, QLineEdit)
    rate.setFocus()
    rate.selectAll()
    qtbot.keyClicks(rate, "0.0125")
    qtbot.waitUntil(lambda: trainer.feed.last("lr") == 0.0125, timeout=LONG)
    assert any(event.message.startswith("Your edit takes part from step") for event in trainer.feed.events)
    assert live.state == "running"


def test_phases_and_objectives_run_and_are_told_apart(live: Workspace, qtbot: QtBot) -> None:
    players = (Minimise(name="fast", optimiser=Choice("SGD", {"lr": 0.1})), Minimise(name="slow", every=2))
    plan = Plan((Phase((Minimise(),), Stop(2), name="Start"), Phase(players, Stop(3), name="Game")))
    live.apply("Plan", SetPlan(plan))
    assert live.train()
    qtbot.waitUntil(lambda: live.state == "finished", timeout=LONG)
    recorded = set(live.trainer.feed.series())
    assert {"train_start", "train_fast", "train_slow", "val_loss"} <= recorded
    assert objective_series(live.document.project) == ("train_start", "train_fast", "train_slow")
    assert (live.trainer.progress.phase, live.trainer.progress.phases) == (2, 2)
    assert "Phase 2 (Game) begins." in [event.message for event in live.trainer.feed.events]


def test_the_top_bar_tells_the_length_of_the_plan(shaped: Workspace, qtbot: QtBot) -> None:
    bar = TrainingBar(shaped)
    qtbot.addWidget(bar)
    assert bar._plan_line() == "10 epochs of batches of 64"
    shaped.apply("Plan", SetPlan(Plan(batch=0)))
    assert bar._plan_line() == "10 epochs of all rows at once"
    shaped.apply("Plan", SetPlan(Plan((Phase(), Phase(stop=Stop(2))))))
    assert bar._plan_line() == "12 epochs in 2 phases"


def test_a_run_of_several_phases_tells_which_one(qtbot: QtBot) -> None:
    text = ProgressText()
    qtbot.addWidget(text)
    progress = Progress(epoch=6, epochs=12, step=600, steps_per_epoch=1, phase=2, phases=3)
    text.show_progress("running", progress, "")
    assert text.text() == "Epoch 7 of 12 · phase 2 of 3"
    assert text.fraction == 0.5  # steps mean nothing where batches differ


def test_objectives_share_the_plot_of_the_loss() -> None:
    feed, curves = Feed(), RunCurves()
    for name in ("train_generator", "train_critic", "val_loss", "val_accuracy", "train_margin", "lr"):
        feed.append(name, 1, 0.5, 0.1, 1.0)
    curves.objectives = frozenset(("train_generator", "train_critic"))
    curves.catch_up(feed)
    assert curves.quantities() == ["loss", "accuracy", "margin", "lr"]
    assert curves.of("loss") == ["train_generator", "train_critic", "val_loss"]


def test_the_legend_names_every_objective(qtbot: QtBot, tmp_path: Path) -> None:
    workspace, trainer = workspace_with_fakes(tmp_path)
    panel = TrainingPanel(workspace)
    qtbot.addWidget(panel)
    panel.resize(1224, 310)
    panel.show()
    players = (Minimise(name="generator"), Minimise(name="critic"))
    workspace.apply("Plan", SetPlan(Plan((Phase(players),))))
    for name in ("train_generator", "train_critic", "val_loss"):
        trainer.feed.append(name, 1, 0.5, 0.1, 1.0)
    panel.curves.refresh()
    panel.curves.refresh()
    shown = [curve.name for curve in panel.curves.plot._curves]
    assert shown == ["generator", "generator", "critic", "critic", "validation"]
    roles = {curve.name: curve.role for curve in panel.curves.plot._curves}
    assert len(set(roles.values())) == 3
    workspace.close()


def test_layers_that_nothing_trains_have_no_norm(qtbot: QtBot, tmp_path: Path) -> None:
    workspace, trainer = workspace_with_fakes(tmp_path)
    panel = TrainingPanel(workspace)
    qtbot.addWidget(panel)
    rows = np.array([[0.5, 2.0, 0.002], [np.nan, 1.0, 0.0], [np.nan, 1.0, np.nan]])
    facts = {"nodes": ("n2", "n4", "n6"), "columns": ("gradient", "weight", "update")}
    trainer.feed.put(NORMS, Snapshot(0, 1, rows, facts))
    panel.layers.refresh()
    assert [bar.name for bar in panel.layers.norms.bars] == ["conv1", "classes"]
    assert panel.layers.health.text() == "classes has a gradient that is not finite."
    workspace.close()
