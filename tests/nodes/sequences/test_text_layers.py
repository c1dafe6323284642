"""Masking: the shares of BERT, always the same when tested, and special tokens left alone."""

from __future__ import annotations

import pytest
import torch

from engine.layers.sequences.tokens import Pointer
from engine.layers.text_masking import MaskTokens, fixed_draws
from engine.shapes.shapes import ShapeBook, Signature
from tests.engine.sketches import catalogue
from tests.nodes.values import built

TOKENS = torch.randint(5, 72, (2000, 64), generator=torch.Generator().manual_seed(1))


def layer_of(**params: object) -> torch.nn.Module:
    model, name = built("MaskTokens", {"size": 72, **params}, (64,), whole=True)
    layer: torch.nn.Module = getattr(model, name)
    return layer


@pytest.mark.parametrize("training", [True, False])
def test_the_shares_are_those_of_bert(training: bool) -> None:
    torch.manual_seed(0)
    tokens, targets = MaskTokens(72).train(training)(TOKENS)
    picked = targets != -100
    assert torch.equal(targets[picked], TOKENS[picked]) and torch.equal(tokens[~picked], TOKENS[~picked])
    assert picked.float().mean().item() == pytest.approx(0.15, abs=0.003)
    assert (tokens[picked] == 4).float().mean().item() == pytest.approx(0.8, abs=0.01)
    other = (tokens[picked] != 4) & (tokens[picked] != TOKENS[picked])
    assert other.float().mean().item() == pytest.approx(0.1 * 66 / 67, abs=0.007)  # one of 67 is the same
    assert set(tokens[picked][other].tolist()) == set(range(5, 72))
    assert (
        picked.float().mean(0).std().item() < 0.012
    )  # no place is picked more often: sqrt(.15 · .85 / 2000)


@pytest.mark.parametrize("training", [True, False])
def test_special_tokens_are_never_picked(training: bool) -> None:
    special = torch.arange(5).repeat(100, 3)
    tokens, targets = MaskTokens(72).train(training)(special)
    assert torch.equal(tokens, special) and bool((targets == -100).all())
    mixed = torch.where(torch.arange(64) % 2 == 0, 1, TOKENS)
    tokens, targets = MaskTokens(72, rate=1.0).train(training)(mixed)
    assert torch.equal(targets, mixed.masked_fill(mixed == 1, -100)) and bool((tokens[mixed == 1] == 1).all())


@pytest.mark.parametrize("training", [True, False])
def test_each_row_with_tokens_has_something_to_say(training: bool) -> None:
    short = torch.zeros(500, 8, dtype=torch.int64)
    short[:, 0], short[:, 1], short[:, 2:4], short[:, 4] = 2, 7, TOKENS[:500, :2], 3
    _, targets = MaskTokens(72, rate=0.01).train(training)(short)
    assert (targets != -100).sum(1).min() == 1
    assert (targets != -100).float().mean(0)[1:4].tolist() == pytest.approx([1 / 3] * 3, abs=0.07)


def test_when_tested_a_row_is_masked_alike_in_any_batch_and_leaves_the_random_numbers_alone() -> None:
    masking, state = MaskTokens(72).eval(), torch.get_rng_state()
    tokens, targets = masking(TOKENS)
    order = torch.randperm(2000, generator=torch.Generator().manual_seed(2))
    for rows in order.split(300):
        found = masking(TOKENS[rows])
        assert torch.equal(found[0], tokens[rows]) and torch.equal(found[1], targets[rows])
    assert torch.equal(torch.get_rng_state(), state)
    assert not torch.equal(MaskTokens(72, seed=1).eval()(TOKENS)[1], targets)


def test_the_fixed_chances_stay_what_they_are() -> None:
    """A project's validation loss hangs on them."""

    def scrambled(x: int) -> int:
        x &= 0xFFFFFFFF
        x = (x ^ x >> 16) * 0x7FEB352D % 2**32
        x = (x ^ x >> 15) * 0x846CA68B % 2**32
        return x ^ x >> 16

    row, seed = [5, 6, 7, 8], 3
    key = sum(scrambled(token + scrambled(place + seed)) for place, token in enumerate(row))
    wanted = [[scrambled(scrambled(key + n) + place) >> 8 for place in range(4)] for n in (1, 2, 3)]
    drawn = fixed_draws(torch.tensor([row]), seed)
    assert (drawn * 2**24).long()[:, 0].tolist() == wanted
    assert (fixed_draws(torch.tensor([row]), 0) * 2**24).long()[0, 0].tolist() == [
        4012127,
        9844492,
        12967831,
        1774917,
    ]


def test_while_training_it_is_drawn_anew_and_a_seed_fixes_it() -> None:
    masking = MaskTokens(72).train()
    torch.manual_seed(3)
    first, second = masking(TOKENS)[1], masking(TOKENS)[1]
    torch.manual_seed(3)
    assert torch.equal(masking(TOKENS)[1], first) and not torch.equal(first, second)


def test_the_shares_can_be_chosen() -> None:
    tokens, targets = layer_of(share=0.5, hidden=0.0, swapped=0.0)(TOKENS)
    assert torch.equal(tokens, TOKENS)
    assert (targets != -100).float().mean().item() == pytest.approx(0.5, abs=0.01)
    tokens, targets = layer_of(share=1.0, hidden=1.0, swapped=0.0)(TOKENS)
    assert bool((tokens == 4).all()) and torch.equal(targets, TOKENS)


def test_what_cannot_be_masked_is_refused() -> None:
    made = catalogue().get("MaskTokens")
    assert made is not None
    with pytest.raises(Exception, match="needs rows of tokens, but measurements come in"):
        built("MaskTokens", {}, (64,))
    facts = ShapeBook(catalogue()).trial("MaskTokens", {}, {"x": Signature((), "int64")})
    assert facts.problem is not None
    assert facts.problem.message == "Mask tokens needs rows of tokens, but one number an example comes in."
    with pytest.raises(Exception, match="More than all tokens"):
        layer_of(hidden=0.8, swapped=0.3)
    assert made({"share": 0.2, "size": 4000}).summary() == "20 % of 4,000 tokens"


def test_tokens_behind_the_first_end_are_of_the_second_text() -> None:
    model, _ = built("Segments", {}, (8,), whole=True)
    tokens = torch.tensor([[2, 7, 3, 8, 9, 3, 0, 0], [2, 7, 8, 9, 3, 0, 0, 0]])
    assert model(tokens).tolist() == [[0, 0, 0, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 1, 1, 1]]


def test_a_pointer_scores_steps_by_one_dense_layer_and_never_the_filling() -> None:
    torch.manual_seed(0)
    layer, x = Pointer(4, 6), torch.randn(2, 5, 4)
    found = layer(x, torch.tensor([3, 5]))
    right = x @ layer.score.weight[0] + layer.score.bias
    torch.testing.assert_close(found[0, :3], right[0, :3])
    torch.testing.assert_close(found[1, :5], right[1])
    assert (found[0, 3:] == -1e9).all() and found[1, 5] == -1e9


def test_what_is_hidden_does_not_depend_on_how_far_rows_are_filled_up() -> None:
    tokens = torch.randint(5, 72, (6, 20), generator=torch.Generator().manual_seed(0))
    filled = torch.cat([tokens, torch.zeros(6, 9, dtype=torch.int64)], 1)
    masking = MaskTokens(72).eval()
    for short, long in zip(masking(tokens), masking(filled), strict=True):
        assert torch.equal(short, long[:, :20])
