"""Translation against all texts there are, and against greedy steps by hand."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.procedures.reading import UnnamedTokens
from engine.procedures.translation import translated

SIZE, STEPS, BEGIN, END = 7, 4, 2, 3


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def bigrams(seed: int) -> Any:
    """Scores (M, T, V) that hang on the token read and on the place; and the tables themselves."""
    tables = 2 * torch.randn(STEPS, SIZE, SIZE, generator=seeded(seed), dtype=torch.float64)
    tables[:, :, [0, 1, BEGIN, 4]] = -20.0  # tokens that are no text
    return tables, lambda texts: tables[torch.arange(STEPS), texts]


WINDOW = torch.tensor([[BEGIN, 5, 6, 0]])  # behind the begin token it is not read


def probability(tables: Tensor, text: tuple[int, ...]) -> float:
    """The log-probability of a text, with its end where it has one."""
    total, before = 0.0, BEGIN
    for place, token in enumerate(text):
        total += torch.log_softmax(tables[place, before], 0)[token].item()
        before = token
    return total


def every_text() -> list[tuple[int, ...]]:
    """All texts of the letters 5 and 6, ended, or as long as there is room."""
    found: list[tuple[int, ...]] = []
    for length in range(STEPS + 1):
        for text in itertools.product((5, 6), repeat=length):
            found.append(text if length == STEPS else (*text, END))
    return found


@pytest.mark.parametrize("seed", range(6))
def test_a_wide_beam_finds_the_likeliest_text_of_all(seed: int) -> None:
    tables, scores = bigrams(seed)
    best = max(every_text(), key=lambda text: probability(tables, text))
    *levels, last = translated(scores, WINDOW, UnnamedTokens(), draws=seeded(0), method="beam", width=200)
    assert last["tokens"] == [one for one in best if one != END]
    assert all(len(one["parents"]) == len(one["names"]) == len(one["kept"]) for one in levels)
    assert levels[-1]["log_probabilities"][0].item() == last["log_probability"]
    assert last["log_probability"] == pytest.approx(probability(tables, best), abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_the_greedy_way_takes_the_likeliest_token_at_each_step_and_stops_at_the_end(seed: int) -> None:
    tables, scores = bigrams(seed)
    text: list[int] = []
    before = BEGIN
    for place in range(STEPS):
        before = int(tables[place, before].argmax())
        text.append(before)
        if before == END:
            break
    states = list(translated(scores, WINDOW, UnnamedTokens(), draws=seeded(0), method="greedy", width=9))
    assert states[-1]["tokens"] == [one for one in text if one != END]
    assert len(states) == len(text) + 1 and not any("parents" in one for one in states)
    assert states[-1]["log_probability"] == pytest.approx(probability(tables, tuple(text)), abs=1e-9)


def test_tokens_are_written_by_their_names_where_they_are_known() -> None:
    class Letters:
        def text(self, ids: list[int]) -> str:
            return "".join("·····ab"[one] for one in ids)

    _, scores = bigrams(1)
    *_, last = translated(scores, WINDOW, Letters(), draws=seeded(0), method="greedy", width=1)
    assert last["whole"] == Letters().text(last["tokens"])
