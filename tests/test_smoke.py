"""The main job in ten seconds: an example opens, has shapes, trains, exports, and the export runs alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.window.main_window import MainWindow
from app.workspace.engine_start import EngineParts
from app.workspace.places import Places
from app.workspace.workspace import Workspace
from engine.catalogue import load_catalogue
from engine.document.edits import SetPlan, SetTitle
from engine.document.files import load_project
from engine.document.shipped import datasets_folder
from engine.emit.script import export_script, write_script
from engine.shapes.shapes import ShapeBook, check
from engine.train.headless import run_headless
from engine.train.trainer import Trainer
from tests.gallery.running import Export, printed_by

pytestmark = pytest.mark.smoke
IRIS = datasets_folder().parent / "gallery" / "iris.nloom"
LONG = 60_000  # milliseconds: a limit for what hangs


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    workspace = Workspace(Places.under(tmp_path / "home"))
    workspace.adopt_engine(EngineParts(ShapeBook, Trainer, export_script))
    made = MainWindow(workspace)
    qtbot.addWidget(made, before_close_func=lambda one: one.workspace.document.mark_saved())
    made.show()
    yield made


def test_an_example_trains_and_its_export_gives_the_same_numbers(tmp_path: Path) -> None:
    project, catalogue = load_project(IRIS), load_catalogue()
    book = check(project, catalogue)
    assert book.problems == [] and book.total_parameters > 0
    lines: list[str] = []
    run_headless(
        project,
        catalogue,
        datasets_folder(),
        epochs=2,
        seed=1,
        device="cpu",
        on_line=lambda record: lines.append(json.dumps(record)),
    )
    assert len(lines) > 2
    export = Export(write_script(project, catalogue), ("--epochs", "2", "--seed", "1"))
    assert printed_by({"iris": export}, tmp_path) == {"iris": lines}


def test_the_window_trains_an_example_undoes_and_saves(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    window.files.open_path(IRIS)
    workspace = window.workspace
    assert window.at_work and window.canvas.isVisible() and not workspace.errors()
    titled = workspace.document.project.title
    workspace.apply("Title", SetTitle("Flowers"))
    workspace.undo()
    assert workspace.document.project.title == titled
    workspace.apply("Plan", SetPlan(workspace.document.project.plan.with_(epochs=2)))
    workspace.train()
    qtbot.waitUntil(lambda: workspace.state == "finished", timeout=LONG)
    assert workspace.trainer is not None and len(workspace.trainer.feed.read("train_loss")) > 2
    assert window.document_page.file.save(tmp_path / "flowers.nloom")
    assert load_project(tmp_path / "flowers.nloom") == workspace.document.project
