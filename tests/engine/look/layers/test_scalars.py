"""Scalar graphs: the worked example of seed 000 App. B, and every derivative against autograd."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from engine.errors import NeuroloomError
from engine.look.layers.scalars import Taken, taken_apart

W1 = [[0.4, 0.2, -1.2], [0.7, -0.7, -0.7]]
W2 = [0.4, -0.5, 2.3]
INPUTS = [[1.0, 1.0, 1.0], [1.0, 0.0, -2.0], [1.0, -1.0, 1.0]]
TARGETS = [-1.0, 1.0, 1.0]


def worked(row: int, bent: bool = False) -> Taken:
    """The 2-2-1 net of seed 000 App. B for one of its examples (E20), its biases as a first input of one."""
    x, first, second = torch.tensor(INPUTS[row]), torch.tensor(W1), torch.tensor(W2)
    target = torch.tensor(TARGETS[row])

    def loss() -> Tensor:
        hidden = torch.cat([torch.ones(1), torch.sigmoid(first @ x)])
        output = second @ hidden
        return ((torch.sigmoid(output) if bent else output) - target) ** 2 / 2

    names = [(x, "x", "input", ""), (first, "v", "weight", "n1"), (second, "w", "weight", "n2")]
    return taken_apart(loss, names)


def numbers(taken: Taken, label: str) -> list[float]:
    return [number.value for number in taken.numbers if number.label == label]


def slopes(taken: Taken, letter: str) -> list[float]:
    return [number.derivative for number in taken.numbers if number.label.startswith(f"{letter}[")]


def test_forward_values_of_the_worked_example() -> None:
    found = [worked(row) for row in range(3)]
    np.testing.assert_allclose(
        [numbers(taken, "σ") for taken in found], [[0.354, 0.332], [0.943, 0.891], [0.269, 0.668]], atol=6e-4
    )
    sums = [numbers(taken, "+") for taken in found]
    np.testing.assert_allclose(
        sums, [[-0.6, -0.7, 0.986], [2.8, 2.1, 1.978], [-1.0, 0.7, 1.802]], rtol=0, atol=6e-4
    )
    losses = [taken.numbers[-1].value for taken in found]
    np.testing.assert_allclose(losses, [1.972, 0.478, 0.322], atol=6e-4)
    assert abs(sum(losses) / 3 - 0.924) < 6e-4


def test_derivatives_of_the_worked_example() -> None:
    found = [worked(row) for row in range(3)]
    # Seed 000 prints the sigmoid's slope at a linear output; these are the derivatives of its loss.
    away = [next(n.derivative for n in taken.numbers if n.label == "-") for taken in found]
    np.testing.assert_allclose(away, [1.986, 0.978, 0.802], atol=6e-4)
    np.testing.assert_allclose(
        -np.mean([slopes(taken, "w") for taken in found], 0), [-1.255, -0.614, -0.689], atol=6e-4
    )
    bent = [worked(row, bent=True) for row in range(3)]
    np.testing.assert_allclose(
        -np.mean([slopes(taken, "w") for taken in bent], 0), [-0.104, -0.035, -0.030], atol=6e-4
    )


def against_autograd(compute: Callable[[], Tensor], *tensors: Tensor) -> Taken:
    names = [(tensor, f"t{index}", "weight", "") for index, tensor in enumerate(tensors)]
    taken = taken_apart(compute, names)
    for tensor in tensors:
        tensor.requires_grad_()
    result = compute()
    assert abs(taken.numbers[-1].value - result.item()) < 1e-5
    right = torch.autograd.grad(result, tensors, allow_unused=True, materialize_grads=True)
    for index, slope in enumerate(right):
        found = {
            number.label: number.derivative
            for number in taken.numbers
            if number.label == f"t{index}" or number.label.startswith(f"t{index}[")
        }
        flat = slope.reshape(-1).tolist()
        assert all(
            abs(found.get(f"t{index}[{at + 1}]", found.get(f"t{index}", 0.0)) - value) < 1e-4
            for at, value in enumerate(flat)
        )
    return taken


FUNCTIONS = {
    "relu": torch.relu,
    "tanh": torch.tanh,
    "gelu": F.gelu,
    "silu": F.silu,
    "leaky": F.leaky_relu,
    "exp and log": lambda x: torch.log(1 + torch.exp(x)),
    "softmax": lambda x: F.softmax(x, 0) * torch.arange(3.0),
    "powers": lambda x: (x**3 + x.square()) / (2 + x.abs()),
    "parts": lambda x: torch.stack([x[1:], x[:2].flip(0)]).T * 2 - 1,
    "broadcast": lambda x: x[:, None] * x[None] - x.mean(),
    "elu": F.elu,
    "softplus": F.softplus,
    "hard tanh": F.hardtanh,
    "clamp": lambda x: x.clamp(min=-1),
    "in place": lambda x: (x * 2).add_(1).relu_(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_are_those_of_autograd(name: str) -> None:
    x = torch.tensor([0.5, -1.25, 2.0])
    against_autograd(lambda: FUNCTIONS[name](x).sum(), x)


@pytest.mark.parametrize("loss", ["mse", "cross-entropy", "yes or no"])
def test_losses_over_layers(loss: str) -> None:
    torch.manual_seed(0)
    first, second = nn.Linear(2, 3), nn.Linear(3, 2 if loss == "cross-entropy" else 1)
    x = torch.randn(1, 2)
    right = torch.tensor([1]) if loss == "cross-entropy" else torch.tensor([[1.0]])
    of = {
        "mse": F.mse_loss,
        "cross-entropy": F.cross_entropy,
        "yes or no": F.binary_cross_entropy_with_logits,
    }
    biases = [first.bias, second.bias]
    taken = against_autograd(lambda: of[loss](second(torch.tanh(first(x))), right), *biases)
    assert len(taken.numbers) > 20


def test_what_the_result_does_not_depend_on_is_left_out() -> None:
    x, unused = torch.tensor([1.0, 2.0]), torch.ones(5)

    def compute() -> Tensor:
        unused.sum()
        torch.linalg.norm(unused)
        return x[0] * 3

    taken = taken_apart(compute, [(x, "x", "input", ""), (unused, "u", "input", "")])
    assert [(number.label, number.value) for number in taken.numbers] == [
        ("x[1]", 1.0),
        ("3", 3.0),
        ("×", 3.0),
    ]
    assert [number.derivative for number in taken.numbers] == [3.0, 1.0, 1.0]


def test_what_is_too_large_or_not_understood_says_so() -> None:
    large = torch.ones(30, 30)
    with pytest.raises(NeuroloomError, match="too many"):
        taken_apart(lambda: (large @ large).sum(), [(large, "w", "weight", "")])
    x = torch.tensor([3.0, 4.0])
    with pytest.raises(NeuroloomError, match="cumsum"):
        taken_apart(lambda: x.cumsum(0).sum(), [(x, "x", "input", "")])
    with pytest.raises(NeuroloomError, match="single"):
        taken_apart(lambda: x * 2, [(x, "x", "input", "")])
