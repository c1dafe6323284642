"""Random gestures over the whole window: whatever is pressed, dragged, typed or chosen, nothing fails.

A test fails on any uncaught error, Qt warning and unexpected log record by itself; a seed is a way again.
"""

from __future__ import annotations

import random
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QContextMenuEvent, QDesktopServices, QDrag, QInputMethodEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDialog,
    QFileDialog,
    QLineEdit,
    QMenu,
    QMessageBox,
    QPlainTextEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.window.main_window import MainWindow
from app.workspace.workspace import Workspace
from engine.document.graph import Project
from engine.document.scopes import verify
from tests.app.conftest import add_iris
from tests.app.window.test_main_window import settle

NONE, CONTROL = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier
SHIFT, ALT = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.AltModifier
LEFT, RIGHT, MIDDLE = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton, Qt.MouseButton.MiddleButton
KEYS = tuple(Qt.Key[f"Key_{letter}"] for letter in "ABCDEFGILMNPSTVXYZ01234")
PLAIN = (
    *(Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Tab, Qt.Key.Key_Backtab, Qt.Key.Key_Space),
    *(Qt.Key.Key_Delete, Qt.Key.Key_Backspace, Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_Period),
    *(Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_PageDown),
    *(Qt.Key.Key_F2, Qt.Key.Key_F3, Qt.Key.Key_F5, Qt.Key.Key_F6, Qt.Key.Key_F7, Qt.Key.Key_F8),
)
WORDS = ("linear", "conv", "0", "-1", "1e400", "3, 3", "", "cross", "x" * 200, "層", "<b>&", "nan")
NEVER = ("quit", "show_about")  # the first ends the walk
MOST_NODES, MOST_TABS = 30, 3
EXHAUSTIVE = [pytest.param(seed, 1000, marks=pytest.mark.exhaustive) for seed in range(1, 21)]


