"""The command line of the window."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.main import COMMANDS, main


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    kept.pop("QT_QPA_PLATFORM", None)
    code = f"import sys; from app.main import main; sys.exit(main({list(words)!r}))"
    return subprocess.run(
        [sys.executable, "-c", code], env={**kept, **environment}, capture_output=True, text=True, timeout=60
    )


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems always have a display")
def test_without_a_display_it_says_so_in_one_sentence() -> None:
    done = run()
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    assert "display" in done.stderr and "neuroloom train" in done.stderr


def test_help_and_version_need_no_display() -> None:
    assert "usage: neuroloom" in run("--help").stdout
    assert run("--version").stdout.startswith("neuroloom 0.")


def test_a_missing_file_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nowhere.nloom"]) == 2
    assert "nowhere.nloom" in capsys.readouterr().err


def test_nonsense_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--frobnicate"]) == 2
    assert main(["one.nloom", "two.nloom"]) == 2
    assert "usage" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_go_to_the_engine(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import engine.cli.main

    seen: list[list[str]] = []

    def note(words: list[str]) -> int:
        seen.append(words)
        return 7

    monkeypatch.setattr(engine.cli.main, "main", note)
    assert main([command, "--json"]) == 7
    assert seen == [[command, "--json"]]


def test_commands_do_not_load_qt() -> None:
    code = (
        "import sys\nfrom app.main import main\n"
        "try:\n    main(['nodes', '--help'])\nexcept SystemExit:\n    pass\n"
        "assert not [name for name in sys.modules if name.startswith('PySide6')]"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_the_window_is_up_before_torch() -> None:
    code = (
        "import sys, tempfile\nfrom pathlib import Path\n"
        "from PySide6.QtWidgets import QApplication\n"
        "import app.window.session\n"
        "from app.window.main_window import MainWindow\n"
        "from app.workspace.places import Places\nfrom app.workspace.workspace import Workspace\n"
        "application = QApplication([])\n"
        "window = MainWindow(Workspace(Places.under(Path(tempfile.mkdtemp()))))\n"
        "window.show()\n"
        "slow = {'torch', 'sklearn'} & set(sys.modules)\n"
        "assert not slow, slow\n"
        "window.close()\n"
    )
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


def test_a_window_closed_at_once_ends_the_process(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom PySide6.QtCore import QTimer\nfrom PySide6.QtWidgets import QApplication\n"
        "from app.window import session\n"
        "def close_all():\n    QApplication.topLevelWidgets()[0].window()\n"
        "    [w.close() for w in QApplication.topLevelWidgets() if w.objectName() == 'mainWindow']\n"
        "QTimer.singleShot(1, lambda: None)\n"
        "original = session.MainWindow.begin\n"
        "def begin(self, *path):\n    original(self, *path)\n    QTimer.singleShot(150, close_all)\n"
        "session.MainWindow.begin = begin\n"
        "sys.exit(session.run())\n"
    )
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "NEUROLOOM_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_every_command_of_the_engine_can_be_given_to_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    from engine.cli.main import main as run_command

    run_command(["--help"])
    listed = set(re.findall(r"^    ([a-z]+)  ", capsys.readouterr().out, re.MULTILINE))
    assert listed == set(COMMANDS)
