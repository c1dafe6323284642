"""Joins one by one: byte pair encoding and WordPiece by hand, and a text cut after each join."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from engine.data.text.piece_steps import PieceSteps, piece_steps
from engine.data.text.token_names import Vocabulary
from engine.data.text.tokenisers import learned_tokeniser

TEXT = "low low low lower lower newest newest newest newest widest widest"


def steps_of(way: str, text: str = TEXT, size: int = 60) -> PieceSteps:
    made = learned_tokeniser([text], way=way, size=size)
    found = piece_steps(Vocabulary(tuple(made.tokens), tuple(made.merges), made), text)
    assert found is not None
    return found


def merged(word: list[str], pairs: list[tuple[str, str]]) -> list[str]:
    """Byte pair encoding by its definition: the joins in their order, each from left to right."""
    for left, right in pairs:
        found: list[str] = []
        for piece in word:
            if found and (found[-1], piece) == (left, right):
                found[-1] += piece
            else:
                found.append(piece)
        word = found
    return word


def test_bpe_after_each_join_is_its_definition() -> None:
    found = steps_of("BPE")
    count = len(found.joined)
    assert count > 10 and found.cut("newest", 0) == list("newest")
    for step in range(count + 1):
        assert found.cut("newest", step) == merged(list("newest"), list(found.merges[:step]))
    often = Counter(pair for pair in pairwise(TEXT) if pair[1] != " ")  # a space begins a word
    pair = found.pair(1)
    assert pair is not None and often[pair] == max(often.values())  # the most frequent pair comes first


def test_word_piece_after_each_join_takes_the_longest_piece_there_is() -> None:
    found = steps_of("WordPiece")
    assert found.cut("newest", 0) == ["n", "##e", "##w", "##e", "##s", "##t"]
    for step in range(len(found.joined) + 1):
        later = set(found.joined[step:])
        known = [one for one in found.tokens if one not in later]
        wanted, at = [], 0
        while at < 6:
            piece = next(
                one for end in range(6, at, -1) if (one := ("##" if at else "") + "newest"[at:end]) in known
            )
            wanted.append(piece)
            at += len(piece.removeprefix("##"))
        assert found.cut("newest", step) == wanted
    assert found.cut("newest", len(found.joined)) == ["newest"]


@pytest.mark.parametrize("way", ["BPE", "WordPiece"])
def test_all_joins_together_are_the_tokeniser_and_each_pair_makes_its_token(way: str) -> None:
    found = steps_of(way)
    made = learned_tokeniser([TEXT], way=way, size=60)
    whole = [made.tokens[number] for number in made.ids("lowest new wide").tolist()]
    assert found.cut("lowest new wide", len(found.joined)) == whole
    for step, token in enumerate(found.joined, 1):
        pair = found.pair(step)
        assert pair is None or pair[0] + pair[1].removeprefix("##" if way == "WordPiece" else "") == token
    assert found.pair(1) is not None


def test_characters_and_words_have_no_joins() -> None:
    made = learned_tokeniser([TEXT], way="words", size=60)
    assert piece_steps(Vocabulary(tuple(made.tokens), (), made)) is None
    assert piece_steps(Vocabulary(("a",))) is None
