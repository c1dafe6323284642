"""Projections against closed forms and scikit-learn."""

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA

from engine.look.layers.projection import likeness, neighbours_kept, principal, same_signs, turned_onto


def drawn(rows: int, columns: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(3)
    return torch.randn(rows, columns, generator=generator) * torch.arange(1, columns + 1)


@pytest.mark.parametrize("shape", [(60, 5), (12, 40)])
def test_principal_components_are_those_of_scikit_learn(shape: tuple[int, int]) -> None:
    values = drawn(*shape)
    places, shares = principal(values)
    reference = PCA(2).fit(values.numpy())
    right = reference.transform(values.numpy())
    np.testing.assert_allclose(np.abs(places), np.abs(right), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(shares, reference.explained_variance_ratio_, rtol=1e-4)


def test_what_is_constant_or_has_one_column_has_places_too() -> None:
    places, shares = principal(torch.ones(4, 3))
    np.testing.assert_allclose(places, 0)
    assert shares == [0.0, 0.0]
    places, shares = principal(torch.tensor([[1.0], [2.0], [3.0]]))
    np.testing.assert_allclose(np.abs(places[:, 0]), [1, 0, 1], atol=1e-6)
    np.testing.assert_allclose(places[:, 1], 0)
    np.testing.assert_allclose(shares, [1, 0])


def test_a_picture_does_not_flip() -> None:
    before = np.array([[1.0, 2.0], [-1.0, 0.5], [0.0, -2.5]])
    np.testing.assert_allclose(same_signs(before * [-1, 1], before), before)
    np.testing.assert_allclose(same_signs(before, None), before)
    angle = 0.7
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    np.testing.assert_allclose(turned_onto(before @ turn * [1, -1] + 5, before), before, atol=1e-9)


def test_neighbours_stay_neighbours_and_the_next_layout_looks_like_the_last() -> None:
    generator = torch.Generator().manual_seed(0)
    groups = torch.arange(60) // 30
    values = torch.randn(60, 8, generator=generator) + 12.0 * groups[:, None]
    places = neighbours_kept(values, "t-SNE")
    near = [np.argsort(((places - place) ** 2).sum(1))[1] for place in places]
    assert all(groups[one] == groups[index] for index, one in enumerate(near))
    again = neighbours_kept(values + 0.01, "t-SNE", before=places)
    centres = np.array([[found[groups == group].mean(0) for group in (0, 1)] for found in (places, again)])
    apart = np.linalg.norm(centres[0][0] - centres[0][1])
    assert np.linalg.norm(centres[0] - centres[1], axis=1).max() < apart / 2


def test_examples_that_are_all_alike_lie_in_one_place() -> None:
    np.testing.assert_allclose(neighbours_kept(torch.ones(9, 4), "t-SNE"), 0)


def test_likeness_is_one_up_to_rotation_and_scale_and_zero_for_what_is_unrelated() -> None:
    values = drawn(40, 4)
    turn, _ = torch.linalg.qr(drawn(4, 4))
    found = likeness([values, 3 * values @ turn, torch.ones(40, 2)])
    np.testing.assert_allclose(found[0, 1], 1, rtol=1e-5)
    np.testing.assert_allclose(np.diag(found)[:2], 1)
    assert np.isnan(found[2, 0])
    square = torch.tensor([[1.0], [1.0], [-1.0], [-1.0]])
    other = torch.tensor([[1.0], [-1.0], [1.0], [-1.0]])
    np.testing.assert_allclose(likeness([square, other])[0, 1], 0, atol=1e-12)


def test_likeness_by_the_formula_over_features() -> None:
    one, other = drawn(30, 3), drawn(30, 5).flip(1)
    x, y = one - one.mean(0), other - other.mean(0)
    right = (y.T @ x).norm() ** 2 / ((x.T @ x).norm() * (y.T @ y).norm())
    np.testing.assert_allclose(likeness([one, other])[0, 1], right.item(), rtol=1e-5)
