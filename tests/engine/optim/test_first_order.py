"""Heavy ball, Nesterov and extragradient against their recurrences, by hand."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import nn

from engine.optim.extragradient import Extragradient
from engine.optim.heavy_ball import HeavyBall
from engine.optim.nesterov import Nesterov
from tests.engine.optim.landscapes import backward, quadratic, weight


def follow(optimiser: Any, w: nn.Parameter, loss: Any, steps: int) -> list[float]:
    """The first weight after each step."""
    found = []
    for _ in range(steps):
        optimiser.step(backward(optimiser, loss))
        found.append(w.flatten()[0].item())
    return found


def test_heavy_ball_as_velocity() -> None:
    """Seed 003 §3.3: θ' = θ − η∇ + β(θ − θ₋₁)."""
    w = weight(1.0)
    found = follow(HeavyBall([w], lr=0.1, momentum=0.5), w, lambda: (w**2).sum() / 2, 6)
    before, now, wanted = 1.0, 1.0, []
    for _ in range(6):
        before, now = now, now - 0.1 * now + 0.5 * (now - before)
        wanted.append(now)
    assert found == pytest.approx(wanted, rel=1e-14)


def test_heavy_ball_as_average() -> None:
    """Seed 001: m ← βm + (1−β)g from 0, θ ← θ − αm."""
    w = weight(1.0)
    optimiser = HeavyBall([w], lr=0.1, momentum=0.5, form="average")
    found = follow(optimiser, w, lambda: (w**2).sum() / 2, 6)
    m, now, wanted = 0.0, 1.0, []
    for _ in range(6):
        m = 0.5 * m + 0.5 * now
        now -= 0.1 * m
        wanted.append(now)
    assert found == pytest.approx(wanted, rel=1e-14)


@pytest.mark.parametrize(("form", "times"), [("velocity", 10.0), ("average", 1.0)])
def test_on_a_constant_slope_the_ball_goes_1_over_1_minus_beta_times_as_far(form: str, times: float) -> None:
    """Seed 003 §3.3 (E26): 10 times for β = .9."""
    w = weight(0.0)
    path = follow(HeavyBall([w], lr=0.01, momentum=0.9, form=form), w, lambda: 2 * w.sum(), 300)
    assert path[-2] - path[-1] == pytest.approx(times * 0.01 * 2, rel=1e-9)


def test_heavy_ball_as_velocity_is_torchs_momentum() -> None:
    ours, theirs = quadratic()[0], quadratic()[0]
    _, matrix, best, _ = quadratic()
    mine = HeavyBall([ours], lr=0.01, momentum=0.9, weight_decay=0.1)
    other = torch.optim.SGD([theirs], lr=0.01, momentum=0.9, weight_decay=0.1)
    for _ in range(20):
        mine.step(backward(mine, lambda: (ours - best) @ matrix @ (ours - best) / 2))
        other.step(backward(other, lambda: (theirs - best) @ matrix @ (theirs - best) / 2))
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


def test_nesterov_as_velocity() -> None:
    """Seed 003 §3.3: χ = θ + β(θ − θ₋₁), θ' = χ − η∇(χ)."""
    w = weight(1.0)
    found = follow(Nesterov([w], lr=0.1, momentum=0.5), w, lambda: (w**4).sum() / 4, 6)
    before, now, wanted = 1.0, 1.0, []
    for _ in range(6):
        ahead = now + 0.5 * (now - before)
        before, now = now, ahead - 0.1 * ahead**3
        wanted.append(now)
    assert found == pytest.approx(wanted, rel=1e-14)


def test_nesterov_as_average() -> None:
    """Seed 001: m ← βm + (1−β)∇(θ − αβm), θ ← θ − αm."""
    w = weight(1.0)
    optimiser = Nesterov([w], lr=0.1, momentum=0.5, form="average")
    found = follow(optimiser, w, lambda: (w**4).sum() / 4, 6)
    m, now, wanted = 0.0, 1.0, []
    for _ in range(6):
        m = 0.5 * m + 0.5 * (now - 0.1 * 0.5 * m) ** 3
        now -= 0.1 * m
        wanted.append(now)
    assert found == pytest.approx(wanted, rel=1e-14)


