"""First weights have the spread that their formulas say."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import nn

from engine.catalogue import NodeType
from engine.catalogue.params import collect
from engine.catalogue.symbols import name
from engine.catalogue.training.initialisers import (
    DEFAULT,
    INITIALISERS,
    init_param,
    init_scale_param,
    initialise,
)
from engine.errors import ParamError

N, M = 400, 300  # inputs, units


def initialise_lines(attribute: str, choice: str, **options: Any) -> list[str]:
    return [str(line) for line in initialise(getattr(name("self"), attribute), choice, **options)]


def drawn(choice: str, layer: nn.Module | None = None, **options: Any) -> Any:
    """A layer whose weights were drawn by the emitted lines."""
    torch.manual_seed(0)
    holder = nn.Module()
    holder.layer = layer or nn.Linear(N, M)
    for line in initialise_lines("layer", choice, **options):
        exec(line, {"nn": nn, "math": math, "self": holder})
    return holder.layer


@pytest.mark.parametrize(
    ("choice", "variance"),
    [
        ("default", 1 / (3 * N)),
        ("LeCun normal", 1 / N),
        ("LeCun uniform", 1 / N),
        ("Xavier normal", 2 / (N + M)),
        ("Xavier uniform", 2 / (N + M)),
        ("He normal", 2 / N),
        ("He uniform", 2 / N),
        ("NTK", 1 / N),
        ("normal", 0.2**2),
    ],
)
def test_the_variance_is_the_formulas(choice: str, variance: float) -> None:
    layer = drawn(choice, scale=0.2)
    assert layer.weight.var().item() == pytest.approx(variance, rel=0.02)
    assert layer.weight.mean().item() == pytest.approx(0, abs=3e-4 + 0.01 * math.sqrt(variance))
    if "uniform" in choice:
        assert layer.weight.abs().max().item() == pytest.approx(math.sqrt(3 * variance), rel=1e-3)


@pytest.mark.parametrize("choice", [one for one in INITIALISERS if one not in (DEFAULT, "NTK")])
def test_biases_begin_at_zero(choice: str) -> None:
    assert not drawn(choice).bias.any()


def test_ntk_draws_biases_like_weights() -> None:
    assert drawn("NTK").bias.var().item() == pytest.approx(1 / N, rel=0.2)


def test_the_rest() -> None:
    assert not drawn("zeros").weight.any()
    assert (drawn("constant", scale=-0.5).weight == -0.5).all()
    weight = drawn("orthogonal").weight
    torch.testing.assert_close(weight @ weight.T, torch.eye(M), atol=1e-5, rtol=0)
    weight = drawn("truncated normal", scale=0.1).weight
    assert weight.abs().max() <= 0.2 and weight.std().item() == pytest.approx(0.088, rel=0.02)


def test_convolutions_count_their_windows() -> None:
    layer = drawn("He normal", nn.Conv2d(16, 64, 5))
    assert layer.weight.var().item() == pytest.approx(2 / (16 * 25), rel=0.03)


def test_other_tensors_can_be_named_and_a_missing_bias_left_out() -> None:
    layer = drawn("orthogonal", nn.RNN(4, 6), weights=("weight_hh_l0",), biases=("bias_hh_l0",))
    torch.testing.assert_close(layer.weight_hh_l0 @ layer.weight_hh_l0.T, torch.eye(6), atol=1e-5, rtol=0)
    assert initialise_lines("fc", "He normal", biases=()) == [
        "nn.init.kaiming_normal_(self.fc.weight, nonlinearity='relu')"
    ]
    assert initialise_lines("fc", DEFAULT) == []


def test_a_deep_relu_stack_keeps_its_variance_with_he_and_loses_it_with_lecun() -> None:
    """System S14: 20 layers of 512; He .92, LeCun 1.1e-6, of the order."""
    torch.manual_seed(0)
    start = torch.randn(256, 512)
    for choice, low, high in (("He normal", 0.2, 3.0), ("LeCun normal", 1e-7, 1e-5)):
        x = start
        for _ in range(20):
            x = torch.relu(drawn_anew(choice)(x))
        assert low < x.var().item() < high


def drawn_anew(choice: str) -> nn.Linear:
    holder = nn.Module()
    holder.layer = nn.Linear(512, 512)
    for line in initialise_lines("layer", choice):
        exec(line, {"nn": nn, "math": math, "self": holder})
    return holder.layer


def test_node_types_can_declare_it() -> None:
    class Dense(NodeType, abstract=True):
        init: str = init_param()
        init_scale: float = init_scale_param()

    first, second = collect(type("Again", (), dict(vars(Dense)))) or Dense.params
    assert first.choices == tuple(INITIALISERS) and first.default == DEFAULT
    assert second.kind == "float"


def test_wrong_choices_are_errors() -> None:
    with pytest.raises(ParamError, match="no way to draw"):
        initialise_lines("fc", "luck")
    with pytest.raises(ParamError, match="above 0"):
        initialise_lines("fc", "normal", scale=0.0)
