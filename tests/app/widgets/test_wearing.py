"""A theme reaches at once what is seen of a window, and the rest when it is shown."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QDialog, QLabel, QStackedWidget, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.theme import DARK, LIGHT, current_theme, set_theme, style_sheet
from app.widgets.wearing import Wearing


@pytest.fixture(autouse=True)
def dark_again() -> Iterator[None]:
    set_theme("dark")
    yield
    set_theme("dark")


class Window(QWidget):
    """A stack of two pages in a window."""

    def __init__(self) -> None:
        super().__init__()
        self.stack, self.front, self.behind = QStackedWidget(), QLabel("front"), QLabel("behind")
        self.stack.addWidget(self.front)
        self.stack.addWidget(self.behind)
        QVBoxLayout(self).addWidget(self.stack)
        self.wearing = Wearing((self, self.stack), self)


@pytest.fixture
def window(qtbot: QtBot) -> Window:
    made = Window()
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    return made


def test_what_is_not_seen_waits_until_it_is_shown(window: Window) -> None:
    assert window.front.styleSheet() == window.behind.styleSheet() == style_sheet(DARK)
    set_theme("light")
    assert window.front.styleSheet() == style_sheet(LIGHT)
    assert window.behind.styleSheet() == style_sheet(DARK)
    window.stack.setCurrentWidget(window.behind)
    assert window.behind.styleSheet() == style_sheet(LIGHT)
    assert window.behind.palette().text().color() == LIGHT.text


def test_what_comes_later_is_dressed_too(window: Window, qtbot: QtBot) -> None:
    later = QLabel("later")
    window.stack.addWidget(later)
    set_theme("light")
    window.stack.setCurrentWidget(later)
    assert later.styleSheet() == style_sheet(LIGHT)
    dialog = QDialog(window)
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.styleSheet() == style_sheet(current_theme())
    set_theme("dark")
    assert dialog.styleSheet() == style_sheet(DARK)
