"""A dock on screen over a run that nobody trains."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.look.dock.card import ViewCard
from app.look.dock.dock import ViewsDock
from app.workspace.workspace import Workspace
from tests.app.fake_run import FakeTrainer, snapshots, workspace_with_fakes


class Shown:
    """The dock, its workspace and its trainer."""

    def __init__(self, qtbot: QtBot, folder: Path) -> None:
        self.workspace: Workspace
        self.trainer: FakeTrainer
        self.workspace, self.trainer = workspace_with_fakes(folder)
        self.dock = ViewsDock(self.workspace)
        qtbot.addWidget(self.dock)
        self.dock.resize(1200, 560)
        with qtbot.waitExposed(self.dock):
            self.dock.show()

    def tick(self) -> None:
        """What the window does when the feed holds something new."""
        self.dock._live.pace.now()
        while self.dock.drawing.busy:
            self.dock.drawing.go_on()

    def snapshots(self, *steps: int) -> None:
        """Pictures of these steps."""
        self.dock._live.again()
        for step in steps:
            snapshots(self.trainer.feed, step)
        self.tick()

    def pin(self, kind: str, node_id: str = "") -> ViewCard:
        card = self.dock.pin(kind, node_id)
        assert card is not None
        return card

    def ids(self) -> list[tuple[str, str]]:
        """The cards as (kind, node), in the order of the grid."""
        return [(card.kind.id, card.subject.node_id) for card in self.dock.grid.cards]


@pytest.fixture
def shown(qtbot: QtBot, tmp_path: Path) -> Iterator[Shown]:
    made = Shown(qtbot, tmp_path)
    yield made
    made.workspace.close()
