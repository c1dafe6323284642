"""Filling in, classes, tags and spans: loops say what scores say, and spans are the best by search."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from engine.procedures.annotation import answered, classified, filled_in, tagged, tokens_read
from engine.procedures.reading import UnnamedTokens

WINDOW = torch.tensor([[2, 5, 4, 7, 3, 0, 0]])


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


class Words:
    """Letters a to z are tokens from 5 on."""

    def ids(self, text: str) -> Tensor:
        return torch.tensor([ord(one) - ord("a") + 5 for one in text if one != " "])

    def text(self, ids: list[int]) -> str:
        return "".join(chr(one - 5 + ord("a")) for one in ids)


def scored(tokens: Tensor, lengths: Tensor) -> Tensor:
    """Scores that the seed and the tokens alone decide."""
    assert lengths.tolist() == [tokens.shape[1]]
    return torch.randn(1, tokens.shape[1], 31, generator=seeded(int(tokens.sum())))


def test_a_text_is_read_in_the_form_of_the_row() -> None:
    for text, ids in (("", [2, 5, 4, 7, 3]), ("ab | [mask]c", [2, 5, 6, 3, 4, 7, 3])):
        tokens, lengths = tokens_read(WINDOW, Words(), text)
        assert tokens.tolist() == [ids] and lengths.tolist() == [len(ids)]
    assert tokens_read(WINDOW[:, 1:], Words(), "a[mask]")[0].tolist() == [[5, 4]]
    with pytest.raises(ValueError, match="The text has 10 tokens"):
        tokens_read(WINDOW, Words(), "abcdefgh")
    with pytest.raises(ValueError, match="no names"):
        tokens_read(WINDOW, UnnamedTokens(), "a")


def test_each_hidden_word_gets_its_likeliest_ones() -> None:
    states = list(filled_in(scored, WINDOW, 1, Words(), draws=seeded(0), text="[mask]b[mask]", count=3))
    found = scored(torch.tensor([[2, 4, 6, 4, 3]]), torch.tensor([5]))[0].softmax(-1)
    assert [state["place"] for state in states[:-1]] == [1, 3]
    for state in states[:-1]:
        best = found[state["place"]].sort(descending=True)
        assert state["likeliest"] == [Words().text([one]) for one in best.indices[:3].tolist()]
        torch.testing.assert_close(state["probabilities"].float(), best.values[:3])
    assert states[-1]["tokens"][1] == found[1].argmax() and len(states) == 3


def test_classes_and_tags_are_the_likeliest() -> None:
    names = tuple(f"n{at}" for at in range(31))
    (state,) = classified(
        lambda *given: scored(*given)[:, 0], WINDOW, 1, UnnamedTokens(), names, draws=seeded(0), text=""
    )
    right = scored(WINDOW[:, :5], torch.tensor([5]))[0].softmax(-1)
    assert state["class"] == right[0].argmax() and state["probability"] == pytest.approx(
        right[0].max().item()
    )
    states = list(tagged(scored, WINDOW, 1, Words(), names, draws=seeded(0), text=""))
    assert [one["place"] for one in states] == [1, 2, 3]
    assert [one["tag"] for one in states] == [names[int(right[at].argmax())] for at in (1, 2, 3)]


def test_the_best_spans_are_those_of_a_search_over_all() -> None:
    torch.manual_seed(0)
    begin, end = torch.randn(2, 1, 7).double()
    given = {"draws": seeded(0), "text": "", "count": 6, "longest": 3}
    states = list(answered(lambda *_: begin, lambda *_: end, WINDOW, 1, Words(), **given))
    first, last = begin[0].softmax(0), end[0].softmax(0)
    spans = {(0, 0): first[0] * last[0]}
    spans |= {(i, j): first[i] * last[j] for i in range(1, 7) for j in range(i, min(7, i + 3))}
    best = sorted(spans, key=lambda one: -float(spans[one]))[:6]
    assert [(one["start"], one["end"]) for one in states] == best
    assert [one["probability"] for one in states] == pytest.approx([float(spans[one]) for one in best])
    assert all((one["text"] == "no answer") == (one["start"] == 0) for one in states)
