"""Layers that compare the examples of a batch: averages get statistics of their own, no row is alone."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from engine.document.blocks import group
from engine.document.graph import Project
from engine.document.plan import Choice, Minimise, Phase, Plan, Stop
from engine.emit.script import export_script
from engine.train.loop import Interrupted, Run
from tests.engine.emit.test_players import exported, trained
from tests.engine.sketches import Sketch, apply
from tests.engine.train.networks import catalogue, run_of

MEANS = {"EMA": Choice("EMA", {"decay": 0.99}), "SWA": Choice("SWA", {"start": 1})}


def normed(plan: Plan) -> Project:
    """Iris through a layer n2, a batch norm n3 and a second layer n4 to cross-entropy n5 and accuracy n6."""
    sketch = Sketch()
    data = sketch.add("Iris", "iris")
    hidden = sketch.add("Linear", "hidden", {"units": 8, "activation": "tanh"}, x=f"{data}.features")
    norm = sketch.add("BatchNorm", "norm", x=hidden)
    scores = sketch.add("Linear", "scores", {"units": 3}, x=norm)
    sketch.add("CrossEntropy", "cost", prediction=scores, target=f"{data}.species")
    sketch.add("Accuracy", "accuracy", prediction=scores, target=f"{data}.species")
    sketch.project.plan = plan
    return sketch.project


def averaging(average: Choice, *, restore_best: bool = False, epochs: int = 4, batch: int = 32) -> Plan:
    objective = Minimise(optimiser=Choice("SGD", {"lr": 0.5}), average=average)
    return Plan((Phase((objective,), Stop(epochs, restore_best=restore_best)),), batch)


def finished(run: Run) -> Run:
    while run.stage.value != "done":
        run.advance()
    return run


def norm_of(run: Run) -> nn.BatchNorm1d:
    (found,) = (layer for layer in run.model.modules() if isinstance(layer, nn.BatchNorm1d))
    return found


@pytest.mark.parametrize("average", MEANS.values(), ids=MEANS)
@pytest.mark.parametrize("restore_best", [False, True])
def test_averaged_weights_have_the_statistics_of_the_training_data(
    average: Choice, restore_best: bool
) -> None:
    run = finished(run_of(normed(averaging(average, restore_best=restore_best))))
    hidden = torch.tanh(run.model.hidden(run.data["train"]["features"])).detach()  # type: ignore[operator]
    torch.testing.assert_close(norm_of(run).running_mean, hidden.mean(0), rtol=0, atol=1e-5)
    # the mean of the batches' variances, a little below that of all rows
    torch.testing.assert_close(norm_of(run).running_var, hidden.var(0), rtol=0.2, atol=1e-3)
    assert norm_of(run).momentum == 0.1


@pytest.mark.parametrize("average", MEANS.values(), ids=MEANS)
@pytest.mark.parametrize("restore_best", [False, True])
def test_the_export_averages_as_the_application_does(average: Choice, restore_best: bool) -> None:
    project = normed(averaging(average, restore_best=restore_best, batch=30))
    assert exported(project) == trained(project)[0]


def test_training_goes_on_with_the_statistics_that_it_had() -> None:
    plain = finished(run_of(normed(Plan((Phase((Minimise(clip=1e9),), Stop(3, restore_best=False)),), 32))))
    averaged = run_of(normed(Plan((Phase((Minimise(average=MEANS["SWA"]),), Stop(3)),), 32)))
    steps = plain.step
    while averaged.step < steps:
        averaged.advance()
    torch.testing.assert_close(norm_of(averaged).running_mean, norm_of(plain).running_mean, rtol=0, atol=1e-6)


def test_an_interrupted_pass_over_the_data_is_made_again() -> None:
    project = normed(averaging(MEANS["EMA"]))
    wanted = finished(run_of(project)).results
    run = run_of(project)
    asked = [0]

    def now_and_then() -> bool:
        asked[0] += 1
        return asked[0] % 7 == 0

    run.interrupted = now_and_then
    caught = 0
    while run.stage.value != "done":
        try:
            run.advance()
        except Interrupted:
            caught += 1
    assert caught and run.results == wanted


@pytest.mark.parametrize("plan", [Plan(batch=89), Plan(batch=45), averaging(MEANS["EMA"], batch=89)])
def test_a_row_that_would_be_alone_joins_the_batch_before_it(plan: Plan) -> None:
    project = normed(plan.with_(epochs=2, schedule=Choice("Cosine")))
    told: list[str] = []
    lines, run = trained(project, on_notice=told.append)
    rows, batch = run.rows("train"), plan.batch
    sizes = [len(one["species"]) for one in run.program.batches(run.data["train"])]
    joins = rows % batch == 1
    assert sum(sizes) == rows and min(sizes) > 1 and len(sizes) == run.steps_per_epoch
    assert any("joins the batch before it" in one for one in told) == joins
    assert joins == (batch == 89), "90 rows are trained with"
    assert run.learning_rate == pytest.approx(0.0, abs=1e-9)
    assert exported(project) == lines


def test_a_script_without_such_layers_has_no_word_of_them() -> None:
    project = normed(Plan(batch=45))
    assert "parts[-2:]" in export_script(project, catalogue()).text
    sketch = Sketch()
    data = sketch.add("Iris", "iris")
    scores = sketch.add("Linear", "scores", {"units": 3}, x=f"{data}.features")
    sketch.add("CrossEntropy", "cost", prediction=scores, target=f"{data}.species")
    sketch.project.plan = averaging(MEANS["SWA"])
    text = export_script(sketch.project, catalogue()).text
    assert "parts[-2:]" not in text and "refresh_statistics" not in text


def test_layers_inside_blocks_count_as_well() -> None:
    project = normed(averaging(MEANS["SWA"], batch=89))
    apply(project, group(project, ["n2", "n3"]))
    lines, run = trained(project)
    assert run.steps_per_epoch == 1 and exported(project) == lines
    assert "refresh_statistics" in run.program.source.text
