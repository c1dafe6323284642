"""Controls in the head of a card: beside each other where there is room, else in further lines."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.look.controls import choice, row


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
