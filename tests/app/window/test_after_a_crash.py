"""A layer that brings the whole program down: the next start names it, and the work is there."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.window import file_commands
from app.window.main_window import MainWindow
from app.workspace.places import Places
from app.workspace.workspace import Workspace
from engine.document import crashes
from tests.app.window.test_main_window import settle

pytest.importorskip("torch")

CRASHES = """
import ctypes, sys
from pathlib import Path
import torch
from app.window import session
from app.workspace.engine_parts import EngineParts
from app.window.main_window import MainWindow
from app.workspace.places import Places
from app.workspace.workspace import Workspace
from engine.document import crashes
from engine.document.edits import SetParam
from engine.emit.script import export_script
from engine.train.trainer import Trainer
from engine.shapes.shapes import ShapeBook
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from tests.app.conftest import add_iris

app = QApplication(["neuroloom"])
places = Places.under(Path(sys.argv[1]))
crashes.watch(places.crashes)
workspace = Workspace(places)
window = MainWindow(workspace)
window.show()
add_iris(workspace)
workspace.apply("Set", SetParam("n2", "units", 3))
workspace.adopt_engine(EngineParts(ShapeBook, Trainer, export_script))
forward = torch.nn.Linear.forward

def fail(layer, x):
    if workspace.state == "running" and not x.is_meta:  # shapes are asked for beside training
        ctypes.string_at(0)
    return forward(layer, x)

torch.nn.Linear.forward = fail
QTimer.singleShot(0, workspace.train)
app.exec()
"""


@pytest.fixture
def window(shaped: Workspace, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[MainWindow]:
    monkeypatch.setattr(file_commands, "ask", lambda *_: "Restore")
    made = MainWindow(shaped)
    qtbot.addWidget(made, before_close_func=settle)
    made.resize(1280, 720)
    made.show()
    yield made


@pytest.mark.skipif(sys.platform == "win32", reason="ends otherwise there")
def test_a_segmentation_fault_in_a_layer_is_told_at_the_next_start_and_the_project_is_there(
    places: Places, window: MainWindow
) -> None:
    """C-17: a real crash of a real window in the middle of training."""
    folder = places.log_file.parent
    done = subprocess.run([sys.executable, "-c", CRASHES, str(folder)], capture_output=True, timeout=300)
    assert done.returncode == -signal.SIGSEGV, done.stderr.decode()
    crash = crashes.left_behind(places.crashes)
    assert crash is not None and (crash.node_id, crash.node) == ("n2", "classes")
    window.begin()
    window.files.tell_of_crash(crash)
    nodes = window.workspace.document.project.graph.nodes
    assert [node.type for node in nodes.values()] == ["Iris", "Linear", "CrossEntropy"]
    assert window.workspace.document.modified
    assert "a segmentation fault in “classes”" in window.banner.text
    show = window.banner.findChild(QPushButton, "bannerShow")
    first = window.banner.findChild(QPushButton, "bannerFirst")
    assert show is not None and first is not None and first.text() == "Show the report"
    show.click()
    assert window.workspace.selection == ("n2",)


def test_a_crash_elsewhere_is_told_without_a_node(window: MainWindow, tmp_path: Path) -> None:
    window.show_workbench()
    window.files.tell_of_crash(crashes.Crash("an abort", "n2", "classes"))
    show = window.banner.findChild(QPushButton, "bannerShow")
    assert show is not None and not show.isVisible()
    assert window.banner.text.startswith("Last time Neuroloom ended with an abort in “classes”")
