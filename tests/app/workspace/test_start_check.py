"""What training would refuse is among the problems before anybody trains."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.workspace import start_check
from app.workspace.data_files import DataFiles
from app.workspace.start_check import StartCheck
from app.workspace.workspace import Workspace
from engine.data.open.opening import open_data
from engine.document.edits import AddNodes
from engine.document.graph import Link, Node
from engine.shapes.problems import Problem
from engine.train import begin

ROWS = [f"{row / 10},{row % 7},{'ab'[row % 2]}" for row in range(40)]


def told(workspace: Workspace) -> list[Problem]:
    assert workspace.shapes is not None
    return [one for one in workspace.shapes.problems if one.code == "start"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "own.csv"
    path.write_text("\n".join(["width,height,kind", *ROWS]))
    return path


def draw(workspace: Workspace, table: Path) -> tuple[DataFiles, StartCheck]:
    files = DataFiles(workspace, workspace)
    check = StartCheck(workspace, files, workspace)
    opened = open_data(table)
    nodes = (
        Node("n1", opened.type, "own", {**opened.params, "stamp": ""}),  # whose changes nobody notices
        Node("n2", "Linear", "scores", {"units": 2}),
        Node("n3", "CrossEntropy", "loss"),
    )
    links = (Link("n1", "features", "n2", "x"), Link("n2", "output", "n3", "prediction"))
    workspace.apply("Draw", AddNodes(nodes, (*links, Link("n1", "kind", "n3", "target"))))
    return files, check


def test_a_class_that_nobody_knows_is_told_before_training_and_goes_with_its_cause(
    shaped: Workspace, table: Path, qtbot: QtBot
) -> None:
    files, check = draw(shaped, table)
    whole = table.read_text()
    files.look()
    qtbot.waitUntil(lambda: not files._worker.busy and not check._worker.busy)
    assert told(shaped) == []
    table.write_text(whole.replace("3.9,4,b", "3.9,4,c"))
    files.look()
    qtbot.waitUntil(lambda: bool(told(shaped)))
    [found] = told(shaped)
    assert (found.node_id, found.severity) == ("n1", "warning")
    assert '"c"' in found.message
    table.write_text(whole)
    files.look()
    qtbot.waitUntil(lambda: not told(shaped))


def test_large_files_are_not_read_unasked(
    shaped: Workspace, table: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start_check, "MOST_BYTES", 10)
    files, check = draw(shaped, table)
    table.write_text(table.read_text().replace("3.9,4,b", "3.9,4,c"))
    with qtbot.waitSignal(check._worker.finished):
        files.look()
    assert told(shaped) == []


def test_of_large_files_what_shows_without_them_is_told(
    shaped: Workspace, table: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start_check, "MOST_BYTES", 10)
    files, _ = draw(shaped, table)
    real, asked = begin.refusal, []

    def refusal(*given: object, read: bool = True) -> Problem | None:
        asked.append(read)
        assert real(*given, read=read) is None  # type: ignore[arg-type]
        return Problem("n2", "This can't be trained.", code="start")

    monkeypatch.setattr(begin, "refusal", refusal)
    files.look()
    qtbot.waitUntil(lambda: bool(told(shaped)))
    assert set(asked) == {False} and [one.message for one in told(shaped)] == ["This can't be trained."]
