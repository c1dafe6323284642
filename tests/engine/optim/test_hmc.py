"""Hamiltonian Monte Carlo against a posterior that is known."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from engine.optim.hmc import HMC

ROWS = torch.tensor([[1.0, 0.2], [0.4, -1.0], [-0.7, 0.9], [1.5, 1.0], [-0.3, -0.8]], dtype=torch.double)
WANTED = torch.tensor([0.9, -1.2, 0.3, 2.0, -0.9], dtype=torch.double)


def chain(steps: int, seed: int = 0, **how: float) -> tuple[HMC, nn.Parameter]:
    torch.manual_seed(seed)
    weight = nn.Parameter(torch.zeros(2, dtype=torch.double))
    sampler = HMC([weight], **{"lr": 0.05, "leaps": 8, "prior": 1.5, "warm_up": 200, "most": 10_000, **how})  # type: ignore[arg-type]
    run(sampler, weight, steps)
    return sampler, weight


def run(sampler: HMC, weight: nn.Parameter, steps: int) -> None:
    def closure() -> Tensor:
        sampler.zero_grad()
        loss = 2.0 * (ROWS @ weight - WANTED).square().sum()  # a deviation of 1/2
        loss.backward()  # type: ignore[no-untyped-call]
        return loss.detach()

    for _ in range(steps):
        sampler.step(closure)


def test_samples_have_the_mean_and_the_covariance_of_the_posterior() -> None:
    chains = [chain(900, seed)[0].samples()[0] for seed in range(3)]
    found = torch.cat(chains)
    precision = ROWS.T @ ROWS * 4 + torch.eye(2, dtype=torch.double) / 1.5**2
    covariance = precision.inverse()
    mean = covariance @ (4 * ROWS.T @ WANTED)
    assert found.shape == (2100, 2)
    deviation = covariance.diagonal().sqrt()
    assert bool(((found.mean(0) - mean).abs() < 0.12 * deviation).all())
    # A chain of 1500 has a covariance that strays by 0.22 of its largest entry, found over eight seeds.
    strays = 0.22 * float(covariance.max()) * (1500 / len(found)) ** 0.5
    assert torch.allclose(torch.cov(found.T), covariance, atol=2.5 * strays)


@pytest.mark.parametrize("wanted", [0.65, 0.9])
def test_the_step_is_tuned_to_the_fraction_that_is_accepted(wanted: float) -> None:
    torch.manual_seed(0)
    weight = nn.Parameter(torch.zeros(50))
    sampler = HMC([weight], lr=0.01, leaps=3, prior=1.0, warm_up=400, accept=wanted)

    def closure() -> Tensor:
        sampler.zero_grad()
        return torch.zeros(())

    for _ in range(900):
        sampler.step(closure)
    assert sampler.accepted == pytest.approx(wanted, abs=0.08)


def test_a_path_that_leaves_all_bounds_is_turned_back() -> None:
    sampler, weight = chain(20, lr=1e6, warm_up=0)
    assert sampler.accepted == 0 and bool((weight == 0).all())
    assert all(math.isfinite(value) for value in sampler.samples()[0].flatten().tolist())


def test_a_chain_that_is_restored_goes_on_as_it_would_have() -> None:
    whole, weight = chain(60, warm_up=30)
    half, other = chain(40, warm_up=30)
    state, numbers = half.state_dict(), torch.get_rng_state()
    again = HMC(
        [copy := nn.Parameter(other.detach().clone())], lr=0.05, leaps=8, prior=1.5, warm_up=30, most=10_000
    )
    again.load_state_dict(state)
    torch.set_rng_state(numbers)
    run(again, copy, 20)
    assert torch.equal(copy, weight)
    assert torch.equal(again.samples()[0], whole.samples()[0])


def test_the_newest_samples_are_kept_every_so_many_steps() -> None:
    sampler, _ = chain(60, warm_up=0, keep=3, most=5)
    assert sampler.samples()[0].shape == (5, 2)
