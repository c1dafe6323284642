"""Everything by a few letters and Enter."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.window.actions import COMMANDS
from app.window.command_entries import command_entries
from app.window.command_palette import RECENT_KEY, CommandPalette, Entry, ranked
from app.window.main_window import MainWindow
from app.workspace.workspace import Workspace
from tests.app.conftest import add_iris
from tests.app.window.test_main_window import settle

CONTROL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def window(shaped: Workspace, qtbot) -> Iterator[MainWindow]:  # type: ignore[no-untyped-def]
    made = MainWindow(shaped)
    qtbot.addWidget(made, before_close_func=settle)
    made.show()
    qtbot.waitExposed(made)
    made.activateWindow()
    made.show_workbench()
    yield made


def opened(window: MainWindow) -> CommandPalette:
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_P, CONTROL_SHIFT)
    found = window.findChild(CommandPalette)
    assert found is not None and found.isVisible() and found.field.hasFocus()
    return found


def test_it_offers_every_command_type_and_example(window: MainWindow) -> None:
    keys = [entry.key for entry in command_entries(window)]
    assert len(keys) == len(set(keys))
    assert {f"command:{c.name}" for c in COMMANDS if c.name != "show_commands"} <= set(keys)
    assert {f"add:{found.type_id}" for found in window.workspace.catalogue.types()} <= set(keys)
    assert "example:mnist-cnn" in keys


def test_each_command_shows_its_shortcut(window: MainWindow) -> None:
    hints = {entry.key: entry.hint for entry in command_entries(window)}
    for command in COMMANDS:
        if command.shortcuts and command.name != "show_commands":
            assert (
                hints[f"command:{command.name}"] == window.actions_by_name[command.name].shortcut().toString()
            )


def test_a_node_is_added_by_the_keyboard_alone(window: MainWindow) -> None:
    palette = opened(window)
    QTest.keyClicks(palette.field, "add lin")
    assert palette.shown()[0] == "Add Linear"
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert not palette.isVisible() and window.canvas.hasFocus()
    assert [node.type for node in window.workspace.document.project.graph.nodes.values()] == ["Linear"]


def test_a_command_finds_the_focus_where_it_was(window: MainWindow) -> None:
    add_iris(window.workspace)
    window.canvas.setFocus()
    palette = opened(window)
    QTest.keyClicks(palette.field, "select all")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert set(window.workspace.selection) == {"n1", "n2", "n3"}
    assert window.canvas.hasFocus()


def test_arrows_choose_and_escape_gives_up(window: MainWindow) -> None:
    palette = opened(window)
    for key, row in (
        (Qt.Key.Key_Down, 1),
        (Qt.Key.Key_Tab, 2),
        (Qt.Key.Key_Up, 1),
        (Qt.Key.Key_PageDown, 11),
        (Qt.Key.Key_PageUp, 1),
        (Qt.Key.Key_Backtab, 0),
        (Qt.Key.Key_Up, 0),
    ):
        QTest.keyClick(palette.field, key)
        assert palette.list.currentRow() == row
    QTest.keyClick(palette.field, Qt.Key.Key_Escape)
    assert not palette.isVisible() and window.canvas.hasFocus()
    assert not window.workspace.document.project.graph.nodes


def test_keys_of_the_canvas_are_letters_here(window: MainWindow) -> None:
    add_iris(window.workspace)
    window.workspace.select(("n1", "n2"))
    palette = opened(window)
    QTest.keyClicks(palette.field, "fc")
    QTest.keyClick(palette.field, Qt.Key.Key_Backspace)
    QTest.keyClick(palette.field, Qt.Key.Key_Delete)
    assert palette.field.text() == "f"
    assert len(window.workspace.document.project.graph.nodes) == 3
    assert len(window.workspace.document.project.graph.links) == 3


def test_what_was_used_last_comes_first(window: MainWindow) -> None:
    palette = opened(window)
    QTest.keyClicks(palette.field, "softmax")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    palette = opened(window)
    assert palette.shown()[0] == "Add Softmax"
    assert window.settings.texts(RECENT_KEY) == ["add:Softmax"]


def test_what_cannot_be_done_stays_below_and_does_nothing(window: MainWindow) -> None:
    palette = opened(window)
    QTest.keyClicks(palette.field, "rename")
    assert palette.shown()[0] == "Rename"
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert palette.isVisible()


def test_ranking() -> None:
    def nothing() -> None:
        """Not called."""

    entries = [
        Entry("a", "Save", nothing, enabled=False),
        Entry("b", "Save as", nothing),
        Entry("c", "Unrelated", nothing, also="saving"),
        Entry("d", "Save image", nothing),
    ]
    assert [entry.key for entry in ranked(entries, "save", [])] == ["b", "d", "a"]
    assert [entry.key for entry in ranked(entries, "save", ["d"])] == ["d", "b", "a"]
    assert [entry.key for entry in ranked(entries, "", ["d"])] == ["d", "b", "c", "a"]
    assert [entry.key for entry in ranked(entries, "saving", [])] == ["c"]
