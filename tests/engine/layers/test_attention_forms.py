"""Attention in its other forms against plain loops over heads, queries and keys."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from engine.layers.sequences.attention import (
    AdditiveAttention,
    Attention,
    CosineAttention,
    DotAttention,
    RelativeAttention,
    RotaryAttention,
    rotated,
)
from engine.layers.sequences.tokens import ClassToken, filled_up, later_steps
from engine.look.sequences.attention import weights_of

N, T, S, F, M, HEADS = 2, 5, 7, 12, 6, 3
SIZE = F // HEADS
Score = Callable[[Attention, int, Tensor, int, Tensor, int], Tensor]


def scaled(made: Attention, head: int, query: Tensor, t: int, key: Tensor, s: int) -> Tensor:
    return query @ key / math.sqrt(SIZE)


def dot(made: Attention, head: int, query: Tensor, t: int, key: Tensor, s: int) -> Tensor:
    return query @ key


def cosine(made: Attention, head: int, query: Tensor, t: int, key: Tensor, s: int) -> Tensor:
    assert isinstance(made, CosineAttention)
    return made.sharpness[head, 0, 0].exp() * torch.cosine_similarity(query, key, 0)


def additive(made: Attention, head: int, query: Tensor, t: int, key: Tensor, s: int) -> Tensor:
    assert isinstance(made, AdditiveAttention)
    return made.fit[head, 0, 0] @ torch.tanh(query + key)


def rotary(made: Attention, head: int, query: Tensor, t: int, key: Tensor, s: int) -> Tensor:
    """By complex numbers: each pair is one, turned by its place."""
    speed = 10000.0 ** (-torch.arange(0, SIZE, 2, dtype=torch.float64) / SIZE)
    first = torch.view_as_complex(query.reshape(-1, 2)) * torch.polar(torch.ones_like(speed), t * speed)
    other = torch.view_as_complex(key.reshape(-1, 2)) * torch.polar(torch.ones_like(speed), s * speed)
    return (first * other.conj()).real.sum() / math.sqrt(SIZE)


def relative(made: Attention, head: int, query: Tensor, t: int, key: Tensor, s: int) -> Tensor:
    assert isinstance(made, RelativeAttention)
    offset = max(-made.reach, min(made.reach, s - t))
    return query @ key / math.sqrt(SIZE) + made.bias[head, offset + made.reach]


FORMS: list[tuple[type[Attention], Score]] = [
    (Attention, scaled),
    (DotAttention, dot),
    (CosineAttention, cosine),
    (AdditiveAttention, additive),
    (RotaryAttention, rotary),
    (RelativeAttention, relative),
]


def by_hand(
    made: Attention, score: Score, x: Tensor, memory: Tensor, lengths: Tensor | None
) -> tuple[Tensor, Tensor]:
    """The result (N, T, F) and the weights (N, heads, T, S), one number after the other."""
    query = made.query(x).unflatten(2, (HEADS, SIZE))
    key, value = (one(memory).unflatten(2, (made.groups, SIZE)) for one in (made.key, made.value))
    weights = torch.zeros(len(x), HEADS, x.shape[1], memory.shape[1], dtype=x.dtype)
    read = torch.zeros(len(x), x.shape[1], HEADS, SIZE, dtype=x.dtype)
    for n in range(len(x)):
        for head in range(HEADS):
            group = head * made.groups // HEADS
            for t in range(x.shape[1]):
                seen = [
                    s
                    for s in range(memory.shape[1])
                    if not (made.causal and s > t) and (lengths is None or s < lengths[n])
                ]
                fits = [score(made, head, query[n, t, head], t, key[n, s, group], s) for s in seen]
                weights[n, head, t, seen] = torch.stack(fits).softmax(0)
                read[n, t, head] = weights[n, head, t] @ value[n, :, group]
    return made.output(read.flatten(2)), weights


def draws(*size: int) -> Tensor:
    return torch.randn(*size, dtype=torch.float64, generator=torch.Generator().manual_seed(sum(size)))


@pytest.mark.parametrize(("kind", "score"), FORMS, ids=lambda one: getattr(one, "__name__", ""))
@pytest.mark.parametrize("cross", [False, True])
@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("groups", [None, 1])
def test_each_form_is_its_formula(
    kind: type[Attention], score: Score, cross: bool, counted: bool, groups: int | None
) -> None:
    torch.manual_seed(3)
    options = {"reach": 2} if kind is RelativeAttention else {}
    made = kind(F, M if cross else F, HEADS, groups=groups, causal=not cross, **options).double()
    for weight in made.parameters():
        nn.init.normal_(weight, std=0.5)
    x = draws(N, T, F)
    memory = draws(N, S, M) if cross else x
    given = torch.tensor([memory.shape[1], 3]) if counted else None
    wanted, weights = by_hand(made, score, x, memory, given)
    found = made(x, memory if cross else None, given)
    torch.testing.assert_close(found, wanted)
    told, barred = weights_of(made, x, memory if cross else None, given)
    torch.testing.assert_close(told, weights)
    if barred is None:
        assert cross and not counted
    else:
        assert torch.equal((told == 0), barred.expand(told.shape))


def test_what_is_filled_up_changes_nothing() -> None:
    made = Attention(F, F, HEADS).double()
    x = draws(1, T, F)
    longer = torch.cat((x, 100 * draws(1, 3, F)), 1)
    torch.testing.assert_close(made(longer, lengths=torch.tensor([T]))[:, :T], made(x))


def test_turned_queries_and_keys_know_only_how_far_apart_they_are() -> None:
    query, key = draws(8).expand(1, 1, 9, 8), draws(9)[:8].expand(1, 1, 9, 8)
    scores = (rotated(query) @ rotated(key).mT)[0, 0]
    for offset in range(-8, 9):
        one = scores.diagonal(offset)
        torch.testing.assert_close(one, one[:1].expand(len(one)))
    torch.testing.assert_close(rotated(query).norm(dim=3), query.norm(dim=3))


def test_attention_without_positions_is_blind_to_order_and_rotary_is_not() -> None:
    x, order = draws(1, T, F), torch.tensor([3, 0, 4, 1, 2])
    blind, sees = Attention(F, F, HEADS).double(), RotaryAttention(F, F, HEADS).double()
    torch.testing.assert_close(blind(x)[:, order], blind(x[:, order]))
    assert (sees(x)[:, order] - sees(x[:, order])).abs().max() > 1e-3


@pytest.mark.parametrize("features", [16, 64, 256])
def test_the_scale_keeps_the_variance_of_scores_at_one(features: int) -> None:
    generator = torch.Generator().manual_seed(features)
    query = torch.randn(1, 1, 400, features, generator=generator, dtype=torch.float64)
    key = torch.randn(1, 1, 400, features, generator=generator, dtype=torch.float64)
    scores = query @ key.mT
    assert scores.var().item() == pytest.approx(features, rel=0.05)
    assert (scores / math.sqrt(features)).var().item() == pytest.approx(1, rel=0.05)


def test_the_softmax_lifts_the_rank_of_scores() -> None:
    generator = torch.Generator().manual_seed(0)
    query, key = (torch.randn(64, 4, generator=generator, dtype=torch.float64) for _ in range(2))
    scores = query @ key.T
    assert torch.linalg.matrix_rank(scores) == 4
    assert torch.linalg.matrix_rank((scores / 2).softmax(1)) == 64


def test_dropout_is_off_when_tested_and_keeps_the_mean() -> None:
    torch.manual_seed(0)
    for kind in (Attention, AdditiveAttention):
        made = kind(F, F, HEADS, dropout=0.5).double()
        x = draws(N, T, F)
        without = kind(F, F, HEADS).double()
        without.load_state_dict(made.state_dict())
        torch.testing.assert_close(made.eval()(x), without(x))
        mean = torch.stack([made.train()(x) for _ in range(3000)]).mean(0)
        assert (mean - without(x)).abs().max() < 0.05


def test_a_class_token_stands_first_and_is_learned() -> None:
    made, x = ClassToken(F).double(), draws(N, T, F)
    found = made(x)
    assert torch.equal(found[:, 1:], x) and torch.equal(found[:, 0], made.token.expand(N, F))
    found[:, 0].sum().backward()
    assert made.token.grad is not None and torch.equal(made.token.grad, torch.full((F,), float(N)).double())


def test_rows_end_where_they_do() -> None:
    assert filled_up(draws(3, 3, 1), torch.tensor([3, 1, 0])).tolist() == [
        [False, False, False],
        [False, True, True],
        [False, True, True],
    ]


def test_later_steps_are_barred() -> None:
    assert later_steps(draws(1, 3, 1)).tolist() == [
        [False, True, True],
        [False, False, True],
        [False, False, False],
    ]
