"""C-6, C-7: a window closed in the middle of training ends its process, with a checkpoint written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from engine.runs import checkpoints
from engine.train.run_folder import read_settings

pytest.importorskip("torch")

CLOSES = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from app.window import main_window
from app.workspace.engine_parts import EngineParts
from app.window.main_window import MainWindow, STOP_AND_CLOSE
from app.workspace.places import Places
from app.workspace.workspace import Workspace
from engine.document.edits import SetPlan
from engine.emit.script import export_script
from engine.train.trainer import Trainer
from engine.shapes.shapes import ShapeBook
from tests.app.conftest import add_iris

asked = []

def ask(_window, title, _text, choices, _detail=""):
    asked.append(title)
    return STOP_AND_CLOSE if STOP_AND_CLOSE in choices else main_window.DISCARD

main_window.ask = ask
app = QApplication(["neuroloom"])
app.setQuitOnLastWindowClosed(False)
workspace = Workspace(Places.under(Path(sys.argv[1])))
window = MainWindow(workspace)
window.closed.connect(app.quit)
window.show()
add_iris(workspace)
workspace.apply("Plan", SetPlan(workspace.document.project.plan.with_(epochs=100_000)))
workspace.adopt_engine(EngineParts(ShapeBook, Trainer, export_script))

def look():
    if workspace.trainer.progress.step > 5:
        timer.stop()
        window.close()

timer = QTimer()
timer.timeout.connect(look)
QTimer.singleShot(0, workspace.train)
timer.start(20)
status = app.exec()
print(asked, workspace.trainer.progress.step)
raise SystemExit(status)
"""


def test_the_process_ends_with_its_window_and_the_run_is_kept(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CLOSES, str(tmp_path)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "Training is running" in done.stdout
    (folder,) = [one for one in (tmp_path / "runs").iterdir() if one.is_dir()]
    assert read_settings(folder)["state"] == "stopped"
    tensors, facts = checkpoints.load(folder)
    assert facts["step"] > 5 and any(name.startswith("model/") for name in tensors)
