"""The canvas inside a window whose menus know the same keys."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMainWindow
from pytestqt.qtbot import QtBot

from app.canvas.view import GraphView
from app.workspace.workspace import Workspace
from engine.document.edits import Rename
from tests.app.canvas.conftest import Hands, picture

CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def window(qtbot: QtBot, workspace: Workspace, chain: None) -> QMainWindow:
    """A window whose actions have the shortcuts of the real one."""
    made = QMainWindow()
    qtbot.addWidget(made)
    canvas = GraphView(workspace, made)
    made.setCentralWidget(canvas)
    context = Qt.ShortcutContext.WidgetWithChildrenShortcut
    table: list[tuple[str, Callable[[], object], bool]] = [
        ("Ctrl+Z", workspace.undo, False),
        ("Del", canvas.delete_selection, True),
        ("Tab", canvas.open_search, True),
        ("F", canvas.frame_selection, True),
        ("Home", canvas.fit, True),
        ("Ctrl+A", canvas.select_all, False),
    ]
    for keys, command, on_canvas in table:
        action = QAction(made)
        action.setShortcut(QKeySequence(keys))
        action.triggered.connect(command)
        if on_canvas:
            action.setShortcutContext(context)
            canvas.addAction(action)
        else:
            made.addAction(action)
    made.resize(900, 600)
    made.show()
    qtbot.waitExposed(made)
    made.activateWindow()
    canvas.setFocus()
    return made


def _canvas(window: QMainWindow) -> GraphView:
    canvas = window.centralWidget()
    assert isinstance(canvas, GraphView)
    return canvas


def test_a_menu_shortcut_in_mid_drag_only_ends_the_drag(window: QMainWindow, workspace: Workspace) -> None:
    """W5: Ctrl+Z while a wire is held must not undo what was done before."""
    canvas = _canvas(window)
    workspace.apply("Rename", Rename("n4", "changed"))
    before, hands = picture(canvas), Hands(canvas)
    start = canvas.port_point("n3", "x", "in")
    hands.lift(start, start + QPoint(-80, 100))
    QTest.keyClick(canvas, Qt.Key.Key_Z, CONTROL)
    assert canvas.interaction is None and picture(canvas) == before
    hands.release(start + QPoint(-80, 100))
    assert workspace.node("n4").name == "changed"
    QTest.keyClick(canvas, Qt.Key.Key_Z, CONTROL)
    assert workspace.node("n4").name != "changed"


def test_menu_shortcuts_do_not_reach_out_of_a_text_field(window: QMainWindow, workspace: Workspace) -> None:
    """V5, E-3: not even those of the canvas that holds the field."""
    canvas = _canvas(window)
    workspace.apply("Rename", Rename("n4", "changed"))
    workspace.select(("n2", "n3"))
    QTest.keyClick(canvas, Qt.Key.Key_Tab)
    field = canvas.popup.field
    QTest.keyClicks(field, "f")
    for key, modifiers in (
        (Qt.Key.Key_Home, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_Delete, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_Tab, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_A, CONTROL),
        (Qt.Key.Key_Z, CONTROL),
        (Qt.Key.Key_Z, CONTROL),
    ):
        QTest.keyClick(field, key, modifiers)
    assert canvas.popup.isVisible() and workspace.selection == ("n2", "n3")
    assert workspace.node("n4").name == "changed" and len(workspace.document.project.graph.nodes) == 4
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert canvas.hasFocus()
