"""Optimisers and schedules are declared as node types are: typed, bounded, explained."""

from __future__ import annotations

import re

import pytest

from engine.errors import ParamError
from engine.optimisers import OPTIMISERS, SCHEDULES, Choosable, make_optimiser, make_schedule
from engine.plan import Choice, Plan

EVERY: list[type[Choosable]] = [*OPTIMISERS.values(), *SCHEDULES.values()]


def test_there_are_the_six_optimisers_and_four_schedules() -> None:
    assert list(OPTIMISERS) == ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta"]
    assert list(SCHEDULES) == ["Constant", "Step", "Cosine", "WarmUp"]


@pytest.mark.parametrize("found", EVERY, ids=lambda found: found.__name__)
def test_each_explains_itself_and_holds_its_defaults(found: type[Choosable]) -> None:
    assert found.title
    assert 20 < len(found.doc()) < 140 and found.doc().endswith(".")
    made = found()
    for spec in found.params:
        assert spec.doc and not spec.doc.endswith(".")
        assert getattr(made, spec.name) == spec.default == spec.check(spec.default)
        assert spec.parse(spec.format(spec.default)) == spec.default
    assert len({spec.name for spec in found.params}) == len(found.params)


@pytest.mark.parametrize("name", OPTIMISERS)
def test_the_learning_rate_comes_first_and_is_positive(name: str) -> None:
    first = OPTIMISERS[name].params[0]
    assert (first.name, first.title) == ("lr", "Learning rate")
    for text in ("0", "-1", "1e400", "abc", "0,5", ""):
        with pytest.raises(ParamError):
            first.parse(text)
    assert first.parse(" 1e-3 ") == 0.001


def test_the_default_plan_can_be_made() -> None:
    plan = Plan()
    assert type(make_optimiser(plan.optimiser)).__name__ == "Adam"
    assert type(make_schedule(plan.schedule)).__name__ == "Constant"


def test_a_choice_sets_values() -> None:
    made = make_optimiser(Choice("SGD", {"lr": 1, "momentum": 0.9, "nesterov": True}))
    assert vars(made) == {"lr": 1.0, "weight_decay": 0.0, "momentum": 0.9, "nesterov": True}


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        (Choice("Magic"), "no optimiser called 'Magic'.*Choose SGD, Adam"),
        (Choice("__class__"), "no optimiser called"),
        (Choice("Adam", {"rate": 1}), "no parameter called 'rate'"),
        (Choice("Adam", {"lr": "fast"}), "Learning rate"),
        (Choice("Adam", {"beta1": 1.0}), "Beta1"),
        (Choice("SGD", {"nesterov": True}), "Nesterov needs a momentum"),
    ],
)
def test_a_wrong_choice_is_an_error_never_a_default(choice: Choice, sentence: str) -> None:
    with pytest.raises(ParamError) as caught:
        make_optimiser(choice)
    assert re.search(sentence, str(caught.value))


def test_a_wrong_schedule_is_an_error() -> None:
    with pytest.raises(ParamError, match="no schedule called"):
        make_schedule(Choice("Adam"))
    with pytest.raises(ParamError, match="Every"):
        make_schedule(Choice("Step", {"every": 0}))
