"""What counts in a batch: means over a split, and gradients, don't depend on how rows come together."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from engine.document.graph import Project
from engine.document.plan import WHOLE, Choice, Minimise, Phase, Plan, Stop
from engine.optim.updates import updates_per_epoch
from engine.train.loop import Run
from engine.train.state import capture, restore
from tests.engine.emit.test_players import exported, trained
from tests.engine.sketches import Sketch
from tests.engine.train.networks import run_of
from tests.engine.train.test_masked import masked

STILL = Choice("SGD", {"lr": 1e-12, "momentum": 0.0})
SIZES = (1, 7, 32, WHOLE)


def flowers(plan: Plan, loss: dict[str, Any] | None = None, metric: dict[str, Any] | None = None) -> Project:
    """Iris through one layer n2 to cross-entropy n3 and accuracy n4, which may weigh or leave out classes."""
    sketch = Sketch()
    data = sketch.add("Iris", "iris")
    scores = sketch.add("Linear", "scores", {"units": 3}, x=f"{data}.features")
    sketch.add("CrossEntropy", "cost", loss, prediction=scores, target=f"{data}.species")
    sketch.add("Accuracy", "accuracy", metric, prediction=scores, target=f"{data}.species")
    sketch.project.plan = plan
    return sketch.project


def weighted(plan: Plan) -> Project:
    return flowers(plan, {"class_weights": (1.0, 5.0, 0.0)}, {"ignored": 2})


def two_losses(plan: Plan) -> Project:
    """Two losses that count different places: hidden tokens and, of the second, those that aren't class 5."""
    project = masked()
    sketch = Sketch()
    sketch.project = project
    sketch.add("CrossEntropy", "other", {"ignored": 5, "weight": 0.5}, prediction="n4", target="n2.targets")
    project.plan = plan
    return project


def apart(plan: Plan) -> Project:
    """Two losses of one layer that count different rows: one leaves out a class, the other weighs them."""
    project = flowers(plan, {"ignored": 2})
    sketch = Sketch()
    sketch.project = project
    weights = {"class_weights": (1.0, 5.0, 2.0), "weight": 0.5}
    sketch.add("CrossEntropy", "other", weights, prediction="n2", target="n1.species")
    sketch.add("ActivityL1", "spread", {"weight": 0.1}, x="n2")
    return project


def sparse(plan: Plan) -> Project:
    """A code whose mean activity over all rows counts, beside a loss; alone in `sparse_alone`."""
    project = flowers(plan)
    sketch = Sketch()
    sketch.project = project
    code = sketch.add("Sigmoid", "code", x="n2")
    sketch.add("SparseCode", "sparsity", {"weight": 0.3}, x=code)
    return project


def sparse_alone(plan: Plan) -> Project:
    sketch = Sketch()
    data = sketch.add("Iris", "iris")
    code = sketch.add("Linear", "code", {"units": 3, "activation": "sigmoid"}, x=f"{data}.features")
    sketch.add("SparseCode", "sparsity", {"weight": 0.3}, x=code)
    sketch.project.plan = plan
    return sketch.project


def hidden(plan: Plan) -> Project:
    project = masked()
    project.plan = plan
    return project


def one_phase(*objectives: Minimise, batch: int, epochs: int = 2) -> Plan:
    return Plan((Phase(objectives, Stop(epochs, restore_best=False)),), batch)


def test_values(run: Run) -> dict[str, float]:
    while run.stage.value != "done":
        run.advance()
    return dict(run.results)


test_values.__test__ = False  # type: ignore[attr-defined]


@pytest.mark.parametrize("project", [weighted, hidden, two_losses, apart, sparse, sparse_alone])
def test_values_of_a_split_do_not_depend_on_the_batch_size(project: Any) -> None:
    found = []
    for batch in SIZES:
        plan = Plan(batch=batch).with_(optimiser=STILL, epochs=1, restore_best=False)
        run = run_of(project(plan))
        results = test_values(run)
        found.append([*results.values(), *(v for k, v in run.history[-1].items() if k.startswith("val_"))])
    for values in found[1:]:
        assert values == pytest.approx(found[0], abs=1e-6)


