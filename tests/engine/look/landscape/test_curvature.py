"""Eigenvalues of quadratics and of layers whose curvature is known."""

import numpy as np
import pytest
import torch
from torch import nn

from engine.look.landscape.curvature import hessian, hessian_product, jacobian, top_eigenvalue


def quadratic(values: list[float]) -> tuple[torch.Tensor, list[torch.Tensor], torch.Tensor]:
    """½ wᵀAw with these eigenvalues, its weights in two parts, and A."""
    turn, _ = torch.linalg.qr(
        torch.randn(len(values), len(values), generator=torch.Generator().manual_seed(1))
    )
    square = turn @ torch.diag(torch.tensor(values)) @ turn.T
    weights = [torch.ones(2, requires_grad=True), torch.ones(len(values) - 2, requires_grad=True)]
    whole = torch.cat(weights)
    return whole @ square @ whole / 2, weights, square


@pytest.mark.parametrize("values", [[5.0, 2.0, 1.0, -1.0], [3.0, 0.5, -2.0, -9.0], [-1.0, -2.0, -3.0, -4.0]])
def test_the_top_eigenvalue_and_the_hessian_of_a_quadratic(values: list[float]) -> None:
    loss, weights, square = quadratic(values)
    multiply = hessian_product(loss, weights)
    vector = torch.arange(4.0)
    torch.testing.assert_close(multiply(vector), square @ vector, rtol=1e-4, atol=1e-5)
    value, direction = top_eigenvalue(multiply, 4, most=500, tolerance=1e-7)
    assert abs(value - max(values)) < 1e-2
    torch.testing.assert_close(square @ direction, max(values) * direction, rtol=1e-2, atol=3e-2)
    torch.testing.assert_close(hessian(loss, weights), square, rtol=1e-4, atol=1e-5)


def test_least_squares_has_the_curvature_of_its_inputs() -> None:
    generator = torch.Generator().manual_seed(0)
    x, y = torch.randn(30, 3, generator=generator), torch.randn(30, 1, generator=generator)
    layer = nn.Linear(3, 1)
    loss = (layer(x) - y).square().mean() / 2
    ones = torch.cat([x, torch.ones(30, 1)], 1)
    right = torch.linalg.eigvalsh(ones.T @ ones / 30)
    found = torch.linalg.eigvalsh(hessian(loss, list(layer.parameters())))
    torch.testing.assert_close(found, right, rtol=1e-4, atol=1e-5)
    value, _ = top_eigenvalue(hessian_product(loss, list(layer.parameters())), 4, most=300, tolerance=1e-6)
    assert abs(value - right[-1].item()) < 1e-2


def test_weights_that_do_not_matter_have_no_curvature() -> None:
    used, unused = torch.tensor([2.0], requires_grad=True), torch.ones(2, requires_grad=True)
    loss = used.square().sum()
    np.testing.assert_allclose(hessian(loss, [used, unused]).numpy(), np.diag([2.0, 0, 0]))
    assert hessian_product(loss, [used, unused])(torch.ones(3)).tolist() == [2, 0, 0]
    assert hessian_product(used.sum(), [used])(torch.ones(1)).tolist() == [0]


def test_the_jacobian_of_a_linear_layer_is_its_matrix() -> None:
    layer = nn.Linear(3, 2)
    x = torch.ones(1, 3, requires_grad=True)
    torch.testing.assert_close(jacobian(layer(x)[0], x), layer.weight.detach())


def test_a_flat_loss_is_flat() -> None:
    value, _ = top_eigenvalue(lambda vector: torch.zeros_like(vector), 3)
    assert value == 0
