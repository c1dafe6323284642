"""The ways of single weights through a chain's samples."""

import numpy as np
from pytestqt.qtbot import QtBot

from app.look.base import Subject
from app.look.landscape.chain import ChainView, draws
from app.workspace.workspace import Workspace
from engine.document.plan import Chain, Phase, Plan
from engine.feed.feed import Probe
from tests.app.conftest import add_iris
from tests.app.look.showing import painted, shown, snapshot

PROBE = Probe("", "chain")


def test_a_line_a_weight_and_what_the_samples_are_worth(shaped: Workspace, qtbot: QtBot) -> None:
    add_iris(shaped)
    view = ChainView(Subject(shaped))
    qtbot.addWidget(view)
    empty = painted(view)
    ways = np.stack([np.sin(np.arange(30.0)), np.cos(np.arange(30.0))], axis=1)
    view.subject.workspace.trainer.feed.append("train_accepted", 1, 0.1, 0.1, 0.813)
    shown(
        view, {PROBE: snapshot(ways, names=("hidden.weight[0, 0]", "hidden.bias[1]"), effective=(12.3, 30.0))}
    )
    assert view.note == "30 samples · worth 12.3 independent · 81 % accepted"
    assert (painted(view) != empty).any()
    columns, rows = view.table() or ((), [])
    assert columns == ("sample", "hidden.weight[0, 0]", "hidden.bias[1]") and rows[0] == (0, 0.0, 1.0)


def test_it_is_for_plans_that_draw(shaped: Workspace) -> None:
    assert not draws(Subject(shaped))
    shaped.document.project.plan = Plan((Phase((Chain(),)),), 0)
    assert draws(Subject(shaped))
