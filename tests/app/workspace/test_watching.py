"""Probes are asked for only while somebody sees them, and redraws keep their pace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.workspace.pace import Pace
from app.workspace.watching import Live, Probes, watching
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe
from tests.app.fake_run import FakeTrainer, workspace_with_fakes

ONE, TWO = Probe("n1", "activations"), Probe("n2", "filters")


class Viewer(QWidget):
    """Watches some probes and counts its redraws."""

    def __init__(self, workspace: Workspace, probes: Probes, interval: int = 20) -> None:
        super().__init__()
        self.wanted = probes
        self.redraws = 0
        self.live = Live(workspace, self, self.probes, self.redraw, interval)

    def probes(self) -> Probes:
        return self.wanted

    def redraw(self) -> None:
        self.redraws += 1


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[tuple[Workspace, FakeTrainer]]:
    made = workspace_with_fakes(tmp_path)
    yield made
    made[0].close()


def test_the_trainer_is_told_the_union_of_what_is_visible(
    qtbot: QtBot, window: tuple[Workspace, FakeTrainer]
) -> None:
    workspace, trainer = window
    one, two = Viewer(workspace, frozenset({ONE})), Viewer(workspace, frozenset({ONE, TWO}))
    qtbot.addWidget(one)
    qtbot.addWidget(two)
    assert trainer.watched == frozenset()
    one.show()
    two.show()
    qtbot.waitUntil(lambda: trainer.watched == {ONE, TWO})
    two.hide()
    qtbot.waitUntil(lambda: trainer.watched == {ONE})
    one.hide()
    qtbot.waitUntil(lambda: trainer.watched == frozenset())


def test_a_hidden_widget_is_never_redrawn(qtbot: QtBot, window: tuple[Workspace, FakeTrainer]) -> None:
    workspace, _ = window
    viewer = Viewer(workspace, frozenset({ONE}))
    qtbot.addWidget(viewer)
    for _ in range(5):
        workspace.ticked.emit()
    assert viewer.redraws == 0
    viewer.show()
    assert viewer.redraws == 1


def test_many_ticks_make_few_redraws_and_the_last_is_kept(
    qtbot: QtBot, window: tuple[Workspace, FakeTrainer]
) -> None:
    workspace, _ = window
    viewer = Viewer(workspace, frozenset({ONE}), interval=60)
    qtbot.addWidget(viewer)
    viewer.show()
    for _ in range(50):
        workspace.ticked.emit()
    assert viewer.redraws == 1
    qtbot.waitUntil(lambda: viewer.redraws == 2)
    qtbot.wait(100)
    assert viewer.redraws == 2


def test_there_is_one_registry_a_window(qtbot: QtBot, window: tuple[Workspace, FakeTrainer]) -> None:
    workspace, _ = window
    assert watching(workspace) is watching(workspace)


def test_a_trainer_that_comes_later_is_told_what_is_on_screen(
    qtbot: QtBot, window: tuple[Workspace, FakeTrainer]
) -> None:
    workspace, _ = window
    workspace.trainer = None
    viewer = Viewer(workspace, frozenset({TWO}))
    qtbot.addWidget(viewer)
    viewer.show()
    qtbot.wait(10)
    workspace.trainer = FakeTrainer()
    workspace.engine_ready.emit()
    qtbot.waitUntil(lambda: workspace.trainer.watched == {TWO})


class Counter(QWidget):
    """Counts."""

    count = 0

    def redraw(self) -> None:
        self.count += 1


def test_now_redraws_at_once_and_forgets_what_was_put_off(qtbot: QtBot) -> None:
    counter = Counter()
    qtbot.addWidget(counter)
    pace = Pace(50, counter.redraw, counter)
    pace.ask()
    pace.ask()
    assert counter.count == 1
    pace.now()
    assert counter.count == 2
    qtbot.wait(80)
    assert counter.count == 2
