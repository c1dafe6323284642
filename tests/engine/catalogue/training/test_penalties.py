"""Penalties against their formulas; biases and norms are left alone."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from engine.catalogue.symbols import evaluate, name
from engine.catalogue.training.penalties import PENALTIES, l1, l2, make_penalty, weight_elimination
from engine.data.portable import portable_source
from engine.document.plan import Choice
from engine.emit.optimise import penalty_terms
from engine.errors import ParamError


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
