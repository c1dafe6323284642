"""Layers that rearrange numbers lose none and keep examples apart."""

from __future__ import annotations

import torch

from tests.nodes.values import through

X = torch.arange(48.0).reshape(2, 2, 3, 4)


def test_numbers_are_laid_in_a_row_in_their_order() -> None:
    assert torch.equal(through("Flatten", None, X), torch.arange(48.0).reshape(2, 24))


def test_numbers_are_rearranged_in_their_order() -> None:
    assert torch.equal(through("Reshape", {"shape": (4, -1)}, X), torch.arange(48.0).reshape(2, 4, 6))
    assert torch.equal(through("Reshape", {"shape": (24,)}, X), torch.arange(48.0).reshape(2, 24))


def test_axes_are_swapped() -> None:
    found = through("Transpose", {"first": 1, "second": 3}, X)
    assert found.shape == (2, 4, 3, 2) and found[1, 3, 2, 0] == X[1, 0, 2, 3]


def test_whole_numbers_stay_whole() -> None:
    words = torch.arange(6).reshape(1, 2, 3)
    assert through("Flatten", None, words).tolist() == [[0, 1, 2, 3, 4, 5]]
