"""BLEU against sums by hand, and over the rows of a network that copies."""

from __future__ import annotations

import math

import pytest
import torch

from engine.procedures.bleu import bleu, compared, told_by
from engine.procedures.reading import UnnamedTokens


def words(text: str) -> list[int]:
    return [hash(word) for word in text.split()]


def test_a_word_counts_no_oftener_than_it_stands_there() -> None:
    """The example of Papineni and others: of seven times "the", two stand in the right text."""
    found, right = words("the the the the the the the"), words("the cat is on the mat")
    assert bleu([found], [right], longest=1) == pytest.approx(2 / 7)
    assert bleu([found], [right]) == 0  # no two in a row are right


def test_n_grams_are_counted_over_all_texts_and_short_texts_are_punished() -> None:
    found = [words("it is a guide to action"), words("he read the book")]
    right = [words("it is a guide to action that ensures"), words("he was reading the book")]
    hits, total = (6 + 3, 5 + 1, 4 + 0, 3 + 0), (6 + 4, 5 + 3, 4 + 2, 3 + 1)
    mean = math.prod(hit / whole for hit, whole in zip(hits, total, strict=True)) ** 0.25
    assert bleu(found, right) == pytest.approx(math.exp(1 - 13 / 10) * mean)
    assert bleu(right, right) == 1 and bleu([[]], [right[0]]) == 0
    longer = [[*right[0], 1], right[1]]
    assert bleu(longer, right, longest=1) == pytest.approx(13 / 14)  # no reward for length


def test_texts_shorter_than_four_tokens_are_judged_by_what_they_have() -> None:
    assert bleu([[7, 8]], [[7, 8]]) == 1
    assert bleu([[7, 8]], [[7, 9]], longest=1) == 0.5


def test_rows_are_written_each_from_its_own_first_text() -> None:
    goals = torch.tensor([[5, 6, 3, 0], [7, 3, 0, 0], [6, 6, 6, 3]])

    def scores(found: torch.Tensor) -> torch.Tensor:
        """Row i answers its goal but for the last row, whose second token is wrong."""
        answer = torch.nn.functional.one_hot(goals, 8).float()
        answer[2, 1] = torch.nn.functional.one_hot(torch.tensor(5), 8)
        assert found[:, 0].tolist() == [2, 2, 2]
        return answer

    windows = torch.full((3, 4), 2)
    *steps, first, second, third, whole = compared(
        scores, windows, goals, UnnamedTokens(), draws=torch.Generator(), longest=4
    )
    assert [one["step"] for one in steps] == [1, 2, 3, 4] and steps[-1]["ended"] == 1
    assert (first["bleu"], second["bleu"], third["text"]) == (1, 1, "6 5 6")
    assert whole["exact"] == pytest.approx(2 / 3)
    assert whole["bleu"] == bleu([[5, 6], [7], [6, 5, 6]], [[5, 6], [7], [6, 6, 6]])
    assert told_by([5, 1, 6, 3, 7]) == [5, 6]
