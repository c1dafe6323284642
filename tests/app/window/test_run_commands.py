"""What the window does with stored runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QAbstractButton, QFileDialog
from pytestqt.qtbot import QtBot

from app.window import run_commands
from app.window.main_window import MainWindow
from app.workspace.workspace import Workspace
from engine.document.edits import SetParam, SetPlan
from engine.document.files import load_project, save_project, to_text
from engine.runs.records import PROJECT
from tests.app.conftest import add_iris
from tests.app.window.test_main_window import settle
from tests.engine.train.stored_runs import write_run

pytest.importorskip("torch")
LONG = 30_000


@pytest.fixture
def window(shaped: Workspace, qtbot: QtBot) -> Iterator[MainWindow]:
    made = MainWindow(shaped)
    qtbot.addWidget(made, before_close_func=settle)
    made.show()
    add_iris(shaped)
    made.show_workbench()
    yield made


@pytest.fixture
def run(window: MainWindow) -> Path:
    """A stopped run of what is open in the window."""
    folder = write_run(window.workspace.places.runs, "flowers-20260101-120000", state="stopped")
    save_project(window.workspace.document.project, folder / PROJECT)
    (folder / "checkpoint.json").write_text('{"tensors": "t.safetensors", "epoch": 2, "step": 20}')
    (folder / "t.safetensors").write_bytes(b"")
    return folder


def test_the_project_of_a_run_opens_in_a_tab_of_its_own_and_without_its_file(
    window: MainWindow, run: Path, qtbot: QtBot
) -> None:
    before = to_text(load_project(run / PROJECT))
    first = window.document_page
    window.document_page.bottom.runs.project_wanted.emit(run)
    page = window.document_page
    assert page is not first and page.workspace.document.path is None
    assert to_text(page.workspace.document.project) == before
    qtbot.waitUntil(lambda: page.bottom.runs.model.ticked == [run.name], timeout=LONG)
    assert page.bottom.tabs.tabText(page.bottom.tabs.currentIndex()) == "Runs"
    page.workspace.apply("Set", SetParam("n2", "units", 5))
    assert to_text(load_project(run / PROJECT)) == before


def test_a_run_of_the_document_in_front_goes_on_there(window: MainWindow, run: Path) -> None:
    page = window.document_page
    page.bottom.runs.continue_wanted.emit(run)
    assert window.document_page is page and "continue_from" in page.workspace.trainer.asked
    assert page.bottom.tabs.tabText(page.bottom.tabs.currentIndex()) == "Training"


def test_a_run_of_another_project_goes_on_in_a_tab_of_its_own(window: MainWindow, run: Path) -> None:
    page = window.document_page
    page.workspace.apply("Plan", SetPlan(page.workspace.document.project.plan.with_(epochs=77)))
    page.bottom.runs.continue_wanted.emit(run)
    assert window.document_page is not page
    assert "continue_from" not in page.workspace.trainer.asked
    assert "continue_from" in window.workspace.trainer.asked


def test_a_run_that_another_has_replaced_can_be_taken_up_again(window: MainWindow, run: Path) -> None:
    page = window.document_page
    page.workspace.replaced.emit(run)
    assert "kept among the runs" in window.banner.text
    button = window.banner.findChild(QAbstractButton, "bannerFirst")
    assert button is not None and button.text() == "Go back to it"
    button.click()
    assert window.document_page is page and page.workspace.trainer.asked[-1] == "continue_from at rest"


def test_asked_to_go_on_twice_a_run_goes_on_once(window: MainWindow, run: Path) -> None:
    page = window.document_page
    page.bottom.runs.continue_wanted.emit(run)
    page.workspace.trainer.state = "loading"
    page.bottom.runs.continue_wanted.emit(run)
    assert window.document_page is page and len(window.documents.pages) == 1
    assert page.workspace.trainer.asked.count("continue_from") == 1


def test_a_branch_is_a_new_run(window: MainWindow, run: Path) -> None:
    window.document_page.bottom.runs.branch_wanted.emit(run)
    (made,) = [path for path in run.parent.iterdir() if path.is_dir() and path != run]
    assert made.name.startswith("flowers-") and (made / "checkpoint.json").is_file()
    assert "continue_from" in window.workspace.trainer.asked


def test_a_branch_that_cannot_be_made_says_why(window: MainWindow, run: Path) -> None:
    (run / "checkpoint.json").unlink()
    window.document_page.bottom.runs.branch_wanted.emit(run)
    assert "no checkpoint" in window.banner.text


def test_weights_are_used_once_their_report_was_accepted(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[Path] = []
    answer = [run_commands.QDialog.DialogCode.Rejected]

    class Report(run_commands.QDialog):
        def __init__(self, _workspace: Workspace, place: Path, parent: MainWindow) -> None:
            super().__init__(parent)
            shown.append(place)

        def exec(self) -> int:
            return answer[0]

    file = tmp_path / "net.pt"
    monkeypatch.setattr(run_commands, "WeightsDialog", Report)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(file), ""))
    window.actions_by_name["start_from_weights"].trigger()
    assert shown == [file] and "start" not in window.workspace.trainer.asked
    answer[0] = run_commands.QDialog.DialogCode.Accepted
    window.actions_by_name["start_from_weights"].trigger()
    assert "start" in window.workspace.trainer.asked


def test_weights_for_a_graph_that_cannot_be_trained_are_not_asked_for(
    window: MainWindow, tmp_path: Path
) -> None:
    window.actions_by_name["new_project"].trigger()
    window.runs.begin_with(tmp_path / "net.pt")
    assert "Before training" in window.banner.text


def test_a_stopped_run_goes_on_to_its_end_and_draws_no_zigzag(workspace: Workspace, qtbot: QtBot) -> None:
    from app.charts.run_curves import RunCurves
    from app.workspace.engine_parts import EngineParts
    from engine.emit.script import export_script
    from engine.runs.records import read_metrics, read_settings, read_steps
    from engine.shapes.shapes import ShapeBook
    from engine.train.trainer import Trainer

    add_iris(workspace)
    workspace.apply("Plan", SetPlan(workspace.document.project.plan.with_(epochs=4)))
    workspace.adopt_engine(EngineParts(ShapeBook, Trainer, export_script))
    trainer = workspace.trainer
    trainer.prepare(workspace.document.snapshot(), workspace.document.revision)
    for _ in range(5):
        trainer.step()
    trainer.stop()
    assert trainer.wait(LONG / 1000)
    folder = trainer.folder
    assert folder is not None and read_settings(folder)["state"] == "stopped"
    workspace.continue_run(folder)
    curves = RunCurves()
    qtbot.waitUntil(lambda: workspace.state == "finished", timeout=LONG)
    curves.catch_up(trainer.feed)
    x, _ = curves.tracks["train_loss"].outline("step", 1000)
    steps = read_steps(folder)["step"].tolist()
    assert x.tolist() == steps == list(range(1, len(steps) + 1)) and len(read_metrics(folder)) == 4
    assert read_settings(folder)["state"] == "finished"
