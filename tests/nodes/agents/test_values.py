"""Values of actions and their targets, against numbers that are worked out by hand."""

from __future__ import annotations

import pytest
import torch

from engine.catalogue import CATALOGUE, load_catalogue
from engine.errors import EmitError, ParamError
from engine.layers.agents.values import temporal_difference_target, value_of
from engine.shapes.shapes import Signature
from tests.nodes.test_every_node import with_numbers

load_catalogue()
VALUES, NUMBER = Signature((3,)), Signature((1,))


def test_the_value_of_the_action_that_was_taken() -> None:
    values = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert value_of(values, torch.tensor([2, 0])).tolist() == [[3.0], [4.0]]


def test_targets_are_the_reward_and_what_follows() -> None:
    values = torch.tensor([[1.0, 4.0, 2.0], [7.0, 8.0, 9.0]], requires_grad=True)
    reward, end = torch.tensor([[0.5], [-1.0]]), torch.tensor([[0.0], [1.0]])
    found = temporal_difference_target(reward, end, values, discount=0.9)
    assert found.tolist() == [[pytest.approx(0.5 + 0.9 * 4)], [-1.0]]
    assert not found.requires_grad
    chooser = torch.tensor([[0.0, 1.0, 2.0], [0.0, 0.0, 0.0]])
    double = temporal_difference_target(reward, end, values, chooser, discount=0.9)
    assert double.tolist() == [[pytest.approx(0.5 + 0.9 * 2)], [-1.0]]


@pytest.mark.parametrize(
    ("type_id", "arriving", "said"),
    [
        ("ActionValue", {"x": VALUES, "action": NUMBER}, "number of an action"),
        (
            "ActionValue",
            {"x": Signature((2, 3)), "action": Signature((), "int64")},
            "one value for each action",
        ),
        ("TDTarget", {"x": VALUES, "reward": VALUES, "end": NUMBER}, "one number as reward"),
        ("TDTarget", {"x": VALUES, "reward": NUMBER, "end": NUMBER, "choose": NUMBER}, "compares 3 values"),
    ],
)
def test_what_does_not_fit_is_refused(type_id: str, arriving: dict[str, Signature], said: str) -> None:
    found = CATALOGUE.get(type_id)
    assert found is not None
    with pytest.raises(EmitError, match=said):
        with_numbers(found(), arriving)


@pytest.mark.parametrize(
    ("layout", "said"),
    [("S.x", "letters"), ("S./G", "as many cells"), ("G#", "begin in"), ("." * 2501, "at most")],
)
def test_a_layout_that_is_no_grid_is_refused(layout: str, said: str) -> None:
    found = CATALOGUE.get("GridWorld")
    assert found is not None
    with pytest.raises(ParamError, match=said):
        found({"layout": layout}).emit(None)
