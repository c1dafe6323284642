"""Two lists of records: equal to the last bit, or the first place where they part."""

from __future__ import annotations

import math
from typing import Any

import pytest

from engine.train.verify.comparison import Comparison, compared

FIRST: list[dict[str, Any]] = [
    {"step": 1, "epoch": 0, "loss": 0.5},
    {"step": 2, "epoch": 0, "loss": 0.25},
    {"epoch": 0, "val_loss": 0.75, "val_accuracy": 1.0},
    {"test_loss": 0.125},
]


def changed(at: int, **values: Any) -> list[dict[str, Any]]:
    return [{**one, **values} if number == at else one for number, one in enumerate(FIRST)]


def test_the_same_records_are_equal_once_both_are_over() -> None:
    found = compared(FIRST, FIRST, over=True)
    assert found.equal and found.steps == 2
    assert found.rows == (("Step 1, loss", 0.5, 0.5), ("Step 2, loss", 0.25, 0.25))
    assert found.sentence() == "2 steps: the losses are equal to the last bit."
    assert not compared(FIRST, FIRST, over=False).equal


def test_one_that_is_behind_is_no_difference_before_both_are_over() -> None:
    assert compared(FIRST, FIRST[:1], over=False) == Comparison(1, (("Step 1, loss", 0.5, 0.5),))
    found = compared(FIRST, FIRST[:1], over=True)
    assert found.difference is not None and found.difference.where == "Step 2, step"
    assert found.sentence() == "Step 2, step: 2 in the application, nothing in the export."
    other = compared(FIRST[:3], FIRST, over=True)
    assert other.sentence() == "Test, test_loss: 0.125 in the export, nothing in the application."


@pytest.mark.parametrize(
    ("at", "values", "where"),
    [
        (1, {"loss": math.nextafter(0.25, 1)}, "Step 2, loss"),
        (2, {"val_accuracy": 0.0}, "End of epoch 1, val_accuracy"),
        (3, {"test_loss": 0}, "Test, test_loss"),
        (0, {"epoch": 1}, "Step 1, epoch"),
    ],
)
def test_the_first_difference_is_named_to_the_last_bit(at: int, values: dict[str, Any], where: str) -> None:
    found = compared(FIRST, changed(at, **values), over=False)
    assert found.over and not found.equal
    assert found.difference is not None and found.difference.where == where
    assert found.to_json()["difference"][0] == where


def test_zero_has_a_sign_and_not_a_number_is_itself() -> None:
    nan = changed(1, loss=float("nan"))
    assert compared(nan, nan, over=True).equal
    assert not compared(changed(1, loss=0.0), changed(1, loss=-0.0), over=True).equal
