"""Buttons that mend what a run complained of: one undoable step, and training goes on or begins again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.window.gallery import example_path
from app.window.main_window import MainWindow
from app.workspace.event_buttons import answers_to, fixed
from app.workspace.workspace import Workspace
from engine.document.edits import AddNodes, SetPlan
from engine.document.files import load_project, save_project, to_text
from engine.document.graph import Node
from engine.document.plan import Choice, Minimise, Phase, Plan, Rule
from engine.feed.feed import Event
from tests.app.conftest import add_iris
from tests.app.runs.test_layer_step import settle

LONG = 30_000
GAME = Plan((Phase((Rule("n2"),)), Phase((Rule("n2"), Minimise(name="second")), batch=16)))


def test_the_number_goes_where_the_phase_has_it() -> None:
    changed = fixed(Plan(), ("lr", 0.003))
    assert changed is not None and changed.optimiser == Choice("Adam", {"lr": 0.003})
    changed = fixed(Plan(), ("batch", 32))
    assert changed is not None and changed.batch == 32 and changed.phases == Plan().phases
    changed = fixed(Plan(), ("patience", 5))
    assert changed is not None and changed.patience == 5
    changed = fixed(GAME, ("batch", 8), 1)
    assert changed is not None and (changed.batch, changed.phases[1].batch) == (64, 8)
    changed = fixed(GAME, ("lr", 0.5), 1)
    assert changed is not None and changed.phases[1].objectives[1].optimiser.params["lr"] == 0.5
    assert fixed(GAME, ("lr", 0.5), 0) is None  # a rule has no rate
    assert fixed(Plan(), ("width", 3.0)) is None


@pytest.mark.parametrize(
    ("kind", "remedy", "words"),
    [
        ("error", ("batch", 32), ["Train with batch 32"]),
        ("error", ("lr", 0.003), ["Train with learning rate 0.003"]),
        ("warning", ("lr", 0.003), ["Use learning rate 0.003", "Start over with it"]),
        ("warning", ("patience", 5), ["Use patience 5", "Start over with it"]),
        ("warning", None, []),
    ],
)
def test_what_is_offered(
    shaped: Workspace, kind: str, remedy: tuple[str, float] | None, words: list[str]
) -> None:
    add_iris(shaped)
    event = Event(kind, "Something is wrong.", "n2", 3, remedy)
    assert [text for text, _ in answers_to(shaped, event)] == words


@pytest.fixture
def window(workspace: Workspace, qtbot: QtBot) -> Iterator[MainWindow]:
    """Iris with the real engine, in a window on screen."""
    from app.workspace.engine_parts import EngineParts
    from engine.emit.script import export_script
    from engine.shapes.shapes import ShapeBook
    from engine.train.trainer import Trainer

    add_iris(workspace)
    made = MainWindow(workspace)
    qtbot.addWidget(made, before_close_func=settle)
    made.resize(1280, 720)
    made.show_workbench()
    made.show()
    qtbot.waitExposed(made)
    workspace.adopt_engine(EngineParts(ShapeBook, Trainer, export_script))
    yield made


def button(window: MainWindow, name: str) -> QPushButton:
    found = window.banner.findChild(QPushButton, name)
    assert found is not None
    return found


def test_out_of_memory_then_half_the_batch_without_a_restart(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C-9: the memory runs out with batches of 64; one click trains with 32, and one undo takes it back."""
    linear = torch.nn.Linear.forward

    def forward(layer: torch.nn.Linear, x: torch.Tensor) -> torch.Tensor:
        if torch.is_grad_enabled() and len(x) > 32:
            raise torch.OutOfMemoryError("no more")
        return linear(layer, x)

    monkeypatch.setattr(torch.nn.Linear, "forward", forward)
    workspace, plan = window.workspace, window.workspace.document.project.plan
    workspace.apply("Plan", SetPlan(plan.with_(epochs=2, batch=64)))
    workspace.train()
    first = button(window, "bannerFirst")
    qtbot.waitUntil(lambda: workspace.state == "failed" and first.isVisible(), timeout=LONG)
    assert "The memory ran out in “classes”" in window.banner.text
    assert first.text() == "Train with batch 32" and not button(window, "bannerSecond").isVisible()
    qtbot.mouseClick(first, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: workspace.state == "finished", timeout=LONG)
    assert workspace.document.project.plan.batch == 32 and not window.banner.isVisible()
    assert workspace.document.undo_label == "Use batch 32"
    workspace.undo()
    assert workspace.document.project.plan.batch == 64