class Monkey:
    """Does one random thing after another in a window."""

    def __init__(self, window: MainWindow, seed: int) -> None:
        self.window = window
        self.chance = random.Random(seed)
        self.done: list[str] = []
        self.depth = 0
        self._menus = QTimer(window)
        self._menus.timeout.connect(self.answer)
        self._menus.start(20)
        self._acting = False

    def act(self) -> None:
        """Does one thing, in the popup that is open if there is one."""
        self._acting = True
        self._act()
        self._acting = False

    def answer(self) -> None:
        """Ends a menu that holds up what is being done: its own loop comes here."""
        popup = QApplication.activePopupWidget()
        if self._acting and popup is not None:
            for key in (Qt.Key.Key_Down, Qt.Key.Key_Return)[self.chance.randrange(2) * 2 :]:
                QTest.keyClick(popup, key)
            popup.close()

    def stop(self) -> None:
        """Nothing more is done."""
        self._menus.stop()
        while (popup := QApplication.activePopupWidget()) is not None:
            popup.close()

    def _act(self) -> None:
        popup = QApplication.activePopupWidget()
        if isinstance(popup, QMenu):
            self.choose(popup)
            return
        ways: list[tuple[int, Callable[[], None]]] = [
            (28, self.click),
            (10, self.double_click),
            (10, self.right_click),
            (16, self.drag),
            (6, self.wheel),
            (16, self.press_key),
            (6, self.type_word),
            (8, self.trigger),
        ]
        _, ways_only = zip(*ways, strict=True)
        self.chance.choices(ways_only, [weight for weight, _ in ways])[0]()

    def place(self, within: QWidget | None = None) -> tuple[QWidget, QPoint]:
        """A widget that can be seen, and a point of it."""
        top = within or self.window
        point = QPoint(
            self.chance.randrange(max(1, top.width())), self.chance.randrange(max(1, top.height()))
        )
        if within is None and self.chance.random() < 0.4 and self.window.at_work:
            canvas = self.window.canvas
            items = list(canvas.graph_scene.node_items.values())
            if items and canvas.isVisible():
                item = self.chance.choice(items)
                spots = [
                    QPointF(spot.x, spot.y) for spot in (*item.face.layout.inputs, *item.face.layout.outputs)
                ]
                spot = self.chance.choice([*spots, QPointF(60, 20)])
                return canvas.viewport(), canvas.mapFromScene(item.pos() + spot)
        found = top.childAt(point)
        return (found, found.mapFrom(top, point)) if found is not None else (top, point)

    def modifiers(self) -> Qt.KeyboardModifier:
        return self.chance.choice((NONE, NONE, NONE, NONE, CONTROL, SHIFT, ALT))

    def note(self, what: str, widget: QWidget | None = None, more: object = "") -> None:
        at = f"{type(widget).__name__} {widget.objectName()}" if widget is not None else ""
        self.done.append(f"{what} {at} {more}".strip())

    # -- gestures

    def click(self, within: QWidget | None = None) -> None:
        widget, point = self.place(within)
        self.note("click", widget, point.toTuple())
        QTest.mouseClick(widget, self.chance.choice((LEFT, LEFT, LEFT, MIDDLE)), self.modifiers(), point)

    def double_click(self) -> None:
        widget, point = self.place()
        self.note("double click", widget, point.toTuple())
        QTest.mouseDClick(widget, LEFT, NONE, point)

    def right_click(self) -> None:
        widget, point = self.place()
        self.note("right click", widget, point.toTuple())
        reason = QContextMenuEvent.Reason.Mouse
        QApplication.sendEvent(widget, QContextMenuEvent(reason, point, widget.mapToGlobal(point)))

    def drag(self) -> None:
        widget, start = self.place()
        ends = [QPoint(self.chance.randrange(-40, 900), self.chance.randrange(-40, 600)) for _ in range(2)]
        self.note("drag", widget, (start.toTuple(), [end.toTuple() for end in ends]))
        button, modifiers = self.chance.choice((LEFT, LEFT, LEFT, MIDDLE, RIGHT)), self.modifiers()
        QTest.mousePress(widget, button, modifiers, start)
        for end in ends:
            if not _alive(widget):
                return
            QTest.mouseMove(widget, end)
        if _alive(widget) and self.chance.random() < 0.1:
            QTest.keyClick(QApplication.focusWidget() or self.window, self.chance.choice(PLAIN))
        if _alive(widget):
            QTest.mouseRelease(widget, button, modifiers, ends[-1])

    def wheel(self) -> None:
        widget, point = self.place()
        delta = QPoint(self.chance.choice((0, 0, 120)), self.chance.choice((-1200, -120, 7, 120, 1200)))
        self.note("wheel", widget, delta.toTuple())
        place, away = QPointF(point), QPointF(widget.mapToGlobal(point))
        phase = Qt.ScrollPhase.NoScrollPhase
        event = QWheelEvent(
            place, away, QPoint(), delta, Qt.MouseButton.NoButton, self.modifiers(), phase, False
        )
        QApplication.sendEvent(widget, event)

    def press_key(self) -> None:
        widget = QApplication.focusWidget() or self.window
        key, modifiers = self.chance.choice((*KEYS, *PLAIN, *PLAIN)), self.modifiers()
        if key in KEYS and self.chance.random() < 0.5:
            modifiers = self.chance.choice((CONTROL, CONTROL, CONTROL | SHIFT))
        self.note("key", widget, (key.name, modifiers.name))
        QTest.keyClick(widget, key, modifiers)

    def type_word(self) -> None:
        widget = QApplication.focusWidget()
        if isinstance(widget, QLineEdit | QPlainTextEdit):
            word = self.chance.choice(WORDS)
            self.note("type", widget, word[:20])
            typed = QInputMethodEvent()  # QTest knows the keys of ASCII alone
            typed.setCommitString(word)
            QApplication.sendEvent(widget, typed)

    def trigger(self) -> None:
        name = self.chance.choice([name for name in self.window.actions_by_name if name not in NEVER])
        self.note("command", None, name)
        if self.window.actions_by_name[name].isEnabled():
            self.window.actions_by_name[name].trigger()

    def choose(self, menu: QMenu) -> None:
        actions = [one for one in menu.actions() if one.isEnabled() and one.objectName() not in NEVER]
        action = self.chance.choice([*actions, None])
        self.note("choose", menu, action.text() if action is not None else "")
        menu.close()
        if action is not None and action.menu() is None:
            action.trigger()

    def in_dialog(self, dialog: QDialog) -> int:
        """Stands in for a dialog's own loop: a few things are done in it, and it is left."""
        self.note("dialog", dialog)
        self.depth += 1
        if self.depth == 1:
            dialog.show()
            for _ in range(4):
                if dialog.isVisible():
                    self.click(dialog)
            buttons = [
                one for one in dialog.findChildren(QAbstractButton) if one.isVisible() and one.isEnabled()
            ]
            if buttons and self.chance.random() < 0.5:
                self.chance.choice(buttons).click()
            dialog.hide()
        self.depth -= 1
        return int(dialog.result())

    def keep_small(self) -> None:
        """Closes tabs and drops nodes that have become too many to be quick."""
        window = self.window
        for page in window.documents.pages[MOST_TABS:]:
            page.workspace.document.mark_saved()
            window.close_document(page)
        if len(window.workspace.document.project.graph.nodes) > MOST_NODES:
            window.workspace.document.replace(Project())
            add_iris(window.workspace)


def _alive(widget: QWidget) -> bool:
    return shiboken6.isValid(widget) and widget.isVisible()


@pytest.fixture
def window(shaped: Workspace, qtbot: QtBot) -> Iterator[MainWindow]:
    add_iris(shaped)
    made = MainWindow(shaped)
    qtbot.addWidget(made, before_close_func=settle)
    made.resize(1280, 720)
    made.show_workbench()
    made.show()
    made.activateWindow()
    qtbot.waitExposed(made)
    yield made


@pytest.mark.parametrize(("seed", "gestures"), [(0, 300), *EXHAUSTIVE])
def test_random_gestures(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, gestures: int
) -> None:
    monkey = Monkey(window, seed)

    def no_network(*_: object, **__: object) -> None:
        raise OSError("no network in tests")

    target = str(tmp_path / "walked.nloom")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_, **__: ("", ""))
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_, **__: ([], ""))
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, **__: (target, ""))
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_, **__: "")
    monkeypatch.setattr(QDialog, "exec", lambda dialog: monkey.in_dialog(dialog))
    monkeypatch.setattr(QMessageBox, "exec", lambda _one: 0)
    monkeypatch.setattr(QDrag, "exec", lambda *_: Qt.DropAction.IgnoreAction)
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda _url: True)
    monkeypatch.setattr(urllib.request, "urlopen", no_network)
    try:
        for step in range(gestures):
            monkey.act()
            QApplication.processEvents()
            if step % 20 == 19:
                monkey.keep_small()
                verify(window.workspace.document.project)
    except BaseException:
        print("\n".join(monkey.done[-12:]))
        raise
    finally:
        monkey.stop()
    assert window.isVisible()
