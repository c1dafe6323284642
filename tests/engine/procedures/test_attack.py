"""An attack against a linear classifier, for which the worst input is known."""

from __future__ import annotations

import torch
from torch import Tensor

from engine.procedures.attack import attacked
from engine.procedures.registry import offers
from engine.shapes.shapes import check
from tests.engine.sketches import catalogue, gallery


def test_a_linear_classifier_loses_the_rows_that_are_within_reach_of_its_boundary() -> None:
    torch.manual_seed(0)
    weight = torch.tensor([0.7, -0.4, 0.2])
    inputs = 0.3 + 0.4 * torch.rand(200, 3)

    def scores(x: Tensor) -> Tensor:
        return torch.stack([torch.zeros(len(x)), x @ weight - 0.25], 1)

    right = scores(inputs).argmax(1)
    distance = (inputs @ weight - 0.25).abs() / weight.abs().sum()  # in the largest move of a number
    states = list(
        attacked(
            scores,
            inputs,
            right,
            draws=torch.Generator().manual_seed(3),
            reach=(0.0, 0.02, 0.05, 0.1),
            steps=20,
            low=0.0,
            high=1.0,
        )
    )
    assert [state["reach"] for state in states] == [0.0, 0.02, 0.05, 0.1]
    for state in states:
        assert state["accuracy"] == float((distance >= state["reach"]).float().mean())
        assert float((state["inputs"] - inputs).abs().max()) <= state["reach"] + 1e-6
    assert states[0]["accuracy"] == 1.0 > states[-1]["accuracy"]


def test_classifiers_can_be_attacked_and_others_not() -> None:
    for example, there in (("robust-digits", True), ("iris", True), ("optimiser-race", False)):
        project = gallery(example)
        assert ("attack" in {one.name for one in offers(project, check(project, catalogue()))}) == there
