"""Drawings come to the size and place that MNIST's digits have."""

import numpy as np
import pytest

from engine.data.sets.mnist import load_mnist
from engine.look.images.ink import centred
from tests.engine.train.networks import DATASETS


def test_a_square_fills_the_box_and_stands_in_the_middle() -> None:
    ink = np.zeros((280, 280))
    ink[10:60, 200:250] = 1
    found = centred(ink, 28, 28, 20, by_mass=True)
    rows, columns = np.nonzero(found > 0.5)
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (4, 23, 4, 23)
    assert found.max() == 1.0 and found.sum() == pytest.approx(400)


def test_the_longer_side_gives_the_scale() -> None:
    ink = np.zeros((100, 100))
    ink[20:80, 40:50] = 1
    found = centred(ink, 28, 28, 20, by_mass=False)
    assert (found.sum(axis=1) > 0).sum() == 20
    assert found.sum() == pytest.approx(20 * 20 / 6, rel=1e-6)


def test_the_mass_stands_in_the_middle() -> None:
    ink = np.zeros((280, 280))
    ink[50:250, 100:120] = 1
    ink[230:250, 100:200] = 1  # an L
    found = centred(ink, 28, 28, 20, by_mass=True)
    at = np.arange(28) + 0.5
    assert (found.sum(axis=1) * at).sum() / found.sum() == pytest.approx(14.5, abs=0.5)
    assert (found.sum(axis=0) * at).sum() / found.sum() == pytest.approx(14.5, abs=0.5)


def test_nothing_drawn_is_nothing() -> None:
    assert not centred(np.zeros((50, 50)), 8, 8, 8, by_mass=True).any()


def test_a_digit_of_mnist_drawn_large_comes_back_as_it_was() -> None:
    images = load_mnist(DATASETS, "cpu")["test"]["image"][:50, 0].numpy()
    for image in images:
        large = np.pad(np.kron(image, np.ones((10, 10))), ((0, 40), (20, 0)))
        np.testing.assert_allclose(centred(large, 28, 28, 20, by_mass=True), image, atol=1e-6)
