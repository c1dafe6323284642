"""Estimators against closed forms and against scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from engine.layers.estimators.gaussian_classes import GaussianClasses
from engine.layers.estimators.gaussian_process import GaussianProcess
from engine.layers.estimators.support_vectors import SupportVectors


def wave(rows: int = 30) -> tuple[torch.Tensor, torch.Tensor]:
    source = torch.Generator().manual_seed(1)
    x = 4 * torch.rand(rows, 1, generator=source) - 2
    return x, torch.sin(2 * x) + 0.1 * torch.randn(rows, 1, generator=source)


def clouds(classes: int, rows: int = 90) -> tuple[torch.Tensor, torch.Tensor]:
    source = torch.Generator().manual_seed(2)
    label = torch.arange(rows) % classes
    angle = 2 * torch.pi * label / classes
    centre = torch.stack([angle.cos(), angle.sin()], 1)
    return centre + 0.6 * torch.randn(rows, 2, generator=source), label


@torch.no_grad()
def test_a_gaussian_process_is_the_closed_form() -> None:
    x, y = wave()
    made = GaussianProcess(1, 1, length=0.7, signal=1.3, noise=0.2, tune=False)
    found = made.fit(x, y)
    rows, wanted = x.double().numpy(), y.double().numpy()
    level = wanted.mean()

    def kernel(one: np.ndarray, other: np.ndarray) -> np.ndarray:
        return 1.3**2 * np.exp(-((one - other.T) ** 2) / (2 * 0.7**2))

    covariance = kernel(rows, rows) + 0.2**2 * np.eye(len(rows))
    at = np.linspace(-3, 3, 25)[:, None]
    between = kernel(at, rows)
    mean = level + between @ np.linalg.solve(covariance, wanted - level)
    variance = 1.3**2 + 0.2**2 - np.einsum("ij,ji->i", between, np.linalg.solve(covariance, between.T))
    answer, spread = made(torch.from_numpy(at).float())
    assert answer.numpy() == pytest.approx(mean, abs=1e-4)
    assert spread[:, 0].exp().numpy() == pytest.approx(variance, rel=1e-3)
    off = (wanted - level)[:, 0]
    surprise = 0.5 * off @ np.linalg.solve(covariance, off) + 0.5 * np.linalg.slogdet(covariance)[1]
    assert float(found["loss"]) == pytest.approx(surprise / len(rows) + 0.5 * np.log(2 * np.pi), rel=1e-5)


@torch.no_grad()
def test_its_scales_are_those_that_make_the_rows_most_likely() -> None:
    x, y = wave()
    made = GaussianProcess(1, 1)
    loss = float(made.fit(x, y)["loss"])
    length, signal, noise = made.scales.tolist()
    assert noise == pytest.approx(0.1, abs=0.04)
    other = GaussianProcessRegressor(ConstantKernel() * RBF() + WhiteKernel(), random_state=3)
    other.fit(x.double().numpy(), (y - y.mean()).double().numpy())
    assert -loss == pytest.approx(other.log_marginal_likelihood_value_ / len(x), abs=2e-3)
    for change in (0.8, 1.25):
        for scales in (
            (length * change, signal, noise),
            (length, signal * change, noise),
            (length, signal, noise * change),
        ):
            held = GaussianProcess(1, 1, *scales, tune=False)
            assert float(held.fit(x, y)["loss"]) > loss


@torch.no_grad()
def test_of_many_rows_it_takes_as_many_as_it_may_evenly() -> None:
    x, y = wave(100)
    made = GaussianProcess(1, 1, tune=False, most=30)
    made.fit(x, y)
    assert torch.equal(made.rows, x[::4])


@torch.no_grad()
@pytest.mark.parametrize("kernel", ["Gaussian", "linear"])
def test_support_vectors_are_those_of_the_dual(kernel: str) -> None:
    x, label = clouds(2)
    made = SupportVectors(2, kernel=kernel, c=2.0, gamma=0.5)
    found = made.fit(x, label)
    other = SVC(C=2.0, kernel="rbf" if kernel == "Gaussian" else "linear", gamma=0.5).fit(
        x.numpy(), label.numpy()
    )
    assert made(x)[:, 0].numpy() == pytest.approx(other.decision_function(x.numpy()), abs=2e-3)
    assert int(found["support_vectors"]) == len(other.support_) < len(x)
    # The conditions of an optimum: rows off the street have no multiplier, those inside it have C.
    margin = (2 * label - 1) * made(x)[:, 0]
    held = (x[:, None] == made.rows[None]).all(-1).any(1)
    assert bool((margin[~held] > 1 - 1e-2).all())
    assert bool((made.weights.abs() <= 2.0 + 1e-5).all())
    assert float(made.weights.sum()) == pytest.approx(0, abs=1e-3)


@torch.no_grad()
def test_several_classes_have_a_score_each() -> None:
    x, label = clouds(4, 200)
    made = SupportVectors(2, classes=4, gamma=0.5)
    made.fit(x, label)
    assert made(x).shape == (200, 4)
    assert float((made(x).argmax(1) == label).float().mean()) > 0.75


@torch.no_grad()
def test_what_was_fitted_is_stored_as_plain_numbers() -> None:
    x, y = wave()
    fitted, empty = GaussianProcess(1, 1), GaussianProcess(1, 1)
    assert empty(x)[0].shape == y.shape  # before it has seen any row
    fitted.fit(x, y)
    empty.load_state_dict(fitted.state_dict())
    assert torch.equal(fitted(x)[0], empty(x)[0]) and torch.equal(fitted(x)[1], empty(x)[1])


@torch.no_grad()
@pytest.mark.parametrize(
    ("covariance", "shrinkage", "other"),
    [
        ("shared", 0.0, LinearDiscriminantAnalysis()),
        ("own", 0.0, QuadraticDiscriminantAnalysis()),
        ("own", 0.3, QuadraticDiscriminantAnalysis(reg_param=0.3)),
        ("diagonal", 0.0, GaussianNB()),
    ],
)
def test_gaussian_classes_are_those_of_scikit_learn(covariance: str, shrinkage: float, other: Any) -> None:
    x, label = clouds(3, 90)
    x, label = x[:80] @ torch.tensor([[1.0, 0.4], [0.0, 0.7]]), label[:80]  # not as many of each
    made = GaussianClasses(2, 3, covariance, shrinkage)
    found = made.fit(x, label)
    other.fit(x.numpy(), label.numpy())
    wanted = other.predict_proba(x.numpy())
    assert made(x).softmax(1).numpy() == pytest.approx(wanted, abs=1e-5)
    assert float(found["loss"]) == pytest.approx(log_loss(label.numpy(), wanted), abs=1e-5)
    if isinstance(other, GaussianNB):  # it knows the density, too
        wanted = other.predict_joint_log_proba(x.numpy())
        assert made(x).numpy() == pytest.approx(wanted, abs=1e-4)
