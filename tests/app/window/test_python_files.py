"""Exported Python opens in the window as the project it came from; what is not read of it is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QUrl
from pytestqt.qtbot import QtBot

from app.canvas.tools.drop_files import dropped_data
from app.window import file_commands
from app.window.main_window import MainWindow
from app.workspace.workspace import Workspace
from engine.emit.script import export_script
from engine.importers.texts import is_python
from tests.engine.sketches import catalogue, classifier


@pytest.fixture
def window(shaped: Workspace, qtbot: QtBot) -> Iterator[MainWindow]:
    made = MainWindow(shaped)
    qtbot.addWidget(made, before_close_func=settle)
    made.show()
    yield made


def settle(window: MainWindow) -> None:
    """Leaves nothing to ask about."""
    window.files.python.close()
    for page in window.documents.pages:
        page.workspace.document.mark_saved()


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "small.py"
    path.write_text(export_script(classifier().plan(epochs=7).project, catalogue()).text, "utf-8")
    return path


def opened(window: MainWindow, qtbot: QtBot, path: Path) -> None:
    with qtbot.waitSignal(window.files.python.opened, timeout=60_000):
        window.files.open_any([path])


def test_a_script_opens_as_a_document_without_a_file(window: MainWindow, qtbot: QtBot, script: Path) -> None:
    opened(window, qtbot, script)
    document = window.workspace.document
    assert document.path is None and window.at_work
    assert document.project.plan.epochs == 7
    kinds = [node.type for node in document.project.graph.nodes.values()]
    assert sorted(kinds) == sorted(node.type for node in classifier().project.graph.nodes.values())
    assert "small.py" in window.banner.text


def test_lines_that_are_not_read_are_named(
    window: MainWindow, qtbot: QtBot, script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = script.read_text("utf-8")
    line = next(number for number, one in enumerate(text.splitlines(), 1) if "return self.scores" in one)
    script.write_text(text.replace("return self.scores(x)", "return torch.fft.fft(self.scores(x)).real"))
    opened(window, qtbot, script)
    assert f"Line {line}" in window.banner.text and "torch.fft.fft" in window.banner.text
    told: list[str] = []
    monkeypatch.setattr(file_commands, "ask", lambda *given: told.append(given[2]) or "Close")
    [(_, show)] = window.document_page.notice.answers if window.document_page.notice else []
    show()
    assert f"line {line}" in told[0]


def test_other_python_is_told_of_and_opens_nothing(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text("print('hello')\n")
    with qtbot.waitSignal(window.files.python.failed, timeout=60_000):
        window.files.open_path(other)
    assert "other.py" in window.banner.text and not window.at_work


def test_scripts_and_packages_are_no_data_when_they_are_dropped(tmp_path: Path, script: Path) -> None:
    package = tmp_path / "net"
    package.mkdir()
    (package / "model.py").write_text("")
    table = tmp_path / "table.csv"
    table.write_text("a\n1\n")
    for path, exported in ((script, True), (package, True), (table, False), (tmp_path, False)):
        mime = QMimeData()
        mime.setUrls([QUrl.fromLocalFile(str(path))])
        assert is_python(path) == exported
        assert dropped_data(mime) == ([] if exported else [path])
