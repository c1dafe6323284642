"""Encodings against scikit-learn, scipy and the formulas they stand for."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy.interpolate import BSpline
from sklearn.preprocessing import PolynomialFeatures

from tests.nodes.values import built, close, through

X = torch.rand(6, 3, generator=torch.Generator().manual_seed(1)) * 2 - 1
CLASSES = torch.tensor([[0, 3, 1], [2, 2, 5]])


def test_one_hot() -> None:
    found = through("OneHot", {"classes": 4}, CLASSES)
    assert torch.equal(found[:1], torch.nn.functional.one_hot(CLASSES[:1], 4).float())
    assert not found[1, 2].any()  # a class outside has no place


def test_thermometer() -> None:
    found = through("Thermometer", {"classes": 4}, CLASSES)
    assert found[0].tolist() == [[0, 0, 0], [1, 1, 1], [1, 0, 0]]


@pytest.mark.parametrize("degree", [1, 2, 4])
def test_polynomials_are_those_of_scikit_learn(degree: int) -> None:
    wanted = PolynomialFeatures(degree, include_bias=False).fit_transform(X.double().numpy())
    found = through("PolynomialFeatures", {"degree": degree}, X)
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-5, atol=1e-6)
    powers = through("PolynomialFeatures", {"degree": degree, "interactions": False}, X)
    assert close(powers, torch.cat([X**power for power in range(1, degree + 1)], 1))


def test_sines_of_an_hour() -> None:
    hours = torch.tensor([[0.0], [6.0], [12.0], [30.0]])
    found = through("Waves", {"count": 2, "period": 24.0}, hours)
    wanted = [
        [f(2 * math.pi * k * hour / 24) for f in (math.sin, math.cos) for k in (1, 2)]
        for hour in (0, 6, 12, 30)
    ]
    assert torch.allclose(found, torch.tensor(wanted), atol=1e-5)
    octaves = through("Waves", {"count": 3, "period": 1.0, "octaves": True}, X)
    angle = 2 * math.pi * X[:, :1] * torch.tensor([1.0, 2.0, 4.0])
    assert torch.allclose(octaves[:, :6], torch.cat((angle.sin(), angle.cos()), 1), atol=1e-5)


def test_random_fourier_features_come_near_the_kernel() -> None:
    params = {"count": 20_000, "width": 0.7, "seed": 3}
    torch.manual_seed(0)
    found = through("RandomFourierFeatures", params, X)
    torch.manual_seed(1)
    assert torch.equal(found, through("RandomFourierFeatures", params, X))  # the seed is its own
    kernel = torch.exp(-torch.cdist(X, X).square() / (2 * 0.7**2))
    assert torch.allclose(found @ found.T, kernel, atol=0.03)


def test_bumps() -> None:
    found = through("RadialBasis", {"count": 5, "low": -1.0, "high": 1.0, "width": 2.0}, X)
    centres = torch.linspace(-1, 1, 5)
    wanted = torch.exp(-((X[:, :, None] - centres) ** 2) / 2).flatten(1)
    assert close(found, wanted)


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
def test_splines_are_those_of_scipy(degree: int) -> None:
    intervals, low, high = 4, -1.0, 1.5
    x = torch.linspace(low, high, 41)[:, None]
    params = {"intervals": intervals, "degree": degree, "low": low, "high": high}
    found = through("SplineBasis", params, x)
    step = (high - low) / intervals
    knots = low + step * np.arange(-degree, intervals + degree + 1)
    inside = np.clip(x[:, 0].double().numpy(), low, high - 1e-12)
    wanted = BSpline.design_matrix(inside, knots, degree).toarray()
    np.testing.assert_allclose(found.numpy(), wanted, atol=2e-6)
    assert torch.allclose(found.sum(1), torch.ones(41), atol=1e-5)
    far = through("SplineBasis", params, torch.tensor([[100.0], [-100.0]]))
    assert not far.any()


def test_positions_are_added_or_joined() -> None:
    x = torch.rand(2, 5, 6)
    table = torch.tensor(
        [
            [(math.sin if i % 2 == 0 else math.cos)(t / 10000 ** (2 * (i // 2) / 6)) for i in range(6)]
            for t in range(5)
        ]
    )
    assert torch.allclose(through("PositionalEncoding", None, x), x + table, atol=1e-6)
    joined = through("PositionalEncoding", {"joined": True, "size": 3}, x)
    assert joined.shape == (2, 5, 9) and torch.equal(joined[..., :6], x)
    model, layer = built("PositionalEncoding", {"learned": True}, (5, 6))
    positions = getattr(model, layer).positions
    assert torch.equal(model(x), x + positions) and positions.requires_grad
    model(x).sum().backward()
    assert positions.grad.eq(2).all()
