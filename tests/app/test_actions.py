"""The table of commands."""

from __future__ import annotations

from collections import Counter

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QLabel, QMenuBar, QWidget

from app.actions import COMMANDS, MENUS, ShortcutsDialog, build_menus


def test_no_shortcut_is_taken_twice() -> None:
    keys = Counter(QKeySequence(keys).toString() for command in COMMANDS for keys in command.shortcuts)
    assert [key for key, count in keys.items() if count > 1] == []


def test_every_shortcut_is_a_key() -> None:
    assert all(QKeySequence(keys).count() == 1 for command in COMMANDS for keys in command.shortcuts)


def test_no_name_stands_twice_and_no_menu_is_empty() -> None:
    names = Counter(command.name for command in COMMANDS)
    assert max(names.values()) == 1
    assert {command.menu for command in COMMANDS} == set(MENUS)


def test_no_letter_of_a_menu_is_underlined_twice() -> None:
    for menu in MENUS:
        texts = [command.text for command in COMMANDS if command.menu == menu and not command.group]
        texts += {command.group for command in COMMANDS if command.menu == menu and command.group}
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
    assert [action.text() for action in bar.actions()] == list(MENUS)


def test_the_list_of_shortcuts_is_whole(qtbot) -> None:  # type: ignore[no-untyped-def]
    dialog = ShortcutsDialog()
    qtbot.addWidget(dialog)
    shown = {label.text() for label in dialog.findChildren(QLabel)}
    for command in COMMANDS:
        if command.shortcuts:
            assert command.text.replace("&", "").rstrip("…") in shown
