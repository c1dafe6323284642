"""Line searches and second-order optimisers against closed forms."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from engine.optim.bfgs import BFGS
from engine.optim.conjugate_gradient import ConjugateGradient
from engine.optim.levenberg_marquardt import LevenbergMarquardt
from engine.optim.line_search import LineSearch, bracketed
from engine.optim.newton import Newton, jacobian_of
from engine.optim.residuals import residuals
from tests.engine.optim.landscapes import backward, network, quadratic, rosenbrock, weight

EXACT = 1e-9  # of the slope that a line search may leave: on a parabola that is its bottom


def test_newton_needs_one_step_on_a_quadratic() -> None:
    w, _, best, loss = quadratic()
    before = loss().item()
    assert Newton([w]).step(loss).item() == before
    torch.testing.assert_close(w.detach(), best, rtol=1e-10, atol=1e-10)


def test_damping_shortens_newtons_step() -> None:
    """(H + λI) d = −g."""
    w, matrix, best, loss = quadratic()
    Newton([w], damping=2.0).step(loss)
    wanted = torch.linalg.solve(matrix + 2 * torch.eye(5, dtype=torch.float64), matrix @ best)
    torch.testing.assert_close(w.detach(), wanted)


def test_newton_goes_down_where_the_curvature_is_negative_or_none() -> None:
    """Seed 000 D.1: plain Newton fails where H is singular, and climbs to maxima."""
    w = weight(0.1, 1.0)
    optimiser = Newton([w])
    losses = [optimiser.step(lambda: (w[0] ** 2 - 1) ** 2 + 0 * w[1]).item() for _ in range(30)]
    assert losses == sorted(losses, reverse=True) and losses[-1] < 1e-12
    assert w[0].item() == pytest.approx(1.0) and w[1].item() == 1.0
    v = weight(3.0)
    Newton([v]).step(lambda: 2 * v.sum())
    assert v.item() < 3.0


def test_newton_converges_quadratically_in_the_valley() -> None:
    w, loss = rosenbrock()
    optimiser = Newton([w])
    for _ in range(25):
        optimiser.step(loss)
    torch.testing.assert_close(w.detach(), torch.ones(2, dtype=torch.float64))


@pytest.mark.parametrize("rule", ["Fletcher-Reeves", "Polak-Ribiere+"])
@pytest.mark.parametrize("size", [2, 5, 8])
def test_conjugate_gradients_need_as_many_steps_as_weights(rule: str, size: int) -> None:
    w, _, best, loss = quadratic(size)
    optimiser = ConjugateGradient([w], rule=rule, curvature=EXACT)
    for _ in range(size):
        assert not torch.allclose(w.detach(), best, rtol=1e-5, atol=1e-5)
        optimiser.step(backward(optimiser, loss))
    torch.testing.assert_close(w.detach(), best, rtol=1e-5, atol=1e-5)


def test_bfgs_finds_the_inverse_hessian() -> None:
    w, matrix, best, loss = quadratic()
    optimiser = BFGS([w], curvature=EXACT)
    for _ in range(5):
        optimiser.step(backward(optimiser, loss))
    torch.testing.assert_close(w.detach(), best, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(optimiser.state[w]["inverse"], matrix.inverse(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("made", "options", "steps"),
    [
        (BFGS, {}, 60),
        (ConjugateGradient, {}, 80),
        (ConjugateGradient, {"rule": "Fletcher-Reeves"}, 300),
        (
            torch.optim.LBFGS,
            {"max_iter": 1, "max_eval": 25, "line_search_fn": "strong_wolfe"},
            60,
        ),
    ],
)
def test_the_curved_valley_is_followed_to_its_bottom(made: Any, options: dict[str, Any], steps: int) -> None:
    w, loss = rosenbrock()
    optimiser = made([w], **options)
    losses = [optimiser.step(backward(optimiser, loss)).item() for _ in range(steps)]
    assert losses == sorted(losses, reverse=True)
    torch.testing.assert_close(w.detach(), torch.ones(2, dtype=torch.float64), rtol=1e-3, atol=1e-3)


def linear(rows: int = 30, columns: int = 4) -> tuple[nn.Linear, Tensor, Tensor]:
    torch.manual_seed(1)
    return nn.Linear(columns, 1).double(), torch.randn(rows, columns).double(), torch.randn(rows, 1).double()


def test_levenberg_marquardt_on_a_linear_network_is_least_squares() -> None:
    model, x, y = linear()
    optimiser = LevenbergMarquardt(model.parameters(), damping=1e-6)
    first = nn.functional.mse_loss(model(x), y).item()
    assert optimiser.step(lambda: residuals(model(x), y)).item() == pytest.approx(first)
    for _ in range(3):
        optimiser.step(lambda: residuals(model(x), y))
    with_ones = torch.cat([x, torch.ones(len(x), 1).double()], 1)
    wanted = torch.linalg.lstsq(with_ones, y).solution[:, 0]
    found = torch.cat([model.weight[0], model.bias]).detach()
    torch.testing.assert_close(found, wanted, rtol=1e-8, atol=1e-8)


def test_one_step_with_much_damping_is_a_short_step_down_the_slope() -> None:
    """Seed 000 D.1: λ ≫ gives steepest descent."""
    model, x, y = linear()
    start = [one.detach().clone() for one in model.parameters()]
    LevenbergMarquardt(model.parameters(), damping=1e6).step(lambda: residuals(model(x), y))
    for one, before in zip(model.parameters(), start, strict=True):
        assert one.grad is not None
        torch.testing.assert_close(one - before, -one.grad / 2 / 1e6, rtol=1e-4, atol=1e-12)


def test_the_damping_falls_with_good_steps_and_grows_with_bad_ones() -> None:
    w = weight(3.0)
    optimiser = LevenbergMarquardt([w], damping=1e-3)
    losses = [optimiser.step(lambda: torch.atan(w)).item() for _ in range(8)]  # full steps overshoot at 3
    assert optimiser.state[w]["damping"] < 1e-5
    assert losses[1] < losses[0] and losses[-1] < 1e-12
    first = LevenbergMarquardt([weight(3.0)], damping=1e-3)
    (v,) = first.param_groups[0]["params"]
    first.step(lambda: torch.atan(v))
    assert first.state[v]["damping"] > 1e-3


def test_the_sum_of_squared_residuals_is_the_mean_squared_error() -> None:
    made, true = torch.randn(6, 2), torch.randn(6, 2)
    torch.testing.assert_close(residuals(made, true).square().sum(), nn.functional.mse_loss(made, true))


@pytest.mark.parametrize("rows", [1, 3, 128])
def test_the_jacobian_is_that_of_the_network(rows: int) -> None:
    model, x, _ = network()
    values = model(x).flatten()[:7]
    found = jacobian_of(values, list(model.parameters()), rows)
    for row, value in zip(found, values, strict=True):
        wanted = torch.autograd.grad(value, list(model.parameters()), retain_graph=True)
        torch.testing.assert_close(row, torch.cat([part.flatten() for part in wanted]))


@pytest.mark.parametrize("search", ["Armijo", "strong Wolfe", "bracketing"])
def test_a_line_search_lowers_the_loss_at_each_step_without_a_rate(search: str) -> None:
    w, _, best, loss = quadratic()
    optimiser = LineSearch([w], search=search)
    losses = [optimiser.step(loss).item() for _ in range(200)]
    assert losses == sorted(losses, reverse=True)
    torch.testing.assert_close(w.detach(), best, rtol=1e-2, atol=1e-2)


def test_armijo_takes_the_first_half_that_falls_enough() -> None:
    """½·8w² from 1 with slope 8: 1 − 8t; the loss falls enough first at t = 1/8."""
    w = weight(1.0)
    tried: list[float] = []

    def loss() -> Tensor:
        tried.append(w.item())
        return 4 * (w**2).sum()

    LineSearch([w]).step(loss)
    assert tried == [1.0, -7.0, -3.0, -1.0, 0.0] and w.item() == 0.0


def test_the_steps_of_strong_wolfe_satisfy_it() -> None:
    w, loss = rosenbrock()
    optimiser = LineSearch([w], search="strong Wolfe", curvature=0.5)
    for _ in range(20):
        start = w.detach().clone()
        before = optimiser.step(loss).item()
        slope = torch.autograd.grad(loss(), w)[0]
        with torch.no_grad():
            end = w.clone()
            w.copy_(start)
        first = torch.autograd.grad(loss(), w)[0]
        with torch.no_grad():
            w.copy_(end)
        along = (end - start).dot(first).item()
        assert loss().item() <= before + 1e-4 * along
        assert abs((end - start).dot(slope).item()) <= 0.5 * abs(along) * (1 + 1e-9)


@pytest.mark.parametrize(("start", "best"), [(1.0, 4.0), (64.0, 4.0), (4.0, 4.0), (2.0, 4.0)])
def test_bracketing_doubles_or_halves_to_the_best(start: float, best: float) -> None:
    assert bracketed(lambda length: (length - 4.5) ** 2, start, 4.5**2) == best


def test_bracketing_stays_where_nothing_is_better() -> None:
    assert bracketed(lambda length: 1 + length, 1.0, 1.0) == 0.0


@pytest.mark.parametrize(
    "made",
    [LineSearch, Newton, lambda w: LineSearch(w, search="bracketing")],
    ids=["armijo", "newton", "double"],
)
def test_lengths_that_leave_the_numbers_are_not_taken(made: Any) -> None:
    w = weight(0.5)
    optimiser = made([w])
    losses = [optimiser.step(lambda: (w - w.log()).sum()).item() for _ in range(40)]  # no number below 0
    assert losses == sorted(losses, reverse=True) and losses[-1] == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("made", [BFGS, ConjugateGradient, lambda w: LineSearch(w, search="strong Wolfe")])
def test_a_wall_of_infinities_turns_the_search_back(made: Any) -> None:
    w = weight(0.9)
    optimiser = made([w])
    kind = (
        (lambda loss: loss) if isinstance(optimiser, LineSearch) else (lambda loss: backward(optimiser, loss))
    )
    losses = [optimiser.step(kind(lambda: (5 * w - w.log()).sum())).item() for _ in range(30)]
    assert losses == sorted(losses, reverse=True) and w.item() == pytest.approx(0.2, abs=1e-4)


@pytest.mark.parametrize("made", [BFGS, ConjugateGradient])
def test_at_the_bottom_nothing_moves(made: Any) -> None:
    w = weight(0.0, 0.0)
    optimiser = made([w])
    optimiser.step(backward(optimiser, lambda: (w**2).sum()))
    assert w.tolist() == [0.0, 0.0]


def kinds() -> list[Any]:
    return [
        pytest.param(BFGS, "gradient", id="bfgs"),
        pytest.param(ConjugateGradient, "gradient", id="cg"),
        pytest.param(LineSearch, "loss", id="armijo"),
        pytest.param(lambda w: LineSearch(w, search="strong Wolfe"), "loss", id="wolfe"),
        pytest.param(Newton, "loss", id="newton"),
        pytest.param(LevenbergMarquardt, "residuals", id="lm"),
    ]


@pytest.mark.parametrize(("made", "kind"), kinds())
def test_an_error_in_the_closure_changes_no_weight(made: Any, kind: str) -> None:
    model, x, y = network()
    optimiser = made(model.parameters())
    calls = 0

    def closure() -> Tensor:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise ValueError
        if kind == "residuals":
            return residuals(model(x), y)
        loss = nn.functional.mse_loss(model(x), y)
        if kind == "gradient":
            optimiser.zero_grad()
            loss.backward()
        return loss

    before = [one.detach().clone() for one in model.parameters()]
    with pytest.raises(ValueError):
        optimiser.step(closure)
    assert all(map(torch.equal, model.parameters(), before))


@pytest.mark.parametrize(("made", "kind"), kinds())
def test_without_a_closure_they_say_what_they_need(made: Any, kind: str) -> None:
    with pytest.raises(RuntimeError, match="need"):
        made([weight(1.0)]).step()
