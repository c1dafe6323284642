"""Penalties against their formulas; biases and norms are left alone."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from engine.catalogue.symbols import evaluate, name
from engine.catalogue.training.penalties import PENALTIES, l1, l2, make_penalty, weight_elimination
from engine.data.portable import portable_source
from engine.document.plan import Choice, Minimise
from engine.emit.optimise import carried_by, optimiser_lines, penalty_terms
from engine.emit.statements import printed
from engine.errors import ParamError
from engine.optim.zeros import with_zeros


@pytest.fixture
def layer() -> nn.Linear:
    made = nn.Linear(3, 2)
    with torch.no_grad():
        made.weight.copy_(torch.tensor([[1.0, -2.0, 0.0], [0.5, 0.0, 3.0]]))
        made.bias.fill_(100.0)
    return made


def test_each_is_its_formula(layer: nn.Linear) -> None:
    weights = list(layer.parameters())
    assert l1(weights, 0.1).item() == pytest.approx(0.65)
    assert l2(weights, 0.1).item() == pytest.approx(0.05 * 14.25)
    counted = sum((w / 2) ** 2 / (1 + (w / 2) ** 2) for w in (1, 2, 0.5, 3))
    assert weight_elimination(weights, 0.1, 2.0).item() == pytest.approx(0.1 * counted)


def test_the_slope_of_l2_is_weight_decay_and_biases_have_none(layer: nn.Linear) -> None:
    """E = 0 lets weights fall by exp(−η ν τ) (seed 000 D.3)."""
    l2(list(layer.parameters()), 0.1).backward()
    torch.testing.assert_close(layer.weight.grad, 0.1 * layer.weight.detach())
    assert layer.bias.grad is None


def test_elimination_spares_large_weights() -> None:
    slopes = []
    for size in (0.3, 30.0):
        weight = nn.Parameter(torch.full((1, 1), size))
        weight_elimination([weight], 1.0, 1.0).backward()
        slopes.append(weight.grad.item())
    assert slopes[0] > 100 * slopes[1] > 0


@pytest.mark.parametrize(
    "choice",
    [
        Choice("GradientDescent", {"lr": 0.1}),
        Choice("SGD", {"lr": 0.02, "momentum": 0.9}),
        Choice("Adam", {"lr": 0.003}),
        Choice("RMSprop", {"lr": 0.001}),
    ],
    ids=lambda choice: choice.name,
)
def test_l1_ends_at_the_zeros_of_the_lasso(choice: Choice) -> None:
    """½ mean (y - X w)² + λ |w|₁, as scikit-learn's coordinate descent solves it."""
    from sklearn.linear_model import Lasso

    draw = torch.Generator().manual_seed(3)
    x = torch.randn(60, 12, generator=draw, dtype=torch.float64)
    y = x[:, :3] @ torch.tensor([[2.0], [-1.5], [0.7]]).double()
    y = y + 0.3 * torch.randn(60, 1, generator=draw, dtype=torch.float64)
    there = torch.tensor(Lasso(alpha=0.2, fit_intercept=False, tol=1e-12).fit(x.numpy(), y.numpy()).coef_)
    objective = Minimise(optimiser=choice, penalties=(Choice("L1", {"strength": 0.2}),))
    model = nn.Linear(12, 1, bias=False).double()
    names: dict[str, object] = {"torch": torch, "nn": nn, "Model": nn.Module, "with_zeros": with_zeros}
    names |= {one.__name__: one for one in carried_by(objective)}
    exec("\n".join(line.plain for line in printed(optimiser_lines(objective))), names)
    optimiser = names["optimiser_for"](model)  # type: ignore[operator]
    for _ in range(4000):
        optimiser.zero_grad()
        loss = (y - model(x)).square().mean() / 2 + l1(list(model.parameters()), 0.2)
        loss.backward()
        optimiser.step()
    found = model.weight.detach()[0]
    assert torch.equal(found == 0, there == 0) and 0 < int((there == 0).sum()) < 12
    torch.testing.assert_close(found, there, atol=2e-3, rtol=0)


def test_zeros_are_held_only_where_there_is_an_l1_and_one_gradient_a_step() -> None:
    l1s = (Choice("L1"), Choice("L1", {"strength": 0.5}))
    for optimiser, penalties, told in (
        ("SGD", l1s, True),
        ("SGD", (Choice("L2"),), False),
        ("LBFGS", l1s, False),
        ("Nesterov", l1s, False),
    ):
        objective = Minimise(optimiser=Choice(optimiser), penalties=penalties)
        text = "\n".join(line.plain for line in printed(optimiser_lines(objective)))
        assert ("with_zeros" in text) == told == (with_zeros in carried_by(objective))
        assert not told or "0.5001)" in text


@pytest.mark.parametrize("choice", [Choice(found) for found in PENALTIES], ids=list(PENALTIES))
def test_the_term_in_the_code_is_the_penalty(choice: Choice, layer: nn.Linear) -> None:
    (term,) = penalty_terms([choice], name("weights"))
    made = make_penalty(choice)
    weights = list(layer.parameters())
    wanted = type(made).function(weights, *(getattr(made, spec.name) for spec in made.params))
    assert evaluate(term, {"weights": weights}) == wanted
    assert str(term).startswith(f"{type(made).function.__name__}(weights, 0.0001")


def test_their_source_stands_by_itself(layer: nn.Linear) -> None:
    names: dict[str, object] = {}
    functions = [found.function for found in PENALTIES.values()]
    exec("\n\n".join(["from __future__ import annotations", *portable_source(functions)]), names)
    assert names["l1"](list(layer.parameters()), 0.1).item() == pytest.approx(0.65)  # type: ignore[operator]


def test_a_wrong_penalty_is_an_error() -> None:
    with pytest.raises(ParamError, match="no penalty called"):
        make_penalty(Choice("L3"))
    with pytest.raises(ParamError):
        make_penalty(Choice("WeightElimination", {"scale": 0}))
