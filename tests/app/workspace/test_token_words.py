"""Rows of tokens as text: on nodes, beside predictions, in Try it."""

from __future__ import annotations

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from app.canvas.items.thumbnail import thumbnail_of
from app.look.playground.example_view import ExampleView
from app.workspace.token_words import are_tokens, running_text, token_words
from engine.catalogue import Column
from tests.app.look.showing import painted, snapshot

SPECIAL = ("[pad]", "[unknown]", "[begin]", "[end]", "[mask]")
LETTERS = (*SPECIAL, "⏎", "␣", *"abcdefghijklmnopqrstuvwxyz")
PIECES = (*SPECIAL, "a", "␣", "␣good", "␣f", "il", "m")
WORDS = (*SPECIAL, "a", "good", "film")
PARTS = (*SPECIAL, "a", "good", "fil", "##m")


@pytest.mark.parametrize(
    ("names", "numbers", "text"),
    [
        (LETTERS, [9, 7, 8, 6, 9, 0, 0], "cab c"),
        (PIECES, [5, 7, 8, 9, 10, 0], "a good film"),
        (WORDS, [2, 5, 6, 1, 3, 0, 0], "[begin] a good [unknown] [end]"),
        (PARTS, [5, 6, 7, 8], "a good film"),
        (WORDS, [5, 99], "a 99"),
        (WORDS, [0, 0], "[pad]"),
    ],
)
def test_tokens_read_as_a_text(names: tuple[str, ...], numbers: list[int], text: str) -> None:
    assert running_text(np.array(numbers, np.float32), names) == text


def test_a_single_class_is_no_text() -> None:
    assert are_tokens((4,), WORDS) and not are_tokens((1,), WORDS) and not are_tokens((4,), ())
    assert token_words([-100, 5], WORDS) == ["-100", "a"]


def test_a_node_of_texts_shows_the_text_where_words_can_be_read() -> None:
    found = snapshot(np.array([5, 6, 7] * 4, np.float32), port="tokens", ports={})
    thumbnail = thumbnail_of(found, (120.0, 30.0), data=True, classes={"tokens": WORDS})
    assert thumbnail is not None and thumbnail.above  # bars, from afar
    assert thumbnail.lines == ("a good film a good", "film a good film a")
    plain = thumbnail_of(found, (120.0, 30.0), data=True, classes={"label": WORDS})
    assert plain is not None and plain.lines == ()
    low = thumbnail_of(found, (120.0, 8.0), data=True, classes={"tokens": WORDS})
    assert low is not None and low.lines == ()


def test_an_example_of_tokens_is_a_text(qtbot: QtBot) -> None:
    shown = ExampleView()
    qtbot.addWidget(shown)
    shown.show_row({"tokens": np.array([9, 6, 8, 0])}, Column("tokens", (4,), "int64", LETTERS))
    assert [token.text for token in shown.text.tokens] == ["c", " ", "b"]
    drawn = painted(shown)
    assert (drawn != drawn[0, 0]).any()
    shown.show_row({"x": np.array([0.5, 1])}, Column("x", (2,)))
    assert shown._stack.currentWidget() is shown.numbers
