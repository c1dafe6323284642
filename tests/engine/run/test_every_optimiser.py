"""Every optimiser trains in the loop, and goes on from a checkpoint as if it had never stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from engine.graph import Project
from engine.optimisers import OPTIMISERS
from engine.plan import Choice
from engine.run.headless import run_headless
from engine.run.loop import Record
from tests.engine.run.networks import DATASETS, catalogue, iris
from tests.engine.sketches import Sketch


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
