"""Denoising against a density whose noise is known in closed form."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from engine.layers.diffusion import Diffusion
from engine.procedures.denoising import denoised
from engine.procedures.registry import offers
from engine.shapes.shapes import check
from tests.engine.sketches import catalogue, gallery

MEAN, DEVIATION = torch.tensor([1.0, -2.0]), torch.tensor([0.5, 0.2])


@pytest.mark.parametrize("schedule", ["cosine", "linear"])
def test_the_mixture_has_the_variance_of_its_parts(schedule: str) -> None:
    torch.manual_seed(0)
    made = Diffusion(schedule)
    x, noise = 3 * torch.randn(20_000, 2), torch.randn(20_000, 2)
    for time in (0.0, 0.3, 0.7, 1.0):
        kept = float(made.kept(torch.tensor(time)))
        found = made(x, noise, torch.full((20_000, 1), time))
        assert float(found.var()) == pytest.approx(9 * kept + 1 - kept, rel=0.03)
    clock = torch.linspace(0, 1, 50)
    assert bool((made.kept(clock).diff() <= 0).all())
    assert float(made.kept(torch.tensor(0.0))) == pytest.approx(1.0, abs=1e-3)
    assert float(made.kept(torch.tensor(1.0))) < 1e-3


def test_the_linear_schedule_is_the_limit_of_a_thousand_steps() -> None:
    betas = torch.linspace(1e-4, 0.02, 1000, dtype=torch.double)  # Ho, Jain and Abbeel 2020
    discrete = torch.cumprod(1 - betas, 0)
    steps = torch.arange(1, 1001, dtype=torch.double) / 1000
    assert torch.allclose(Diffusion("linear").kept(steps), discrete.clamp(min=1e-4), atol=2e-3)


@pytest.mark.parametrize("noise", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("schedule", ["cosine", "linear"])
def test_samples_of_a_normal_density_have_its_mean_and_deviation(noise: float, schedule: str) -> None:
    made = Diffusion(schedule)

    def noise_in(x: Tensor, time: Tensor) -> Tensor:
        """What of x is noise, in the mean, where examples are normal."""
        kept = made.kept(time)
        spread = kept * DEVIATION.square() + 1 - kept
        return (1 - kept).sqrt() * (x - kept.sqrt() * MEAN) / spread

    draws = torch.Generator().manual_seed(1)
    states = list(
        denoised(
            *(noise_in, made, torch.zeros(1), (2,), (1,)), draws=draws, count=4000, steps=200, noise=noise
        )
    )
    assert len(states) == 201 and (states[0]["time"], states[-1]["time"]) == (1.0, 0.0)
    found = states[-1]["samples"]
    assert torch.allclose(found.mean(0), MEAN, atol=0.04)
    assert torch.allclose(found.std(0), DEVIATION, rtol=0.1)


def test_a_network_that_denoises_samples_so_and_not_from_its_noise() -> None:
    project = gallery("diffusion-points")
    known = {one.name: one for one in offers(project, check(project, catalogue()))}
    assert known["sample"].procedure.__name__ == "Denoise"
    assert [spec.name for spec in known["sample"].params] == ["count", "steps", "noise"]
