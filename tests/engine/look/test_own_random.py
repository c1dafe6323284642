"""Numbers drawn inside leave torch's own generator as it was."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from engine.look.own_random import OwnRandom

DRAWS: list[Callable[[], Tensor]] = [
    lambda: torch.randn(3),
    lambda: 0.5 * torch.randn(2, *(3, 4), device="cpu"),
    lambda: torch.empty(4, 2).uniform_(-1, 1),
    lambda: torch.empty(4).normal_(),
    lambda: torch.rand_like(torch.zeros(5)),
    lambda: torch.randn_like(torch.zeros(5, dtype=torch.float64)),
    lambda: torch.bernoulli(torch.full((6,), 0.5)),
    lambda: torch.full((6,), 0.5).bernoulli(),
    lambda: torch.randint(0, 9, (7,)),
    lambda: torch.randperm(8),
    lambda: torch.multinomial(torch.ones(4), 2),
    lambda: torch.normal(0.0, 1.0, (3,)),
]


@pytest.mark.parametrize("draw", DRAWS)
def test_nothing_is_taken_from_training(draw: Callable[[], Tensor]) -> None:
    torch.manual_seed(1)
    before = torch.get_rng_state()
    with OwnRandom("cpu"):
        first, second = draw(), draw()
    assert torch.equal(torch.get_rng_state(), before)
    assert first.shape == second.shape and first.dtype == draw().dtype


def test_the_numbers_differ_from_one_to_the_next_and_are_spread_as_they_should() -> None:
    with OwnRandom("cpu"):
        found = torch.randn(10_000)
        assert not torch.equal(found, torch.randn(10_000))
    assert abs(found.mean()) < 0.05 and abs(found.std() - 1) < 0.05


def test_another_generator_is_left_in_its_place() -> None:
    one, other = (torch.Generator().manual_seed(3) for _ in range(2))
    with OwnRandom("cpu"):
        found = torch.randn(4, generator=one)
    assert torch.equal(found, torch.randn(4, generator=other))
