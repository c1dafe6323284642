"""Dropout from uniform numbers is dropout: as many numbers are dropped, and the rest scaled up."""

from __future__ import annotations

import pytest
import torch

from engine.layers.noisy import UniformDropout


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9])
def test_as_many_are_dropped_and_the_rest_scaled_up(share: float, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x = torch.ones(400, 100, dtype=dtype, requires_grad=True)
    y = UniformDropout(share)(x)
    assert y.dtype == dtype and y.shape == x.shape
    kept = y != 0
    # five standard deviations of a share of 40,000
    assert kept.float().mean().item() == pytest.approx(
        1 - share, abs=5 * (share * (1 - share) / 40_000) ** 0.5
    )
    assert torch.equal(y[kept], torch.full_like(y[kept], 1 / (1 - share)))
    y.sum().backward()
    assert torch.equal(x.grad, y)


def test_after_training_nothing_is_dropped() -> None:
    x = torch.rand(5, 4)
    assert UniformDropout(0.5).eval()(x) is x


def test_it_is_a_dropout_to_whoever_asks() -> None:
    assert isinstance(UniformDropout(0.3), torch.nn.Dropout) and UniformDropout(0.3).p == 0.3
