"""Averages of weights are declared as optimisers are."""

from __future__ import annotations

import pytest

from engine.catalogue.training.averages import AVERAGES, Average, make_average
from engine.document.plan import Choice
from engine.errors import ParamError


@pytest.mark.parametrize("name", AVERAGES)
def test_each_explains_itself_and_holds_its_defaults(name: str) -> None:
    found: type[Average] = AVERAGES[name]
    assert found.title and found.formula and 20 < len(found.doc()) < 140
    made = found()
    assert all(spec.doc and getattr(made, spec.name) == spec.default for spec in found.params)


def test_a_wrong_average_is_an_error() -> None:
    with pytest.raises(ParamError, match="no average called"):
        make_average(Choice("Mean"))
    with pytest.raises(ParamError):
        make_average(Choice("EMA", {"decay": 1.0}))
