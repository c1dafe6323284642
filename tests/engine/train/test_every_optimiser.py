"""Every optimiser trains in the loop, and goes on from a checkpoint as if it had never stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from engine.catalogue.training.optimisers import OPTIMISERS
from engine.document.edits import SetParam
from engine.document.graph import Project
from engine.document.plan import Choice, Minimise, Phase, Plan
from engine.train.epochs import Record
from engine.train.headless import run_headless
from engine.train.rebuild import rebuild
from tests.engine.sketches import Sketch, apply
from tests.engine.train.networks import DATASETS, catalogue, iris, run_of


def project_for(name: str) -> Project:
    """Iris; for squared errors, flowers drawn again from fewer numbers."""
    how: dict[str, Any] = {"optimiser": Choice(name), "batch": 0 if OPTIMISERS[name].whole_batch else 32}
    if OPTIMISERS[name].closure != "residuals":
        return iris(epochs=6, **how)
    sketch = Sketch()
    data = sketch.add("Iris", "iris")
    code = sketch.add("Linear", "code", {"units": 2, "activation": "tanh"}, x=f"{data}.features")
    back = sketch.add("Linear", "again", {"units": 4}, x=code)
    sketch.add("MSE", "error", prediction=back, target=f"{data}.features")
    return sketch.plan(epochs=6, **how).project


def lines_of(
    project: Project, folder: Path | None = None, *, resume: bool = False, stop: int = 0
) -> list[Record]:
    lines: list[Record] = []

    def stopped() -> bool:
        return bool(stop) and sum("step" in line for line in lines) >= stop

    torch.manual_seed(len(str(folder)))
    where: dict[str, Any] = {"device": "cpu", "folder": folder, "resume": resume}
    run_headless(project, catalogue(), DATASETS, on_line=lines.append, stopped=stopped, **where)
    return lines


@pytest.mark.parametrize("name", OPTIMISERS)
def test_it_lowers_the_loss_and_resumes_to_the_last_bit(name: str, tmp_path: Path) -> None:
    project = project_for(name)
    whole = lines_of(project)
    losses = [line["val_loss"] for line in whole if "val_loss" in line]
    assert losses[-1] < losses[0]
    steps = sum("step" in line for line in whole)
    first = lines_of(project, tmp_path, stop=steps // 2)
    assert first + lines_of(project, tmp_path, resume=True) == whole


def test_a_rate_that_is_changed_live_keeps_the_ratio_of_a_layers_own() -> None:
    project = iris()
    objective = Minimise(
        optimiser=Choice("SGD", {"lr": 1.0}),
        schedule=Choice("Step", {"every": 1, "factor": 0.5}),
        rates={"n2": 0.1},
    )
    project.plan = Plan((Phase((objective,)),), batch=32)
    run = run_of(project)
    for _ in range(run.steps_per_epoch + 1):
        run.advance()
    run.set_learning_rate(4.0)
    rates = {id(weight): group["lr"] for group in run.optimiser.param_groups for weight in group["params"]}
    layer = run.program.modules["n2"]
    for name, weight in run.model.named_parameters():
        assert rates[id(weight)] == pytest.approx(2.0 * (0.1 if name.startswith(f"{layer}.") else 1.0))


@pytest.mark.parametrize("name", [one for one, found in OPTIMISERS.items() if found.one_vector])
def test_a_layer_that_changes_its_size_while_training_stops_nothing(name: str) -> None:
    """What was learned of the old vector of all weights is no use then, though the first layer stays."""
    project = project_for(name)
    run = run_of(project)
    for _ in range(6):
        run.advance()
    last = "n4" if OPTIMISERS[name].closure != "residuals" else "n2"
    changed = project_for(name)
    apply(changed, [SetParam(last, "units", 5)])
    wider = run_of(changed)
    rebuild(run, wider.program, lambda: wider.data, run.settings, 9)
    run.heads = ()
    before = run.step
    for _ in range(4):
        run.advance()
    assert run.step > before
