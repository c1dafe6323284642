"""The losses of n-grams against counts in plain dictionaries."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from engine.emit.program import compile_program
from engine.feed.feed import Probe
from engine.look.registry import probe_kinds
from engine.look.sequences.ngrams import ngram_losses, shift_of
from engine.look.sight import Look
from engine.shapes.heads import loss_heads
from tests.engine.sketches import catalogue, gallery

SIZE = 5


def counted(train: np.ndarray, held: np.ndarray, most: int, *, last: bool) -> list[float]:
    """By what the definition says, token by token."""
    follow: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
    for row in train.tolist():
        for n in range(most):
            for end in range(n, len(row)):
                follow[tuple(row[end - n : end])][row[end]] += 1

    def probability(context: tuple[int, ...], token: int, n: int) -> float:
        if n == 0:
            return 1 / SIZE
        shorter = probability(context, token, n - 1)
        seen = follow[context[len(context) - (n - 1) :]] if len(context) >= n - 1 else Counter()
        if not seen:
            return shorter
        return (seen[token] + len(seen) * shorter) / (seen.total() + len(seen))

    found = []
    for n in range(1, most + 1):
        surprise = [
            -math.log(probability(tuple(row[:end]), row[end], n))
            for row in held.tolist()
            for end in ([len(row) - 1] if last else range(1, len(row)))
        ]
        found.append(sum(surprise) / len(surprise))
    return found


@pytest.mark.parametrize("last", [False, True])
def test_they_are_what_counting_by_hand_gives(last: bool) -> None:
    draws = np.random.default_rng(2)
    train, held = draws.integers(0, SIZE, (9, 12)), draws.integers(0, SIZE, (4, 8))
    train[:, 1::2] = (train[:, ::2] + 1) % SIZE  # something to find
    found = ngram_losses(train, held, SIZE, most=4, last=last)
    assert found == pytest.approx(counted(train, held, 4, last=last), abs=1e-12)


def test_a_rule_of_two_tokens_is_found_by_the_third_order() -> None:
    row = [0, 1]
    for _ in range(400):
        row.append((row[-1] + row[-2]) % SIZE)
    rows = np.array(row)[None]
    found = ngram_losses(rows[:, :300], rows[:, 300:], SIZE, most=3)
    assert found[2] < 0.1 < 1 < found[1]


@pytest.mark.parametrize("shift", [1, 3, 5])
def test_tokens_of_overlapping_rows_are_counted_once(shift: int) -> None:
    text = np.random.default_rng(shift).integers(0, SIZE, 71)
    held = np.random.default_rng(9).integers(0, SIZE, (4, 8))
    rows = np.stack([text[at : at + 8] for at in range(0, 64, shift)])
    whole = text[: (len(rows) - 1) * shift + 8]
    assert shift_of(rows) == shift
    found, right = ngram_losses(rows, held, SIZE, most=4), ngram_losses(whole[None], held, SIZE, most=4)
    assert found == pytest.approx(right, abs=1e-12)


def test_long_ones_of_large_vocabularies_are_left_out() -> None:
    rows = np.arange(20)[None]
    assert len(ngram_losses(rows, rows, 50_000)) == 3  # 50,000⁴ has more than 62 bits


def test_the_network_is_measured_over_the_same_tokens() -> None:
    program = compile_program(gallery("char-decoder"), catalogue())
    draws = torch.Generator().manual_seed(0)
    texts = {split: torch.randint(5, 9, (40, 65), generator=draws) for split in ("train", "validation")}
    data = {split: {"tokens": text[:, :-1], "next": text[:, 1:]} for split, text in texts.items()}
    torch.manual_seed(0)
    model = program.make_model("cpu")
    heads = loss_heads(program.project, program.book)
    look = Look(program, model, data, heads, "cpu", 0, 0)
    taken = probe_kinds()["ngrams"].take(look, Probe("n6", "ngrams"))
    assert isinstance(taken, tuple)
    losses, facts = taken
    with torch.no_grad():
        scores = model.eval()(texts["validation"][:, :-1])
    wanted = F.cross_entropy(scores.flatten(0, 1), texts["validation"][:, 1:].flatten())
    assert facts["network"] == pytest.approx(wanted.item(), rel=1e-5)
    assert losses.tolist() == pytest.approx(
        ngram_losses(texts["train"].numpy(), texts["validation"].numpy(), 72)
    )
    assert facts["tokens"] == 40 * 64 and len(losses) == 5
