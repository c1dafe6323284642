"""Averages of the weights against their recurrences."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from engine.averages import AVERAGES, make_average
from engine.errors import ParamError
from engine.plan import Choice
from engine.symbols import evaluate, name


def averaged(choice: Choice, values: list[float]) -> float:
    model = nn.Linear(1, 1)
    average = evaluate(make_average(choice).made(name("model")), {"model": model})
    for value in values:
        nn.init.constant_(model.weight, value)
        average.update_parameters(model)
    return float(average.module.weight.item())


def test_a_moving_average_follows_with_a_delay() -> None:
    """Seed 004 §11.2, from the first weights on."""
    wanted = 1.0
    for value in (2.0, 4.0):
        wanted = 0.9 * wanted + 0.1 * value
    assert averaged(Choice("EMA", {"decay": 0.9}), [1.0, 2.0, 4.0]) == pytest.approx(wanted)


def test_a_plain_average_is_the_mean() -> None:
    assert averaged(Choice("SWA"), [1.0, 2.0, 6.0]) == pytest.approx(3.0)


def test_running_statistics_are_averaged_too() -> None:
    model = nn.BatchNorm1d(1)
    average = evaluate(make_average(Choice("SWA")).made(name("model")), {"model": model})
    for value in (1.0, 3.0):
        model.running_mean.fill_(value)  # type: ignore[union-attr]
        average.update_parameters(model)
    torch.testing.assert_close(average.module.running_mean, torch.tensor([2.0]))


@pytest.mark.parametrize("found", AVERAGES.values(), ids=list(AVERAGES))
def test_each_explains_itself(found: type) -> None:
    assert found.title and found.formula and 20 < len(found.doc()) < 140
    assert all(spec.doc and spec.check(spec.default) == spec.default for spec in found.params)


def test_a_wrong_average_is_an_error() -> None:
    with pytest.raises(ParamError, match="no average called"):
        make_average(Choice("Mean"))
    with pytest.raises(ParamError):
        make_average(Choice("EMA", {"decay": 1.0}))