def test_they_are_those_of_the_whole_split() -> None:
    run = run_of(weighted(Plan(batch=7).with_(optimiser=STILL, epochs=1, restore_best=False)))
    found = test_values(run)
    features, species = run.data["test"]["features"], run.data["test"]["species"]
    scores: Tensor = run.model(features).detach()
    wanted = F.cross_entropy(scores, species, torch.tensor([1.0, 5.0, 0.0]))
    assert found["test_loss"] == pytest.approx(wanted.item(), abs=1e-6)
    kept = species != 2
    right = (scores.argmax(1)[kept] == species[kept]).float().mean()
    assert found["test_accuracy"] == pytest.approx(right.item(), abs=1e-6)


def test_the_activity_of_a_code_is_that_of_the_whole_split() -> None:
    for project, factor, key in ((sparse, 1.0, "test_sparsity"), (sparse_alone, 0.3, "test_loss")):
        run = run_of(project(Plan(batch=7).with_(optimiser=STILL, epochs=1, restore_best=False)))
        found = test_values(run)
        with torch.no_grad():
            computed = run.model(run.data["test"]["features"])
        code = torch.sigmoid(computed[0]) if project is sparse else computed
        active = code.mean(0).double()
        wanted = (0.05 * (0.05 / active).log() + 0.95 * (0.95 / (1 - active)).log()).sum()
        assert found[key] == pytest.approx(factor * wanted.item(), abs=1e-6)


PLANS = {
    "plain": Plan(batch=16).with_(epochs=2),
    "clipped": one_phase(Minimise(clip=0.5), batch=16),
    "gathering": one_phase(Minimise(accumulate=4, schedule=Choice("Cosine")), batch=16),
    "in turn": one_phase(Minimise(accumulate=2, every=3, schedule=Choice("Step", {"every": 1})), batch=16),
}


@pytest.mark.parametrize("project", [weighted, hidden, two_losses, flowers, apart, sparse])
@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_the_export_counts_as_the_application_does(project: Any, plan: Plan) -> None:
    lines, run = trained(project(plan))
    assert exported(project(plan)) == lines
    assert run.step > 0


def test_the_mean_of_an_epoch_counts_examples_not_batches() -> None:
    run = run_of(flowers(Plan(batch=60).with_(optimiser=STILL, epochs=1, restore_best=False)))
    test_values(run)
    rows = run.data["train"]
    assert len(rows["species"]) % 60, "the last batch is a short one"
    whole = F.cross_entropy(run.model(rows["features"]), rows["species"]).item()
    assert run.history[-1]["train_loss"] == pytest.approx(whole, abs=1e-6)


def test_a_batch_in_which_nothing_counts_contributes_nothing() -> None:
    plan = Plan(batch=1).with_(optimiser=Choice("SGD", {"lr": 0.1, "momentum": 0.0}), epochs=2)
    for params in ({"class_weights": (1.0, 0.0, 0.0)}, {"ignored": 0}):
        run = run_of(flowers(plan, params))
        before = {name: value.clone() for name, value in run.model.state_dict().items()}
        counting = 0
        while run.stage.value == "train":
            run.advance()
            after = run.model.state_dict()
            moved = any(not torch.equal(before[name], after[name]) for name in before)
            before = {name: value.clone() for name, value in after.items()}
            counting += moved
        assert 0 < counting < run.index
        assert len(run.feed.read("train_loss")) == counting
        assert all(math.isfinite(value) for value in test_values(run).values())
        assert not run.feed.events


def test_a_split_in_which_nothing_counts_has_no_value() -> None:
    run = run_of(flowers(Plan(batch=8), {"ignored": 0}))
    split = {name: column[run.data["test"]["species"] == 0] for name, column in run.data["test"].items()}
    assert math.isnan(run.program.evaluate(run.model, split)["loss"])


