"""Sweeps in the window: values are typed, runs are queued, the table fills, the best one opens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.runs.sweep_dialog import SweepDialog
from app.window import main_window
from app.window.main_window import MainWindow
from app.workspace.workspace import Workspace
from engine.catalogue.training.numbers import number_of
from engine.document.edits import SetPlan
from engine.document.files import load_project, save_project
from engine.document.plan import Choice
from engine.runs import sweep as sweeps
from engine.runs.records import PROJECT
from tests.app.conftest import add_iris
from tests.app.window.test_main_window import settle
from tests.engine.train.stored_runs import write_run

pytestmark = pytest.mark.usefixtures("warm_python")

pytest.importorskip("torch")
LONG = 30_000


class Process:
    """Stands for `neuroloom train`: its folder is written at once, and it ends when it is told to."""

    made: ClassVar[list[Process]] = []
    hold = False

    def __init__(self, file: Path, folder: Path, device: str) -> None:
        self.folder, self.labelled, self.asked = folder, False, False
        project = load_project(file)
        lr = number_of(project.plan, "lr")
        assert lr is not None
        folder.rmdir()  # it was made for whoever trains there
        write_run(folder.parent, folder.name, 3, lr=lr, state="running" if self.hold else "finished")
        save_project(project, folder / PROJECT)
        self.made.append(self)

    def ended(self) -> int | None:
        return 130 if self.asked else None if self.hold else 0

    def ask_to_end(self) -> None:
        self.asked = True

    def wait(self) -> int:
        return 130


@pytest.fixture
def window(shaped: Workspace, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[MainWindow]:
    monkeypatch.setattr(Process, "made", [])
    monkeypatch.setattr(Process, "hold", False)
    monkeypatch.setattr(sweeps, "_Process", Process)
    made = MainWindow(shaped)
    qtbot.addWidget(made, before_close_func=settle)
    made.show()
    add_iris(shaped)
    made.show_workbench()
    yield made


@pytest.fixture
def dialog(window: MainWindow) -> SweepDialog:
    window.actions_by_name["train_sweep"].trigger()
    found = window.document_page.bottom.runs.findChild(SweepDialog)
    assert found is not None and found.isVisible()
    return found


def column(dialog: SweepDialog, place: int) -> list[str]:
    items = [dialog.table.item(row, place) for row in range(dialog.table.rowCount())]
    return [item.text() if item is not None else "" for item in items]


def type_into(dialog: SweepDialog, qtbot: QtBot, name: str, text: str) -> None:
    field = dialog._fields[name]
    field.clear()
    qtbot.keyClicks(field, text)


def test_four_runs_are_queued_listed_and_the_best_opens(
    window: MainWindow, dialog: SweepDialog, qtbot: QtBot
) -> None:
    """C-27: LR [0.1, 0.01] x batch [16, 32]."""
    first = window.document_page
    type_into(dialog, qtbot, "lr", "0.1, 0.01")
    type_into(dialog, qtbot, "batch", "16 32")
    assert dialog.note.text() == "2 × 2 = 4 runs" and dialog.start.text() == "Start 4 runs"
    assert not dialog.open_best.isEnabled()
    qtbot.mouseClick(dialog.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.sweep is not None and not dialog.going, timeout=LONG)
    qtbot.waitUntil(lambda: dialog.start.text() == "Start 4 runs", timeout=LONG)
    assert dialog.open_best.isEnabled()
    heads = [dialog.table.horizontalHeaderItem(place).text() for place in range(dialog.table.columnCount())]
    assert heads == ["learning rate", "batch", "state", "val loss", "time"]
    assert column(dialog, 0) == ["0.1", "0.1", "0.01", "0.01"] and column(dialog, 1) == ["16", "32"] * 2
    assert dialog.sweep is not None and dialog.sweep.best is not None
    losses = [float(text) for text in column(dialog, 3)]
    row = losses.index(min(losses))
    assert dialog.sweep.best is dialog.sweep.trials[row]
    assert column(dialog, 2) == ["finished · best" if one == row else "finished" for one in range(4)]
    qtbot.mouseClick(dialog.open_best, Qt.MouseButton.LeftButton)
    page = window.document_page
    assert page is not first and page.workspace.document.path is None
    plan = page.workspace.document.project.plan
    assert {name: number_of(plan, name) for name in ("lr", "batch")} == dict(dialog.sweep.best.values)


def test_the_runs_of_a_sweep_are_found_by_their_tag(
    window: MainWindow, dialog: SweepDialog, qtbot: QtBot
) -> None:
    type_into(dialog, qtbot, "seed", "1, 2")
    qtbot.mouseClick(dialog.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.sweep is not None and not dialog.going, timeout=LONG)
    write_run(window.workspace.places.runs, "another")
    qtbot.mouseClick(dialog.show_runs, Qt.MouseButton.LeftButton)
    runs = window.document_page.bottom.runs
    qtbot.waitUntil(lambda: len(runs.model.records) == 3 and len(runs.model.shown) == 2, timeout=LONG)
    assert {record.note for record in runs.model.shown} == {
        f"learning rate 0.001, batch 64, seed {seed}" for seed in (1, 2)
    }


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("lr", "0.1, much", "“much” is not a number (learning rate)."),
        ("lr", "0.1, 1e999", "The learning rate is a finite number, not inf."),
        ("batch", "1e999", "The batch is a finite number, not inf."),
        ("batch", "1e30", "The batch size is at most 2147483647, not 1000000000000000019884624838656."),
        ("batch", "16.5", "The batch is a whole number, not 16.5."),
        ("seed", " ".join(map(str, range(65))), "A sweep has at most 64 runs."),
    ],
)
def test_what_cannot_be_tried_says_why(
    dialog: SweepDialog, qtbot: QtBot, name: str, text: str, words: str
) -> None:
    type_into(dialog, qtbot, name, text)
    assert dialog.note.text() == words and not dialog.start.isEnabled()


def test_other_optimisers_offer_other_numbers_and_what_is_typed_stays(
    window: MainWindow, dialog: SweepDialog, qtbot: QtBot
) -> None:
    type_into(dialog, qtbot, "lr", "0.5, 0.25")
    assert "momentum" not in dialog.texts()
    plan = window.workspace.document.project.plan
    window.workspace.apply("Plan", SetPlan(plan.with_(optimiser=Choice("SGD", {"lr": 0.1}))))
    assert dialog.texts()["lr"] == "0.5, 0.25" and dialog.texts()["momentum"] == ""


def test_a_sweep_can_be_stopped_and_closing_the_window_asks(
    window: MainWindow, dialog: SweepDialog, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Process, "hold", True)
    asked: list[str] = []

    def keep(_window: object, title: str, *_: object) -> str:
        asked.append(title)
        return main_window.KEEP_TRAINING

    monkeypatch.setattr(main_window, "ask", keep)
    type_into(dialog, qtbot, "lr", "0.1, 0.01")
    qtbot.mouseClick(dialog.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.start.text() == "Stop", timeout=LONG)
    assert column(dialog, 2)[1] == "waiting" and not dialog._fields["lr"].isEnabled()
    dialog.close()
    assert window.document_page.bottom.runs.sweeping and not window.close()
    assert asked == ["A sweep is running"]
    dialog.show()
    qtbot.mouseClick(dialog.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not dialog.going, timeout=LONG)
    qtbot.waitUntil(lambda: column(dialog, 2) == ["stopped", "stopped"], timeout=LONG)
    qtbot.waitUntil(lambda: dialog.start.text() == "Start 2 runs", timeout=LONG)
    assert len(Process.made) == 1


def test_a_window_that_closes_all_the_same_ends_the_runs(
    window: MainWindow, dialog: SweepDialog, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Process, "hold", True)
    answers = {"A sweep is running": main_window.STOP_AND_CLOSE}
    monkeypatch.setattr(main_window, "ask", lambda _w, title, *_: answers.get(title, main_window.DISCARD))
    qtbot.mouseClick(dialog.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.start.text() == "Stop", timeout=LONG)
    assert window.close()
    assert Process.made[0].asked and dialog.sweep is not None and dialog.sweep.over
