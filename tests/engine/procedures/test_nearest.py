"""Nearest words and analogies in a table whose answers are known by construction."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from engine.procedures.nearest import nearest_words

# Two independent qualities, and a word that has nothing to do with either.
WORDS = {"man": (1, 0, 0), "woman": (-1, 0, 0), "king": (1, 1, 0), "queen": (-1, 1, 0), "tree": (0, 0, 1)}
SPECIAL = ["[pad]", "[unknown]", "[begin]", "[end]", "[mask]"]


def asked(question: str, count: int = 3, known: bool = True) -> list[dict[str, Any]]:
    table = nn.Embedding(5 + len(WORDS), 3)
    with torch.no_grad():
        table.weight[:5] = torch.tensor([1.0, 1.0, 0.0])  # nearer to a king than any word
        table.weight[5:] = 3 * torch.tensor(list(WORDS.values()), dtype=torch.float32)
    tokens = SimpleNamespace(tokens=SPECIAL + list(WORDS) if known else [])
    return list(nearest_words(table, tokens, draws=torch.Generator(), question=question, count=count))


def test_the_nearest_are_by_cosine_without_the_word_itself_and_special_tokens() -> None:
    found = asked("king")
    assert [one["text"] for one in found[:1]] == ["man"]
    assert found[0]["cosine"] == pytest.approx(0.5**0.5) and found[0]["step"] == 1
    assert {one["text"] for one in found[1:]} == {"queen", "tree"}  # at right angles
    assert [one["cosine"] for one in found[1:]] == pytest.approx([0, 0], abs=1e-6)
    assert len(asked("king", 100)) == len(WORDS) - 1


def test_an_analogy_is_completed() -> None:
    best = asked("king - man + woman")[0]
    # Of length 1, king is (1, 1) / root 2: the sum is (root 1/2 - 2, root 1/2); the queen is at 135 degrees.
    x, y = 0.5**0.5 - 2, 0.5**0.5
    assert best["text"] == "queen"
    assert best["cosine"] == pytest.approx((y - x) / (2 * (x * x + y * y)) ** 0.5)


def test_without_a_question_it_is_about_the_first_word_and_without_names_about_rows() -> None:
    assert asked("")[0]["text"] == "king"
    assert asked("7", known=False)[0]["text"] in {str(row) for row in range(10)}


@pytest.mark.parametrize(("question", "said"), [("lord", "'lord' is not in"), (" + ", "Name a word")])
def test_what_is_no_word_is_refused(question: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        asked(question)
