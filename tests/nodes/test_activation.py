"""Activations against their formulas, as nodes and as the choice of a layer."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from nodes.activation import CHOICES
from tests.nodes.values import built, close, through

X = torch.linspace(-3, 3, 24).reshape(4, 6)
FORMULAS = {
    "ReLU": lambda x: x.clamp(min=0),
    "LeakyReLU": lambda x: torch.where(x > 0, x, 0.01 * x),
    "GELU": lambda x: x * (1 + torch.erf(x / math.sqrt(2))) / 2,
    "SiLU": lambda x: x / (1 + torch.exp(-x)),
    "Sigmoid": lambda x: 1 / (1 + torch.exp(-x)),
    "Tanh": lambda x: (torch.exp(x) - torch.exp(-x)) / (torch.exp(x) + torch.exp(-x)),
    "Softplus": lambda x: torch.log(1 + torch.exp(x)),
    "Hardtanh": lambda x: x.clamp(-1, 1),
    "Softmax": lambda x: torch.exp(x) / torch.exp(x).sum(1, keepdim=True),
}
AS_CHOICE = {
    "ReLU": "ReLU",
    "leaky ReLU": "LeakyReLU",
    "GELU": "GELU",
    "SiLU": "SiLU",
    "sigmoid": "Sigmoid",
    "tanh": "Tanh",
    "softplus": "Softplus",
    "hard tanh": "Hardtanh",
}


@pytest.mark.parametrize("type_id", FORMULAS)
def test_a_node_computes_its_formula(type_id: str) -> None:
    assert close(through(type_id, None, X), FORMULAS[type_id](X))


@pytest.mark.parametrize("choice", CHOICES)
def test_a_layer_applies_the_activation_it_names(choice: str) -> None:
    model, layer = built("Linear", {"units": 5, "activation": choice}, (6,))
    scores: Tensor = getattr(model, layer)(X)
    wanted = scores if choice == "none" else FORMULAS[AS_CHOICE[choice]](scores)
    assert close(model(X), wanted)


def test_the_slope_of_a_leaky_relu_counts() -> None:
    assert close(through("LeakyReLU", {"slope": 0.25}, X), torch.where(X > 0, X, X / 4))


def test_softmax_runs_along_the_axis_it_is_told() -> None:
    x = torch.randn(2, 3, 4)
    assert close(through("Softmax", {"axis": -1}, x).sum(2), torch.ones(2, 3))
    assert close(through("Softmax", {"axis": 1}, x).sum(1), torch.ones(2, 4))