def test_a_rate_is_used_by_the_run_that_goes_on_or_by_a_new_one(window: MainWindow, qtbot: QtBot) -> None:
    """C-10 goes on: a warning offers the calmer rate to the run as it is, and a fresh start."""
    workspace = window.workspace
    plan = workspace.document.project.plan.with_(epochs=100_000, optimiser=Choice("Adam", {"lr": 0.01}))
    workspace.apply("Plan", SetPlan(plan))
    workspace.train()
    qtbot.waitUntil(lambda: workspace.trainer.progress.step > 3, timeout=LONG)
    workspace.trainer.feed.note("warning", "The loss is exploding.", "n2", 3, remedy=("lr", 0.003))
    first = button(window, "bannerFirst")
    qtbot.waitUntil(first.isVisible, timeout=LONG)
    assert button(window, "bannerShow").isVisible()
    before = workspace.trainer.progress.step
    qtbot.mouseClick(first, Qt.MouseButton.LeftButton)
    run = workspace.trainer._worker
    qtbot.waitUntil(lambda: run.run.learning_rate == 0.003, timeout=LONG)
    assert workspace.trainer.progress.step >= before and workspace.state == "running"
    workspace.trainer.feed.note("warning", "The loss is exploding still.", "n2", 3, remedy=("lr", 0.001))
    second = button(window, "bannerSecond")
    qtbot.waitUntil(second.isVisible, timeout=LONG)
    folder = workspace.trainer.folder
    qtbot.mouseClick(second, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: workspace.trainer.folder not in (None, folder), timeout=LONG)
    qtbot.waitUntil(lambda: run.run is not None and run.run.learning_rate == 0.001, timeout=LONG)
    assert replace(workspace.document.project.plan.optimiser).params["lr"] == 0.001


@pytest.mark.parametrize("rate", [1e6, 1e38])
def test_not_a_number_is_named_with_epoch_and_node_and_the_project_saves(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, rate: float
) -> None:
    """C-10: a rate far too high; the banner says where and when, and the project is whole."""
    workspace = window.workspace
    if rate < 1e30:  # one layer alone stays finite, and so does tanh
        workspace.show(load_project(example_path("penguins")), None)
    plan = workspace.document.project.plan.with_(optimiser=Choice("SGD", {"lr": rate}), batch=16)
    workspace.apply("Plan", SetPlan(plan))
    workspace.train()
    first = button(window, "bannerFirst")
    # a warning that the loss explodes may stand there first
    qtbot.waitUntil(lambda: workspace.state == "failed" and "(epoch 1)" in window.banner.text, timeout=LONG)
    text = window.banner.text
    assert first.isVisible() and "“" in text and "learning rate" in text
    assert (
        first.text().startswith("Train with learning rate 0.0") and button(window, "bannerShow").isVisible()
    )
    save_project(workspace.document.project, tmp_path / "whole.nloom")
    again = load_project(tmp_path / "whole.nloom")
    assert to_text(again) == to_text(workspace.document.project)
    qtbot.mouseClick(first, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: workspace.state in ("running", "finished"), timeout=LONG)


def test_data_that_nothing_reads_are_given_a_network_and_trained(shaped: Workspace, qtbot: QtBot) -> None:
    shaped.apply("Add Iris", AddNodes((Node("n1", "Iris", "flowers"),)))
    assert [one.code for one in shaped.shapes.problems] == ["no-layer"]
    answers = answers_to(shaped, Event("error", "There is no layer to build a model from.", None, 0))
    assert [text for text, _ in answers] == ["Draw a small network and train"]
    answers[0][1]()
    kinds = [node.type for node in shaped.document.project.graph.nodes.values()]
    assert kinds == ["Iris", "Linear", "Linear", "Linear", "CrossEntropy", "Accuracy"]
    assert not shaped.shapes.problems
    assert answers_to(shaped, Event("error", "Something else.", None, 0)) == ()
