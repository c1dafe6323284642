"""Text in mid-word: a save has it, a close asks about it, a recovery copy holds it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from app.window import main_window
from app.window.main_window import CANCEL, MainWindow
from app.workspace.workspace import Workspace
from engine.document.files import load_project
from engine.document.graph import Block, Graph, Node, Project
from tests.app.window.test_main_window import settle

CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def window(shaped: Workspace, qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    project = Project(
        graph=Graph([Node("n1", "Linear", "layer"), Node("n2", "Block", "inner", {"block": "b1"})]),
        blocks={"b1": Block("b1", "Inner", Graph([Node("n9", "BlockInput")]))},
    )
    made = MainWindow(shaped)
    qtbot.addWidget(made, before_close_func=settle)
    shaped.document.replace(project)
    made.document_page.file.save(tmp_path / "net.nloom")
    made.show_workbench()
    made.show()
    made.activateWindow()
    qtbot.waitExposed(made)
    yield made


def _begin(window: MainWindow, where: str) -> tuple[QLineEdit, str]:
    """Puts the caret into a field over what is named; the field, and the name that is typed over."""
    canvas, workspace = window.canvas, window.workspace
    workspace.select(("n1",))
    if where == "canvas":
        canvas.rename_selected()
        return canvas.naming.field, "layer"
    if where == "inspector":
        field = window.document_page.inspector.page.name_field
        field.setFocus()
        field.selectAll()
        return field, "layer"
    panel = window.document_page.palette_panel
    index = panel.model.index(panel.model.rowCount() - 1)
    panel.list.setCurrentIndex(index)
    panel.list.edit(index)
    return panel.list.findChild(QLineEdit), "Inner"


@pytest.mark.parametrize("where", ["canvas", "inspector", "palette"])
def test_control_s_saves_what_is_being_typed(window: MainWindow, tmp_path: Path, where: str) -> None:
    field, before = _begin(window, where)
    QTest.keyClicks(field, "typed")
    QTest.keyClick(field, Qt.Key.Key_S, CONTROL)
    text = (tmp_path / "net.nloom").read_text(encoding="utf-8")
    assert '"typed"' in text and f'"{before}"' not in text
    assert not window.workspace.document.modified
    load_project(tmp_path / "net.nloom")


@pytest.mark.parametrize("where", ["canvas", "inspector", "palette"])
def test_closing_in_mid_word_asks(window: MainWindow, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    asked: list[str] = []

    def answer(_parent: object, title: str, *_rest: object) -> str:
        asked.append(title)
        return CANCEL

    monkeypatch.setattr(main_window, "ask", answer)
    field, _ = _begin(window, where)
    QTest.keyClicks(field, "typed")
    window.files.close_document()
    assert len(asked) == 1 and "Save the changes" in asked[0]
    window.close()
    assert len(asked) == 2 and window.isVisible()


def test_a_recovery_copy_holds_what_is_being_typed(window: MainWindow, qtbot: QtBot) -> None:
    field, _ = _begin(window, "canvas")
    QTest.keyClicks(field, "typed")
    copies = window.workspace.places.autosaves
    qtbot.waitUntil(
        lambda: any('"typed"' in one.read_text(encoding="utf-8") for one in copies.glob("*.nloom")),
        timeout=5000,
    )
    assert field.isVisible()
