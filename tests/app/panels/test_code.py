"""The code panel: the source that runs, tied to the canvas both ways."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QTextCursor

from app.panels.code import CodePanel
from app.workspace.workspace import Workspace
from engine.document.edits import AddNodes, SetParam
from engine.document.graph import Node
from engine.emit.script import export_script
from tests.app.conftest import add_iris


@pytest.fixture
def panel(shaped: Workspace, qtbot) -> CodePanel:  # type: ignore[no-untyped-def]
    add_iris(shaped)
    made = CodePanel(shaped)
    qtbot.addWidget(made)
    made.resize(900, 400)
    made.show()
    qtbot.waitUntil(lambda: made.source is not None, timeout=10_000)
    return made


def test_it_shows_the_exported_source(shaped: Workspace, panel: CodePanel) -> None:
    expected = export_script(shaped.document.project, shaped.catalogue).text
    assert panel.text.toPlainText() == expected
    assert panel.text.isReadOnly()


def test_it_follows_edits(shaped: Workspace, panel: CodePanel, qtbot) -> None:  # type: ignore[no-untyped-def]
    shaped.apply("Set units", SetParam("n2", "units", 77))
    qtbot.waitUntil(lambda: "77" in panel.text.toPlainText(), timeout=3000)


def test_hidden_it_makes_no_source(shaped: Workspace, panel: CodePanel, qtbot) -> None:  # type: ignore[no-untyped-def]
    panel.hide()
    before = panel.source
    shaped.apply("Set units", SetParam("n2", "units", 77))
    qtbot.wait(300)
    assert panel.source is before
    panel.show()
    qtbot.waitUntil(lambda: "77" in panel.text.toPlainText(), timeout=3000)


def test_selecting_a_node_marks_its_lines(shaped: Workspace, panel: CodePanel) -> None:
    shaped.select(("n2",))
    lines = panel.text.marked_lines
    assert lines
    assert all(panel.source.node_at(line) == "n2" for line in lines)
    shaped.select(())
    assert panel.text.marked_lines == ()


def test_clicking_a_line_selects_its_node(shaped: Workspace, panel: CodePanel, qtbot) -> None:  # type: ignore[no-untyped-def]
    line = panel.source.lines_of("n2")[0]
    block = panel.text.document().findBlockByNumber(line - 1)
    panel.text.setTextCursor(QTextCursor(block))
    panel.text.centerCursor()
    place = panel.text.cursorRect(QTextCursor(block)).center()
    qtbot.mouseClick(panel.text.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert shaped.selection == ("n2",)


def test_what_cannot_be_written_is_named_with_its_node(shaped: Workspace, panel: CodePanel, qtbot) -> None:  # type: ignore[no-untyped-def]
    shaped.apply("Add", AddNodes((Node("n9", "FromTheFuture", "later"),)))
    qtbot.waitUntil(lambda: panel.source is None, timeout=3000)
    assert "FromTheFuture" in panel.empty_words()
    assert not panel.export_button.isEnabled()
    panel._empty.button.click()
    assert shaped.selection == ("n9",)
    shaped.undo()
    qtbot.waitUntil(lambda: panel.source is not None, timeout=3000)
    assert panel.export_button.isEnabled()


def test_an_empty_canvas_says_what_would_fill_it(shaped: Workspace, panel: CodePanel, qtbot) -> None:  # type: ignore[no-untyped-def]
    shaped.undo()
    qtbot.waitUntil(lambda: "Add nodes" in panel.empty_words(), timeout=3000)


def test_copy_takes_the_whole_script(panel: CodePanel) -> None:
    panel._copy.click()
    assert QGuiApplication.clipboard().text() == panel.text.toPlainText()


def test_without_the_engine_it_waits(workspace: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    panel = CodePanel(workspace)
    qtbot.addWidget(panel)
    panel.show()
    assert "starting" in panel.empty_words()
