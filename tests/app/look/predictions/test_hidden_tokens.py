"""Filled-in text: what was answered, what stood there, and the likeliest tokens at a place."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from app.charts.arrays.token_text import Token, TokenText
from app.look.base import Subject
from app.look.predictions.hidden_tokens import HiddenTokens
from app.look.registry import proposed
from app.workspace.workspace import Workspace
from engine.feed.feed import Probe
from engine.shapes.heads import UNCOUNTED
from tests.app.look.showing import painted, shown, snapshot
from tests.engine.look.taking import take
from tests.engine.sketches import gallery
from tests.engine.train.networks import run_of

NAMES = ("[pad]", "[unknown]", "[begin]", "[end]", "[mask]", "␣", "a", "b", "c")
FACTS = {
    "likeliest": np.array([[7, 8], [5, 6]]),
    "places": (1, 4),
    "targets": (7, 6),
    "seen": (6, 4, 8, 5, 4, 6),
    "names": NAMES,
    "example": 2,
    "split": "validation",
}


@pytest.fixture
def view(shaped: Workspace, qtbot: QtBot) -> HiddenTokens:
    made = HiddenTokens(Subject(shaped, "n5"))
    qtbot.addWidget(made)
    made.resize(300, 240)
    shown(made, {Probe("n5", "hidden_tokens"): snapshot(np.array([[0.9, 0.1], [0.6, 0.3]]), **FACTS)})
    return made


def test_answers_stand_in_the_text_and_under_a_wrong_one_what_stood_there(view: HiddenTokens) -> None:
    assert [token.text for token in view.text.tokens] == ["a", "b", "c", " ", "␣", "a"]
    assert [token.mark for token in view.text.tokens] == ["", "right", "", "", "wrong", ""]
    assert [token.below for token in view.text.tokens] == ["", "", "", "", "a", ""]
    assert (
        view.text.tokens[4].note
        == "Place 5: the network sees [mask] and predicts ␣, 60 % sure; a stood there."
    )
    assert view.note == "1 of 2 right · bars: place 2 · validation example 3"
    assert [bar.name for bar in view.bars.bars] == ["b ✓", "c"]
    table = view.table()
    assert table is not None and list(table[1]) == [(2, "b", "b", 0.9), (5, "␣", "a", 0.6)]


def test_a_click_on_an_answer_shows_what_else_was_likely(view: HiddenTokens, qtbot: QtBot) -> None:
    painted(view)
    at = next(rect for token, rect in zip(view.text.tokens, view.text._at, strict=True) if token.below)
    qtbot.mouseClick(view.text, Qt.MouseButton.LeftButton, pos=at.center())
    assert [bar.name for bar in view.bars.bars] == ["␣", "a ✓"]
    assert view.state() == {"place": 4} and "bars: place 5" in view.note
    qtbot.keyClick(view.text, Qt.Key.Key_Left)
    assert view.state() == {"place": 1}
    qtbot.keyClick(view.text, Qt.Key.Key_Right)
    qtbot.keyClick(view.text, Qt.Key.Key_Right)
    assert view.state() == {"place": 4}


def test_a_low_card_is_for_the_text(view: HiddenTokens) -> None:
    painted(view, 300, 50)
    assert view.bars.isHidden() and view.text.height() <= 50 and "bars" not in view.note
    painted(view, 300, 200)
    assert not view.bars.isHidden()


def test_a_long_text_goes_on_in_the_next_line(qtbot: QtBot) -> None:
    text = TokenText()
    qtbot.addWidget(text)
    text.resize(120, 200)
    text.show_tokens([Token(word) for word in ("never", "was", "a", "story", "of", "more", "woe")])
    painted(text, 120, 200)
    assert len({rect.y() for rect in text._at}) > 1 and max(rect.right() for rect in text._at) < 120
    assert text.describe(QPoint(5, 5)) == ""


def test_it_is_asked_where_tokens_are_hidden_and_takes_the_place_of_the_next_token(shaped: Workspace) -> None:
    shaped.document.replace(gallery("masked-letters"), None)
    found = {one.id for one in proposed(Subject(shaped, "n5"))}
    assert "hidden-tokens" in found and "next-token" not in found
    shaped.document.replace(gallery("romeo-letters"), None)
    found = {one.id for one in proposed(Subject(shaped, "n4"))}
    assert "next-token" in found and "hidden-tokens" not in found


def test_what_is_hidden_is_what_is_asked() -> None:
    run = run_of(gallery("masked-letters"))
    (found,) = take(run, Probe("n5", "hidden_tokens"), pinned=3)
    tokens = run.data["validation"]["tokens"][3:4]
    seen, right = run.model.eval().hide(tokens)  # type: ignore[operator]
    places = (right[0] != UNCOUNTED).nonzero().flatten().tolist()
    assert list(found.extra["places"]) == places and found.array.shape == (len(places), 10)
    assert list(found.extra["targets"]) == tokens[0, places].tolist()
    assert list(found.extra["seen"]) == seen[0].tolist()
    assert (np.diff(found.array, axis=1) <= 0).all() and (found.array.sum(1) <= 1 + 1e-5).all()
