"""Metrics count what they say they count."""

from __future__ import annotations

import pytest
import torch
from sklearn.metrics import accuracy_score

from engine.document.blocks import group
from engine.document.shipped import datasets_folder
from tests.engine.sketches import Sketch, apply, catalogue, program_of
from tests.nodes.values import measured


def test_accuracy_of_class_scores() -> None:
    scores = torch.tensor([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]])
    assert measured("Accuracy", None, scores, torch.tensor([1, 0, 0, 0])) == 0.75


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_accuracy_of_yes_or_no_scores(dtype: torch.dtype) -> None:
    """Nothing is known of the target but what stands in the batch."""
    scores = torch.tensor([[0.6], [-3.0], [2.0], [0.4]])
    answers = torch.tensor([[1], [0], [0], [0]], dtype=dtype)
    assert measured("Accuracy", None, scores, answers) == 0.75
    assert measured("Accuracy", None, scores, answers * 2 - 1) == 0.5
    assert measured("Accuracy", None, scores, torch.ones_like(answers)) == 0.5


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


def cancer(activation: str, *behind: str, block: bool = False, loss: str = "MSE") -> Sketch:
    """One yes-or-no score through an activation and layers behind it, to a loss and an accuracy."""
    sketch = Sketch()
    data = sketch.add("BreastCancer", "cancer")
    last = sketch.add("Linear", "score", {"units": 1, "activation": activation}, x=f"{data}.features")
    for one in behind:
        last = sketch.add(one, one.lower(), x=last)
    sketch.add(loss, "cost", prediction=last, target=f"{data}.benign")
    sketch.add("Accuracy", "accuracy", prediction=last, target=f"{data}.benign")
    if block:
        inside = list(sketch.project.graph.nodes)[1:-2]
        apply(sketch.project, group(sketch.project, inside))
    return sketch


@pytest.mark.parametrize(
    ("activation", "behind", "block", "middle"),
    [
        ("none", (), False, 0.5),
        ("sigmoid", (), False, 0.5),
        ("tanh", (), False, 0.5),
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


def test_scores_that_a_loss_takes_for_logits_say_yes_above_0() -> None:
    program = program_of(cancer("none", loss="BCEWithLogits"))
    assert ".gt(0)" in program.source.text and ".gt(0.5)" not in program.source.text


SETS = {
    "gates of 0 and 1": ("LogicGates", {"signs": False}, "inputs", "either", (0.0, 1.0)),
    "gates of -1 and 1": ("LogicGates", {"signs": True}, "inputs", "either", (-1.0, 1.0)),
    "points": ("Points", {"form": "overlapping"}, "point", "side", (-1.0, 1.0)),
    "digits": ("Digits", {}, "profile", "odd", (0.0, 1.0)),
}


@pytest.mark.parametrize("name", SETS)
def test_a_plain_score_is_compared_with_the_middle_of_its_targets(name: str) -> None:
    """As scikit-learn counts the nearer of the two values, in batches of any size, in the script as here."""
    type_id, params, inputs, target, ends = SETS[name]
    sketch = Sketch()
    data = sketch.add(type_id, "data", params)
    score = sketch.add("Linear", "score", {"units": 1}, x=f"{data}.{inputs}")
    sketch.add("MSE", "cost", prediction=score, target=f"{data}.{target}")
    sketch.add("Accuracy", "accuracy", prediction=score, target=f"{data}.{target}")
    program = program_of(sketch)
    model = program.make_model("cpu").eval()
    split = program.load(datasets_folder())["test"]
    scores = model(split[inputs]).detach()
    middle = sum(ends) / 2
    nearer = torch.where(scores > middle, ends[1], ends[0]).flatten().numpy()
    wanted = accuracy_score(split[target].flatten().numpy(), nearer)
    for size in (1, 7, len(scores)):
        parts = [
            {key: column[at : at + size] for key, column in split.items()}
            for at in range(0, len(scores), size)
        ]
        found = sum(program.measure(model, part)["accuracy"].item() * len(part[target]) for part in parts)
        assert found / len(scores) == pytest.approx(wanted, abs=1e-6)
    assert f".gt({middle or 0})" in program.source.text


def test_a_yes_or_no_of_a_table_is_known_to_be_0_or_1() -> None:
    table = catalogue().get("TableFile")(
        {"table": (("a", "number", "input"), ("b", "yes-no", "target", "n", "y"))}
    )
    assert {column.name: column.two_values for column in table.columns()} == {
        "features": None,
        "b": (0.0, 1.0),
        "b as number": (0.0, 1.0),
    }
