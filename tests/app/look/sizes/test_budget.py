"""The budget follows the document, and needs neither a run nor weights."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from app.look.base import Subject
from app.look.registry import proposed
from app.look.sizes.budget import ParameterBudget
from app.workspace.workspace import Workspace
from engine.document.edits import SetParam
from tests.app.look.showing import painted
from tests.engine.sketches import gallery


def test_the_budget_of_gpt_2_small(shaped: Workspace, qtbot: QtBot) -> None:
    shaped.document.replace(gallery("gpt2-small"), None)
    assert "parameter-budget" in {kind.id for kind in proposed(Subject(shaped))}
    view = ParameterBudget(Subject(shaped))
    qtbot.addWidget(view)
    painted(view, 400, 120)
    assert view.note == "124,439,808 parameters"
    assert [bar.name for bar in view.bars.bars] == [
        "feed-forward · 45.5 %",
        "embedding · 31.6 %",
        "attention · 22.8 %",
        "norms · 0.0309 %",
    ]
    assert view.bars.describe(view.bars.rect().topLeft()) == "feed-forward · 45.5 %: 56,669,184 parameters"
    header, rows = view.table() or ((), [])
    assert header == ("part", "parameters") and sum(row[1] for row in rows) == 124_439_808
    assert shaped.apply("Repeat", SetParam("n4", "times", 24))
    assert view.note == "209,494,272 parameters"