def test_nesterov_and_torchs_agree_once_its_point_ahead_is_undone() -> None:
    """torch keeps the weights at the point ahead; both see the same slopes there."""
    w, _, _, loss = quadratic()
    seen: list[torch.Tensor] = []
    optimiser = Nesterov([w], lr=0.01, momentum=0.9)

    def looking() -> torch.Tensor:
        seen.append(w.detach().clone())
        return loss()

    follow(optimiser, w, looking, 10)
    other, _, _, theirs = quadratic()
    torchs = torch.optim.SGD([other], lr=0.01, momentum=0.9, nesterov=True)
    for ahead in seen:
        torch.testing.assert_close(other.detach(), ahead, rtol=1e-10, atol=1e-12)
        torchs.step(backward(torchs, theirs))


@pytest.mark.parametrize(("share", "falls"), [(0.99, True), (1.01, False)])
def test_gradient_descent_falls_below_2_over_l_and_not_above(share: float, falls: bool) -> None:
    """Seed 000 §1.3.2, seed 003 §3.2, E24."""
    w, matrix, _, loss = quadratic()
    largest = torch.linalg.eigvalsh(matrix)[-1].item()
    optimiser = torch.optim.SGD([w], lr=share * 2 / largest)
    losses = [optimiser.step(backward(optimiser, loss)).item() for _ in range(400)]
    assert all(after < before for before, after in pairwise(losses)) is falls
    assert (losses[-1] < losses[0]) is falls


def bilinear() -> tuple[nn.Parameter, nn.Parameter]:
    return weight(1.0), weight(1.0)


def radius(x: nn.Parameter, y: nn.Parameter) -> float:
    return torch.cat([x, y]).norm().item()


def test_extragradient_settles_the_bilinear_game() -> None:
    """Seed 003 §12.2 (E71): 200 steps of .1 from (1, 1) end .52 from the saddle; one loss, y climbs it."""
    x, y = bilinear()
    optimiser = Extragradient([{"params": [x]}, {"params": [y], "lr": -0.1}], lr=0.1)
    for _ in range(200):
        optimiser.step(backward(optimiser, lambda: (x * y).sum()))
    assert radius(x, y) == pytest.approx(0.52, abs=0.005)
    assert not any(optimiser.state.values())


def test_two_players_with_losses_of_their_own_share_the_half_step() -> None:
    x, y = bilinear()
    players = [(x, Extragradient([x], lr=0.1), 1.0), (y, Extragradient([y], lr=0.1), -1.0)]
    for _ in range(200):
        for move in (Extragradient.extrapolate, Extragradient.step):
            for own, optimiser, sign in players:
                optimiser.zero_grad()
                (sign * (x * y).sum()).backward(inputs=[own])
            for _, optimiser, _ in players:
                move(optimiser)
    assert radius(x, y) == pytest.approx(0.52, abs=0.005)


def test_gradient_steps_in_turn_only_circle_the_saddle() -> None:
    x, y = bilinear()
    one, other = torch.optim.SGD([x], lr=0.1), torch.optim.SGD([y], lr=0.1)
    for _ in range(200):
        one.step(backward(one, lambda: (x * y).sum()))
        other.step(backward(other, lambda: -(x * y).sum()))
    assert radius(x, y) == pytest.approx(1.356, abs=0.005)


def test_decay_pulls_a_climbing_player_to_zero_too() -> None:
    x = weight(2.0)
    optimiser = Extragradient([{"params": [x], "lr": -0.1}], lr=0.1, weight_decay=1.0)
    follow(optimiser, x, lambda: 0 * x.sum(), 1)
    assert x.item() == pytest.approx(2.0 - 0.1 * (2.0 - 0.1 * 2.0))


@pytest.mark.parametrize("made", [Nesterov, Extragradient])
def test_an_error_at_the_point_ahead_changes_no_weight(made: type) -> None:
    w, _, _, loss = quadratic()
    optimiser = made([w])
    for _ in range(3):
        optimiser.step(backward(optimiser, loss))
    before, calls = w.detach().clone(), []

    def failing() -> torch.Tensor:
        calls.append(w.detach().clone())
        if not torch.equal(calls[-1], before):
            raise ValueError
        return backward(optimiser, loss)()

    with pytest.raises(ValueError):
        optimiser.step(failing)
    assert not torch.equal(calls[-1], before)
    assert torch.equal(w.detach(), before)
