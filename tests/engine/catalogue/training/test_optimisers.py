"""Optimisers are declared as node types are: typed, bounded, explained."""

from __future__ import annotations

import importlib
import inspect
import re

import pytest
import torch

from engine.catalogue.training.choosable import Choosable
from engine.catalogue.training.initialisers import INITIALISERS
from engine.catalogue.training.optimisers import OPTIMISERS, SCHEDULES, make_optimiser, make_schedule
from engine.catalogue.training.penalties import PENALTIES
from engine.document.plan import Choice, Plan
from engine.errors import ParamError

EVERY: list[type[Choosable]] = [*OPTIMISERS.values(), *SCHEDULES.values(), *PENALTIES.values()]


def test_all_that_the_notes_name_are_there() -> None:
    """Seed 000 §1.3 and D.1, seed 003 §3, §12.2; SGD covers mini-batches and torch's momentum."""
    titles = {found.title for found in OPTIMISERS.values()}
    assert {"Gradient descent", "SGD", "Heavy ball", "Nesterov", "Adagrad", "RMSprop", "Adadelta"} <= titles
    assert {"Adam", "AdamW", "L-BFGS", "BFGS", "Conjugate gradient", "Newton"} <= titles
    assert {"Levenberg-Marquardt", "Line search", "Extragradient"} <= titles
    assert list(OPTIMISERS)[:2] == ["SGD", "Adam"]


@pytest.mark.parametrize("found", EVERY, ids=lambda found: found.__name__)
def test_each_explains_itself_and_holds_its_defaults(found: type[Choosable]) -> None:
    assert found.title and found.formula
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


@pytest.mark.parametrize("name", OPTIMISERS)
def test_each_names_a_class_and_what_it_asks_for(name: str) -> None:
    found = OPTIMISERS[name]
    module, _, kind = found.makes.rpartition(".")
    made = getattr(importlib.import_module(module), kind)
    assert issubclass(made, torch.optim.Optimizer)
    assert found.closure in ("", "gradient", "loss", "residuals")
    assert found.needs_closure == bool(found.closure)
    if found.needs_closure:
        assert "closure" in inspect.signature(made.step).parameters
    if found.one_vector:
        assert found.whole_batch and "weight_decay" not in {spec.name for spec in found.params}


def test_what_only_makes_sense_on_all_the_data_says_so() -> None:
    whole = {name for name, found in OPTIMISERS.items() if found.whole_batch}
    assert whole == {
        *("GradientDescent", "LineSearch", "ConjugateGradient", "LBFGS", "BFGS", "Newton"),
        "LevenbergMarquardt",
    }


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
        (Choice("LineSearch", {"search": "luck"}), "Search is one of Armijo"),
        (Choice("LBFGS", {"weight_decay": 0.1}), "no parameter called 'weight_decay'"),
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


def test_first_weights_are_explained_too() -> None:
    for found in INITIALISERS.values():
        assert found.doc.endswith(".") and found.formula
