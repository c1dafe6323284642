"""Controls in the head of a card: beside each other where there is room, else in further lines."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QLabel, QLineEdit, QStyle, QStyleOptionComboBox
from pytestqt.qtbot import QtBot

from app.look.controls import choice, row
from app.look.playground.inputs import sloped
from app.theme import current_theme
from app.widgets.labels import ElidedLabel


@pytest.mark.parametrize(("width", "lines"), [(400, 1), (250, 2), (170, 3)])
def test_what_finds_no_room_stands_in_the_next_line(qtbot: QtBot, width: int, lines: int) -> None:
    combos = [choice(f"c{wide}", [("a", 1)], "tip", wide) for wide in (168, 110, 60)]
    holder = row(*combos)
    qtbot.addWidget(holder)
    holder.resize(width, holder.heightForWidth(width))
    holder.show()
    places = [combo.geometry() for combo in combos]
    assert len({place.top() for place in places}) == lines
    assert not any(a.intersects(b) for at, a in enumerate(places) for b in places[at + 1 :])
    assert all(place.left() >= 0 and place.right() < width for place in places)
    assert max(place.bottom() for place in places) < holder.height()


def test_what_is_hidden_takes_no_room(qtbot: QtBot) -> None:
    first, second = (choice(name, [("a", 1)], "tip", 100) for name in "ab")
    holder = row(first, second)
    qtbot.addWidget(holder)
    wide = holder.sizeHint().width()
    first.hide()
    assert (wide, holder.sizeHint().width()) == (206, 100)


@pytest.mark.parametrize(
    "texts", [("Random", "Line"), ("21 × 21", "41 × 41"), ("a name too long for any head",)]
)
def test_no_choice_is_cut(qtbot: QtBot, texts: tuple[str, ...]) -> None:
    combo = choice("some", [(text, text) for text in texts], "What", 60)
    qtbot.addWidget(combo)
    option = QStyleOptionComboBox()
    combo.initStyleOption(option)
    field = QStyle.SubControl.SC_ComboBoxEditField
    room = combo.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, field, combo).width()
    longest = max(QFontMetrics(current_theme().font()).horizontalAdvance(text) for text in texts)
    assert longest <= room or combo.width() == 200


def test_names_of_fields_go_on_in_the_next_line(qtbot: QtBot) -> None:
    scroll, _ = sloped([("sepal length", QLineEdit()), ("Donaudampfschifffahrt", QLineEdit())], "tip")
    qtbot.addWidget(scroll)
    scroll.resize(210, 120)
    scroll.show()
    wrapped, shortened = (label for label in scroll.findChildren(QLabel) if label.text())
    assert wrapped.wordWrap() and wrapped.height() >= wrapped.heightForWidth(wrapped.width())
    assert isinstance(shortened, ElidedLabel)
