"""Version spaces against perceptrons by hand, support vector machines and Cover's counts."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.svm import SVC

from engine.feed.feed import Probe
from engine.look.landscape.version_space import (
    mistakes_by_direction,
    separable_labellings,
    widest_margin,
)
from tests.bench.setting import gallery_project
from tests.engine.look.taking import take
from tests.engine.train.networks import run_of

GATES = np.array([[-1.0, -1, 1], [-1, 1, 1], [1, -1, 1], [1, 1, 1]])


@pytest.mark.parametrize(("rows", "dimensions", "count"), [(4, 2, 8), (6, 3, 32), (8, 3, 58), (4, 3, 14)])
def test_as_many_labellings_are_separable_as_cover_says(rows: int, dimensions: int, count: int) -> None:
    assert separable_labellings(rows, dimensions) == count
    points = np.random.default_rng(5).normal(size=(rows, dimensions))
    found = 0
    for signs in product((-1.0, 1.0), repeat=rows):
        signed = np.array(signs)[:, None] * points
        free = [(None, None)] * dimensions
        feasible = linprog(np.zeros(dimensions), -signed, -np.ones(rows), bounds=free).success
        assert feasible == (widest_margin(signed) > 0)
        found += feasible
    assert found == count


def test_the_widest_margin_is_that_of_a_support_vector_machine() -> None:
    draw = np.random.default_rng(2)
    points = draw.normal(size=(60, 3))
    right = np.sign(points @ np.array([1.0, -2.0, 0.5]))
    # With each row and its opposite the boundary goes through 0, as that of a machine without a bias.
    machine = SVC(C=1e8, kernel="linear", tol=1e-8)
    machine.fit(np.vstack([points, -points]), np.append(right, -right))
    wanted = 1 / np.linalg.norm(machine.coef_)
    assert widest_margin(right[:, None] * points) == pytest.approx(wanted, rel=1e-5)


def test_the_perceptrons_of_the_gates() -> None:
    run = run_of(gallery_project("perceptron-gates"))
    while run.epoch < 8:
        run.advance()
    both, differ = take(run, Probe("n2", "version_space", ()), Probe("n6", "version_space", ()))
    assert both.extra["bound"] == pytest.approx(9)  # R² = 3, γ² = 1/3
    assert 0 < both.extra["updates"] <= 9 and both.extra["mistakes"] == 0
    assert both.extra["widest"] == pytest.approx(3**-0.5)
    assert 0 < both.extra["margin"] <= both.extra["widest"] + 1e-9
    assert (both.extra["separable"], both.extra["labellings"]) == (14, 16)
    # AND is one of eight gates with one row apart; its weights are about one in sixteen of all directions.
    signed = GATES * np.array([-1, -1, -1, 1.0])[:, None]
    np.testing.assert_array_equal(both.array, mistakes_by_direction(signed))
    draws = np.random.default_rng(1).normal(size=(200_000, 3))
    part = (draws @ signed.T > 0).all(1).mean()
    assert (both.array == 0).mean() == pytest.approx(part, abs=0.01)
    assert differ.extra["widest"] == 0 and differ.extra["bound"] == np.inf and differ.array.min() == 1
