"""Notes are read with their emphasis and edited as Markdown."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.widgets.notes_field import NotesField


def test_emphasis_is_shown_until_a_click_edits_and_again_after(qtbot: QtBot) -> None:
    window = QWidget()
    other, notes = QLineEdit(), NotesField()
    column = QVBoxLayout(window)
    column.addWidget(other)
    column.addWidget(notes)
    qtbot.addWidget(window)
    window.resize(300, 200)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    other.setFocus()
    with QSignalBlocker(notes):
        notes.setPlainText("The *generator* and\n\n- one\n- two")
    assert notes.read.isVisible()
    assert notes.read.toPlainText() == "The generator and\none\ntwo"
    qtbot.mouseClick(notes.read.viewport(), Qt.MouseButton.LeftButton)
    assert notes.hasFocus() and not notes.read.isVisible()
    qtbot.keyClicks(notes, "**Now** ")
    assert notes.toPlainText().startswith("**Now** The *generator*")
    other.setFocus()
    assert notes.read.isVisible() and notes.read.toPlainText().startswith("Now The generator")


def test_an_empty_field_says_what_belongs_there(qtbot: QtBot) -> None:
    notes = NotesField()
    notes.setPlaceholderText("Notes about this project")
    qtbot.addWidget(notes)
    notes.show()
    assert not notes.read.isVisible()
