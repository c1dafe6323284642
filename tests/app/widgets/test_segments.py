"""One choice among a few words, by pointer and keyboard, in as much room as there is."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.widgets.segments import Segments

OPTIONS = [("step", "step", "one"), ("epoch", "epoch", "two"), ("time", "time", "three")]


@pytest.fixture
def segments(qtbot: QtBot) -> Segments:
    made = Segments(OPTIONS)
    qtbot.addWidget(made)
    made.resize(made.sizeHint())
    with qtbot.waitExposed(made):
        made.show()
    return made


def test_a_click_chooses(segments: Segments, qtbot: QtBot) -> None:
    assert segments.key == "step"
    with qtbot.waitSignal(segments.chosen) as caught:
        qtbot.mouseClick(segments, Qt.MouseButton.LeftButton, pos=segments.rect_of("time").center())
    assert caught.args == ["time"]
    assert segments.text() == "time"


def test_choosing_what_is_chosen_says_nothing(segments: Segments, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(segments.chosen):
        qtbot.mouseClick(segments, Qt.MouseButton.LeftButton, pos=segments.rect_of("step").center())


def test_the_arrow_keys_move_the_choice(segments: Segments, qtbot: QtBot) -> None:
    qtbot.keyClick(segments, Qt.Key.Key_Right)
    assert segments.key == "epoch"
    qtbot.keyClick(segments, Qt.Key.Key_Left)
    qtbot.keyClick(segments, Qt.Key.Key_Left)
    assert segments.key == "time"


def test_words_without_room_fold_but_never_the_chosen_one(segments: Segments, qtbot: QtBot) -> None:
    whole = segments.sizeHint().width()
    segments.choose("time")
    segments.set_room(whole - 10)
    assert segments.shown == ("step", "time")
    assert segments.sizeHint().width() <= whole - 10
    menu = segments.list_hidden()
    assert [action.text() for action in menu.actions()] == ["epoch"]
    menu.actions()[0].trigger()
    assert segments.key == "epoch"
    menu.close()
    segments.set_room(whole + 10)
    assert segments.shown == ("step", "epoch", "time")


def test_other_options_keep_the_choice_where_they_can(segments: Segments) -> None:
    segments.choose("epoch")
    segments.set_options(OPTIONS[1:])
    assert segments.key == "epoch"
    segments.set_options(OPTIONS[2:])
    assert segments.key == "time"