SGD = Choice("SGD", {"lr": 0.1, "momentum": 0.0})


@pytest.mark.parametrize("project", [weighted, flowers, apart])
def test_gathered_gradients_are_those_of_one_large_batch(project: Any) -> None:
    large = run_of(project(one_phase(Minimise(optimiser=SGD, clip=1e9), batch=32)))
    small = run_of(project(one_phase(Minimise(optimiser=SGD, accumulate=4), batch=8)))
    for run in (large, small):
        test_values(run)
    for name, value in large.model.state_dict().items():
        torch.testing.assert_close(small.model.state_dict()[name], value, rtol=0, atol=1e-5)


def test_a_run_that_goes_on_between_batches_has_what_it_gathered() -> None:
    plan = one_phase(Minimise(optimiser=SGD, accumulate=4), batch=8)
    whole, first, second = (run_of(apart(plan)) for _ in range(3))
    test_values(whole)
    for _ in range(6):
        first.advance()
    tensors, facts = capture(first)
    assert any(name.startswith("sums0/") for name in tensors)
    restore(second, {name: value.clone() for name, value in tensors.items()}, facts)
    test_values(second)
    for name, value in whole.model.state_dict().items():
        assert second.model.state_dict()[name].equal(value)


def test_what_is_left_over_is_stepped_on_at_the_end_of_an_epoch() -> None:
    run = run_of(flowers(one_phase(Minimise(optimiser=SGD, accumulate=8), batch=WHOLE, epochs=3)))
    alone = run_of(flowers(one_phase(Minimise(optimiser=SGD, clip=1e9), batch=WHOLE, epochs=3)))
    for one in (run, alone):
        test_values(one)
    for name, value in alone.model.state_dict().items():
        torch.testing.assert_close(run.model.state_dict()[name], value, rtol=0, atol=1e-6)


@pytest.mark.parametrize("every", [1, 4])
@pytest.mark.parametrize("accumulate", [1, 3])
@pytest.mark.parametrize("batch", [16, 91])
def test_a_schedule_reaches_its_end_on_the_last_update(every: int, accumulate: int, batch: int) -> None:
    objective = Minimise(
        optimiser=SGD, schedule=Choice("Cosine"), every=every, accumulate=accumulate, clip=9.0
    )
    run = run_of(flowers(one_phase(objective, batch=batch, epochs=4)))
    assert run.schedule is not None
    count = [0]

    def counted(*args: Any) -> None:
        count[0] += 1

    run.optimiser.register_step_post_hook(counted)
    test_values(run)
    assert run.learning_rate == pytest.approx(0.0, abs=1e-9)
    updates = updates_per_epoch(run.steps_per_epoch, 4, every, accumulate) * 4
    assert count[0] == round(updates)


def test_one_cycle_ends_low_and_steps_come_when_they_are_due() -> None:
    cycle = Minimise(optimiser=SGD, schedule=Choice("OneCycle"), accumulate=4)
    run = run_of(flowers(one_phase(cycle, batch=8, epochs=4)))
    test_values(run)
    assert run.learning_rate < 1e-5
    drops = Minimise(optimiser=SGD, schedule=Choice("Step", {"every": 2, "factor": 0.1}), every=3)
    run = run_of(flowers(one_phase(drops, batch=8, epochs=4)))
    rates = []
    while run.stage.value != "done":
        run.advance()
        rates.append((run.epoch, run.learning_rate))
    assert [round(dict(rates)[epoch], 6) for epoch in (0, 1, 2)] == [0.1, 0.01, 0.01]


def test_the_number_of_updates() -> None:
    assert updates_per_epoch(10, 4, accumulate=3) == 4
    assert updates_per_epoch(10, 4, every=4) == 2.5
    assert updates_per_epoch(1, 4, accumulate=8) == 1
    assert updates_per_epoch(10, 4_000_000_000, every=4, accumulate=2) == 1.5
    assert updates_per_epoch(10, 2, every=4, accumulate=2) == 1.5  # 3 turns and 2 moves, 2 turns and 1
