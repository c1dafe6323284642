"""Labels that shorten their text, and titles that can be typed in."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QHBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.widgets.labels import ElidedLabel, label


def test_text_that_does_not_fit_is_the_tooltip(qtbot) -> None:  # type: ignore[no-untyped-def]
    made = ElidedLabel("A rather long name for a rather small label")
    qtbot.addWidget(made)
    made.resize(60, 20)
    made.show()
    assert made.toolTip() == made.text()
    made.resize(600, 20)
    assert made.toolTip() == ""


def test_text_of_users_is_never_read_as_markup(qtbot) -> None:  # type: ignore[no-untyped-def]
    for made in (label("<b>x</b>"), ElidedLabel("<b>x</b>")):
        qtbot.addWidget(made)
        made.show()
        assert made.text() == "<b>x</b>"
        assert made.textFormat().name == "PlainText"


@pytest.mark.parametrize("text", ["16,010", "0.9871", "32×26×26", "1.2e-05", "50 %"])
def test_a_number_is_shown_whole_and_words_give_way(qtbot: QtBot, text: str) -> None:
    row = QWidget()
    qtbot.addWidget(row)
    layout = QHBoxLayout(row)
    name, value = ElidedLabel("a rather long name of a parameter"), ElidedLabel("")
    for made in (name, value):
        layout.addWidget(made, 1)
    value.setText(text)
    row.resize(90, 30)
    row.show()
    assert value.width() >= value.fontMetrics().horizontalAdvance(text)
    value.setText("words now")
    assert value.minimumWidth() == 0
