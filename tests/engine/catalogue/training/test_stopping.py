"""Stop rules say what has to hold, and refuse what they don't know."""

from __future__ import annotations

import pytest

from engine.catalogue.training.averages import AVERAGES
from engine.catalogue.training.stopping import STOP_RULES, make_stop_rule
from engine.document.plan import Choice
from engine.emit.alternating import average_arguments, stop_tests
from engine.errors import ParamError


def test_every_rule_has_a_test_of_its_own() -> None:
    tests = [make_stop_rule(Choice(name)).test(lambda _: True) for name in STOP_RULES]
    assert tests == [
        ("val_accuracy", ">=", 0.9),
        ("gradient_norm", "<", 1e-5),
        ("moved", "<", 1e-6),
        ("", "==", 0.0),
        ("seconds", ">=", 60.0),
    ]


def test_values_come_from_the_plan() -> None:
    rules = [Choice("Reaches", {"monitor": "val_loss", "value": 1}), Choice("Seconds", {"seconds": 5})]
    found = stop_tests(rules, lambda monitor: monitor != "val_loss")
    assert found == [("val_loss", "<=", 1.0), ("seconds", ">=", 5.0)]


@pytest.mark.parametrize("choice", [Choice("Bored"), Choice("Seconds", {"seconds": -1.0})])
def test_what_is_no_rule_is_refused(choice: Choice) -> None:
    with pytest.raises(ParamError):
        stop_tests([choice], lambda _: True)


def test_every_average_is_written() -> None:
    assert [average_arguments(Choice(name)) for name in AVERAGES] == [", decay=0.999", ""]
    assert average_arguments(Choice("SWA", {"start": 3})) == ", start=3"
    with pytest.raises(ParamError):
        average_arguments(Choice("EMA", {"decay": 1.0}))
