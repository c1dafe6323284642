"""A discriminator that is too strong is told of, once, with the step that helps."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from engine.train.advice.balance import too_sure
from tests.engine.sketches import Sketch


def run_with(form: str, value: float) -> tuple[object, str]:
    sketch = Sketch()
    data = sketch.add("Iris", "iris")
    real = sketch.add("Linear", "discriminator", {"units": 1}, x=f"{data}.features")
    noise = sketch.add("GaussianNoise", "code", {"size": 4})
    made = sketch.add("Linear", "on made", {"units": 1}, x=noise)
    sketch.add("DiscriminatorLoss", "d", real=real, made=made)
    sketch.add("GeneratorLoss", "g", {"form": form}, made=made)
    sketch.add("MeanProbability", "D real", x=real)
    shown = sketch.add("MeanProbability", "D made", x=made)
    program = SimpleNamespace(project=sketch.project, book=sketch.check(), metrics={shown: "d_made"})
    history = [{"epoch": 0, "val_d_made": 0.4}, {"epoch": 1, "val_d_made": value}]
    return SimpleNamespace(program=program, history=history), shown


def test_players_in_balance_are_left_alone() -> None:
    assert too_sure(run_with("minimax", 0.3)[0]) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("form", "help_"), [("minimax", "non-saturating form"), ("non-saturating", "every second batch")]
)
def test_a_discriminator_that_is_sure_is_told_of_at_the_metric(form: str, help_: str) -> None:
    run, shown = run_with(form, 0.004)
    found = too_sure(run)  # type: ignore[arg-type]
    assert found is not None and found[0] == shown
    assert (
        found[1].startswith("The discriminator is too strong: D made is taken for real") and help_ in found[1]
    )
