"""The table of commands."""

from __future__ import annotations

from collections import Counter

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QLabel, QMenuBar, QWidget

from app.canvas import keys
from app.canvas.view import GraphView
from app.window.actions import COMMANDS, GESTURES, MENUS, build_menus
from app.window.shortcut_sheet import ShortcutsDialog
from app.workspace.workspace import Workspace


def test_no_shortcut_is_taken_twice() -> None:
    taken = Counter(QKeySequence(keys).toString() for command in COMMANDS for keys in command.shortcuts)
    assert [key for key, count in taken.items() if count > 1] == []


def test_every_shortcut_is_a_key() -> None:
    assert all(QKeySequence(keys).count() == 1 for command in COMMANDS for keys in command.shortcuts)


def test_no_name_stands_twice_and_no_menu_is_empty() -> None:
    names = Counter(command.name for command in COMMANDS)
    assert max(names.values()) == 1
    assert {command.menu for command in COMMANDS} == set(MENUS)


def test_no_letter_of_a_menu_is_underlined_twice() -> None:
    menus: dict[str, list[str]] = {}
    for command in COMMANDS:
        menus.setdefault(f"{command.menu} {command.group}".strip(), []).append(command.text)
    for menu, group in {(command.menu, command.group) for command in COMMANDS if command.group}:
        menus[menu].append(group)
    for menu, texts in menus.items():
        letters = Counter(text[text.index("&") + 1].lower() for text in texts if "&" in text)
        assert [letter for letter, count in letters.items() if count > 1] == [], menu


def test_menus_run_the_handlers(qtbot) -> None:  # type: ignore[no-untyped-def]
    window = QWidget()
    qtbot.addWidget(window)
    bar = QMenuBar(window)
    ran: list[str] = []

    def handler(name: str):  # type: ignore[no-untyped-def]
        return lambda: ran.append(name)

    actions = build_menus(bar, window, {c.name: handler(c.name) for c in COMMANDS})
    for name, action in actions.items():
        action.trigger()
        assert ran[-1] == name
    assert [action.text() for action in bar.actions()] == [f"&{title}" for title in MENUS]


def test_the_list_of_shortcuts_is_whole_and_says_nothing_twice(qtbot) -> None:  # type: ignore[no-untyped-def]
    dialog = ShortcutsDialog()
    qtbot.addWidget(dialog)
    shown = [label.text() for label in dialog.findChildren(QLabel)]
    for command in COMMANDS:
        if command.keys:
            assert command.plain_text in shown and command.keys in shown
    assert {how for how, _ in GESTURES} <= set(shown)
    lines = Counter((command.menu, command.plain_text, command.keys) for command in COMMANDS if command.keys)
    assert max(lines.values()) == 1
    taken = Counter(command.keys for command in COMMANDS if command.keys and not command.own_key)
    taken.update(how for how, _ in GESTURES)
    assert max(taken.values()) == 1


def test_the_canvas_has_no_key_that_the_list_lacks(workspace: Workspace, qtbot) -> None:  # type: ignore[no-untyped-def]
    view = GraphView(workspace)
    qtbot.addWidget(view)
    listed = {QKeySequence(keys) for command in COMMANDS for keys in (*command.shortcuts, command.own_key)}
    listed |= {QKeySequence(how) for how, _ in GESTURES}
    handled = keys._commands(view)
    assert handled
    for key, modifiers in handled:
        assert QKeySequence(QKeyCombination(modifiers, Qt.Key(key))) in listed, (key, modifiers)
