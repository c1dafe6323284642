"""Optimisers that ask for losses in different ways, in the phases of one plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.document.plan import Chain, Choice, Minimise, Objective, Phase, Plan, Stop
from engine.emit.script import export_script
from tests.engine.sketches import Sketch, catalogue
from tests.engine.train.test_distributed import alone, records

ADAM, LBFGS, LEVENBERG = (
    Minimise(optimiser=Choice(name), name=name) for name in ("Adam", "LBFGS", "LevenbergMarquardt")
)
HMC = Chain(optimiser=Choice("HMC", {"leaps": 3, "warm_up": 2}), name="chain")


def coder(*steps: Objective) -> Sketch:
    """A small network that gives back what it gets, trained by one step after the other, a phase each."""
    sketch = Sketch("Coder")
    data = sketch.add("Iris", "iris")
    hidden = sketch.add("Linear", "hidden", {"units": 3, "activation": "tanh"}, x=f"{data}.features")
    back = sketch.add("Linear", "back", {"units": 4}, x=hidden)
    sketch.add("MSE", "loss", prediction=back, target=f"{data}.features")
    stop = Stop(1, restore_best=False)
    phases = tuple(Phase((one,), stop, batch=32 if one is ADAM else 0) for one in steps)
    sketch.project.plan = Plan(phases, batch=32)
    return sketch


@pytest.mark.parametrize("second", [LBFGS, LEVENBERG], ids=lambda one: str(one.name))
def test_one_that_asks_for_losses_follows_one_that_does_not(second: Minimise, tmp_path: Path) -> None:
    project = coder(ADAM, second, ADAM).project
    wanted = alone(project)
    losses = [line["val_loss"] for line in wanted if "val_loss" in line]
    assert losses[1] < losses[0]  # a step of all rows helps
    script = tmp_path / "coder.py"
    script.write_text(export_script(project, catalogue()).text, "utf-8")
    assert records(str(script), "--json", "--device", "cpu") == wanted


@pytest.mark.parametrize("steps", [(LEVENBERG, HMC), (LBFGS, LEVENBERG), (ADAM, LBFGS, HMC)])
def test_two_that_ask_in_different_ways_are_refused_before_the_run(steps: tuple[Objective, ...]) -> None:
    (problem,) = [one for one in coder(*steps).check().errors if one.code == "plan"]
    assert "ask for losses in different ways" in problem.message
    titles = {"Levenberg-Marquardt", "L-BFGS", "HMC"}
    assert sum(title in problem.message for title in titles) == 2
