"""Pairs of skip-grams: near each other, thinned out, others by frequency to the power of 3/4."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.layers.sequences.skip_gram import SkipGram


def words(rows: int, length: int, size: int) -> Tensor:
    """Zipf's words 5 to size - 1."""
    weights = 1 / torch.arange(1.0, size - 4)
    draw = torch.Generator().manual_seed(0)
    return 5 + torch.multinomial(weights.expand(rows, -1), length, replacement=True, generator=draw)


def test_others_come_by_their_frequency_to_the_power_of_three_quarters() -> None:
    torch.manual_seed(0)
    tokens = words(200, 50, 25)
    layer = SkipGram(25, pairs=500, negatives=5)
    _, others, real = layer(tokens)
    counts = tokens.flatten().bincount(minlength=25).double()
    counts[5:] += 1  # each word can be drawn
    wanted = counts**0.75 / (counts**0.75).sum()
    found = others[:, :, 1:].flatten().bincount(minlength=25).double()
    torch.testing.assert_close(found / found.sum(), wanted, atol=2e-3, rtol=0)
    assert found[:5].sum() == 0 and real.sum(3).unique().tolist() == [1] and (real[..., 0] == 1).all()
    torch.testing.assert_close(layer.counts.double(), counts)


def test_neighbours_stand_within_the_window_and_common_words_are_thinned_out() -> None:
    torch.manual_seed(0)
    tokens = torch.cat((torch.arange(5, 25), torch.full((40,), 2)))[None]  # each word once, then no words
    layer = SkipGram(25, window=3, pairs=20_000, often=1.0)
    word, others, _ = layer(tokens)
    away = (others[0, :, 0] - word[0, :, 0]).abs()
    found = away[(word[0, :, 0] >= 8) & (word[0, :, 0] < 22)].bincount().double()
    torch.testing.assert_close(
        found / found.sum(), torch.tensor([0, 3, 2, 1]).double() / 6, atol=0.01, rtol=0
    )
    tokens = words(200, 50, 25)
    layer = SkipGram(25, pairs=500, often=0.01)
    word, _, _ = layer(tokens)
    frequency = layer.counts.double() / layer.counts.sum()
    drawn = word.flatten().bincount(minlength=25).double()
    kept = frequency * (0.01 / frequency.clamp(min=1e-12)).sqrt().clamp(max=1)
    torch.testing.assert_close(drawn / drawn.sum(), kept / kept.sum(), atol=0.01, rtol=0)


def test_when_tested_a_row_has_the_same_pairs_in_any_batch_and_nothing_is_counted() -> None:
    tokens = words(6, 30, 25)
    layer = SkipGram(25).eval()
    before = layer.counts.clone()
    whole = layer(tokens)
    alone = layer(tokens[2:3])
    assert all(torch.equal(one[2:3], other) for one, other in zip(whole, alone, strict=True))
    assert torch.equal(layer.counts, before)
    assert not torch.equal(whole[0][0], whole[0][1])


def test_binary_cross_entropy_of_the_products_is_the_loss_of_negative_sampling() -> None:
    torch.manual_seed(0)
    word, others, real = SkipGram(25, pairs=8, negatives=5)(words(4, 30, 25))
    v, u = torch.randn(25, 6), torch.randn(25, 6)
    found = F.binary_cross_entropy_with_logits(v[word] @ u[others].transpose(-2, -1), real)
    total = torch.zeros(())
    for row in range(4):
        for pair in range(8):
            centre, (near, *far) = v[word[row, pair, 0]], others[row, pair]
            total -= torch.sigmoid(u[near] @ centre).log()
            total -= sum(torch.sigmoid(-u[one] @ centre).log() for one in far)
    torch.testing.assert_close(6 * found, total / 32)
