"""Metrics count what they say they count."""

from __future__ import annotations

import pytest
import torch

from tests.engine.sketches import catalogue
from tests.nodes.values import measured


def test_accuracy_of_class_scores() -> None:
    scores = torch.tensor([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]])
    assert measured("Accuracy", None, scores, torch.tensor([1, 0, 0, 0])) == 0.75


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_accuracy_of_yes_or_no_scores(dtype: torch.dtype) -> None:
    scores = torch.tensor([[0.1], [-3.0], [2.0], [0.0]])
    answers = torch.tensor([[1], [0], [0], [0]], dtype=dtype)
    assert measured("Accuracy", None, scores, answers) == 0.75


def test_accuracy_over_pixels_counts_each() -> None:
    scores = torch.zeros(2, 3, 2, 2)
    scores[:, 1] = 1
    goal = torch.ones(2, 2, 2, dtype=torch.int64)
    goal[0, 0, 0] = 0
    assert measured("Accuracy", None, scores, goal) == 0.875


def test_errors_are_means_over_all_numbers() -> None:
    prediction, target = torch.tensor([[1.0, 2.0]]), torch.tensor([[0.0, 4.0]])
    assert measured("MeanSquaredError", None, prediction, target) == 2.5
    assert measured("MeanAbsoluteError", None, prediction, target) == 1.5


def test_which_way_is_better_is_known() -> None:
    assert not catalogue().get("Accuracy").lower_is_better  # type: ignore[union-attr]
    assert catalogue().get("MeanSquaredError").lower_is_better  # type: ignore[union-attr]
