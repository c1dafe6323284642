"""Metrics count what they say they count."""

from __future__ import annotations

import pytest
import torch

from engine.document.blocks import group
from engine.document.shipped import datasets_folder
from tests.engine.sketches import Sketch, apply, catalogue, program_of
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


def cancer(activation: str, *behind: str, block: bool = False) -> Sketch:
    """One yes-or-no score through an activation and layers behind it, to a loss and an accuracy."""
    sketch = Sketch()
    data = sketch.add("BreastCancer", "cancer")
    last = sketch.add("Linear", "score", {"units": 1, "activation": activation}, x=f"{data}.features")
    for one in behind:
        last = sketch.add(one, one.lower(), x=last)
    sketch.add("MSE", "cost", prediction=last, target=f"{data}.benign")
    sketch.add("Accuracy", "accuracy", prediction=last, target=f"{data}.benign")
    if block:
        inside = list(sketch.project.graph.nodes)[1:-2]
        apply(sketch.project, group(sketch.project, inside))
    return sketch


@pytest.mark.parametrize(
    ("activation", "behind", "block", "middle"),
    [
        ("none", (), False, 0.0),
        ("sigmoid", (), False, 0.5),
        ("tanh", (), False, 0.0),
        ("none", ("Sigmoid",), False, 0.5),
        ("none", ("Sigmoid", "Dropout"), False, 0.5),
        ("sigmoid", (), True, 0.5),
        ("none", ("Sigmoid", "Dropout"), True, 0.5),
    ],
)
def test_an_accuracy_says_yes_above_the_middle(
    activation: str, behind: tuple[str, ...], block: bool, middle: float
) -> None:
    sketch = cancer(activation, *behind, block=block)
    assert sketch.check().problems == []
    program = program_of(sketch)
    model = program.make_model("cpu").eval()
    split = program.load(datasets_folder())["test"]
    scores: torch.Tensor = model(split["features"])
    wanted = ((scores > middle) == (split["benign"] > 0)).float().mean()
    assert program.evaluate(model, split)["accuracy"] == pytest.approx(wanted.item(), abs=1e-6)
    assert f".gt({middle or 0})" in program.source.text
