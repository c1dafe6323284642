"""Stepping by layer in the window: the ring goes from node to node, and words say what happened there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QColor
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.runs.run_status import ProgressText
from app.theme import current_theme
from app.window.main_window import MainWindow
from app.workspace.workspace import Workspace
from engine.document.edits import SetPlan
from tests.app.conftest import add_iris

pytest.importorskip("torch")
LONG = 30_000


def settle(window: MainWindow) -> None:
    """Leaves nothing to ask about."""
    window.workspace.trainer.stop()
    assert window.workspace.trainer.wait()
    window.workspace.document.mark_saved()


@pytest.fixture
def window(workspace: Workspace, qtbot: QtBot) -> Iterator[MainWindow]:
    """Iris through one layer, with the real engine, in a window on screen."""
    from app.workspace.engine_parts import EngineParts
    from engine.emit.script import export_script
    from engine.shapes.shapes import ShapeBook
    from engine.train.trainer import Trainer

    add_iris(workspace)
    workspace.apply("Plan", SetPlan(workspace.document.project.plan.with_(epochs=3)))
    made = MainWindow(workspace)
    qtbot.addWidget(made, before_close_func=settle)
    made.resize(1280, 720)
    made.show_workbench()
    made.show()
    qtbot.waitExposed(made)
    workspace.adopt_engine(EngineParts(ShapeBook, Trainer, export_script))
    made.document_page.bottom.show_panel("Training")
    qtbot.waitUntil(lambda: made.actions_by_name["train_layer"].isEnabled(), timeout=LONG)
    yield made


class Steps:
    """Presses the keys, and waits for what they bring."""

    def __init__(self, window: MainWindow, qtbot: QtBot) -> None:
        self.window, self.qtbot = window, qtbot
        self.workspace = window.workspace
        self.panel = window.document_page.bottom.training

    def press(self, name: str) -> None:
        action: QAction = self.window.actions_by_name[name]
        self.qtbot.waitUntil(action.isEnabled, timeout=LONG)
        action.trigger()

    def shows(self, number: int, stage: str, *nodes: str) -> None:
        """Waits for a piece, and holds the canvas, the panel and the bar to it."""
        self.qtbot.waitUntil(lambda: self.workspace.layer_step.get("number") == number, timeout=LONG)
        assert self.ringed() == dict.fromkeys(nodes, stage)
        sentence = self.workspace.layer_step["sentence"]
        self.qtbot.waitUntil(lambda: sentence in self.panel.outcome.text(), timeout=LONG)
        assert sentence.startswith(
            {"forward": ("Forward", "The batch"), "backward": "Backward"}.get(stage, "Update")
        )

    def ringed(self) -> dict[str, str]:
        items = self.window.canvas.graph_scene.node_items
        return {node: item.stage for node, item in items.items() if item.stage}


def test_the_ring_goes_forward_backward_and_to_the_update(window: MainWindow, qtbot: QtBot) -> None:
    steps = Steps(window, qtbot)
    back = window.top_bar.findChild(QPushButton, "backButton")
    assert back is not None and not back.isEnabled() and "Nothing to go back to" in back.toolTip()
    for number, node in enumerate(("n1", "n2", "n3"), 1):
        steps.press("train_layer")
        steps.shows(number, "forward", node)
    words = window.top_bar.findChild(ProgressText)
    assert words is not None
    qtbot.waitUntil(lambda: "forward 3/6" in words.text(), timeout=LONG)
    assert steps.workspace.trainer.progress.step == 0
    for number, node in enumerate(("n3", "n2"), 4):
        steps.press("train_layer")
        steps.shows(number, "backward", node)
    assert "Backward through “classes”: the gradient's norm is" in steps.panel.outcome.text()
    qtbot.waitUntil(back.isEnabled, timeout=LONG)
    qtbot.mouseClick(back, Qt.MouseButton.LeftButton)
    steps.shows(4, "backward", "n3")
    steps.press("train_layer")
    steps.shows(5, "backward", "n2")
    steps.press("train_layer")
    steps.shows(6, "update", "n2")
    qtbot.waitUntil(lambda: steps.workspace.trainer.progress.step == 1, timeout=LONG)
    steps.press("train_back")
    qtbot.waitUntil(lambda: steps.workspace.trainer.progress.step == 0 and not steps.ringed(), timeout=LONG)
    qtbot.waitUntil(lambda: not back.isEnabled(), timeout=LONG)


def test_training_on_takes_the_ring_away(window: MainWindow, qtbot: QtBot) -> None:
    steps = Steps(window, qtbot)
    steps.press("train_layer")
    steps.shows(1, "forward", "n1")
    train = window.top_bar.findChild(QPushButton, "trainButton")
    assert train is not None
    qtbot.waitUntil(lambda: train.text() == "Resume", timeout=LONG)
    qtbot.mouseClick(train, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: steps.workspace.state == "finished", timeout=LONG)
    qtbot.waitUntil(lambda: not steps.ringed() and not steps.workspace.layer_step, timeout=LONG)
    losses = steps.workspace.trainer.feed.read("train_loss")["step"].tolist()
    assert losses == list(range(1, len(losses) + 1))


def test_the_ring_is_drawn_around_the_node(window: MainWindow, qtbot: QtBot) -> None:
    steps = Steps(window, qtbot)
    view, accent = window.canvas, current_theme().accent

    def around(node: str) -> int:
        """How many pixels of the accent lie just outside the node's own edge."""
        item = view.graph_scene.node_items[node]
        box = view.mapFromScene(item.mapRectToScene(item.plate.adjusted(-6, -6, 6, 6))).boundingRect()
        inner = view.mapFromScene(item.mapRectToScene(item.plate.adjusted(-2, -2, 2, 2))).boundingRect()
        image = view.viewport().grab(box).toImage()
        offset = inner.topLeft() - box.topLeft()
        found = 0
        for y in range(image.height()):
            for x in range(image.width()):
                inside = 0 <= x - offset.x() < inner.width() and 0 <= y - offset.y() < inner.height()
                found += not inside and QColor(image.pixel(x, y)) == accent
        return found

    view.navigation.set_zoom(1.0)
    view.reveal("n2")
    assert around("n2") == 0
    steps.press("train_layer")
    steps.press("train_layer")
    steps.shows(2, "forward", "n2")
    assert around("n2") > 200


def test_reset_keeps_the_first_weights_and_new_weights_draws_others(window: MainWindow, qtbot: QtBot) -> None:
    """C-21: two commands of their own."""
    workspace = window.workspace

    def curve() -> list[float]:
        workspace.train()
        qtbot.waitUntil(lambda: workspace.trainer.state == "finished", timeout=LONG)
        found: list[float] = workspace.trainer.feed.read("train_loss")["value"].tolist()
        return found

    def after(command: str) -> list[float]:
        window.actions_by_name[command].trigger()
        assert workspace.trainer.wait()
        return curve()

    first = curve()
    assert after("train_reset") == first
    other = after("train_new_weights")
    assert len(other) == len(first) and other != first
    assert after("train_reset") == other
