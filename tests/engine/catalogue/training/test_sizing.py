"""How long an untouched plan trains."""

from __future__ import annotations

import pytest

from engine.catalogue.node_types import examples_of
from engine.catalogue.training.sizing import sized
from engine.document.plan import Plan
from tests.engine.train.networks import catalogue


@pytest.mark.parametrize(
    ("summary", "count"),
    [
        ("150 flowers · 3 classes", 150),
        ("70,000 images · 10 classes", 70_000),
        ("4 classes · 400 points", 400),
        ("1,200 images · 2 classes · 4,000 × 3,000", 1200),
        ("2x + 1 · 100 points", 100),
        ("no file yet", 0),
    ],
)
def test_a_summary_says_how_many_examples_there_are(summary: str, count: int) -> None:
    assert examples_of(summary) == count


@pytest.mark.parametrize(
    ("kind", "batch", "epochs", "rate"),
    [
        ("Iris", 16, 300, 0.01),
        ("Digits", 64, 118, 0.001),
        ("Mnist", 64, 5, 0.001),
        ("TableFile", 64, 10, 0.001),
    ],
)
def test_small_data_are_seen_often_and_large_ones_seldom(
    kind: str, batch: int, epochs: int, rate: float
) -> None:
    found = catalogue().get(kind)
    assert found is not None
    plan = sized(found())
    assert (plan.batch, plan.epochs) == (batch, epochs)
    assert plan.optimiser.params.get("lr", 0.001) == rate
    assert (plan == Plan()) == (kind == "TableFile")
