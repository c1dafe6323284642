"""Each value of a run has one name: in the feed, for monitors and stop rules, and in the files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.document.document import Document
from engine.document.edits import Rename
from engine.document.graph import Project
from engine.document.plan import Minimise, Phase, Plan, Stop
from engine.runs.index import read_run
from engine.runs.records import read_metrics, read_step_series
from engine.train.headless import run_headless
from engine.train.loop import Run
from engine.train.phases import Phases
from tests.engine.sketches import gallery
from tests.engine.train.networks import DATASETS, catalogue, iris


def trained(project: Project, folder: Path, epochs: int | None = None) -> Run:
    return run_headless(project, catalogue(), DATASETS, device="cpu", folder=folder, epochs=epochs).run


def objectives(*names: set[str]) -> set[str]:
    return {name for found in names for name in found if name.startswith("train_")}


PLANS = {
    "one objective": (Plan((Phase((Minimise(clip=1.0),), Stop(2)),), 32), {"train_loss"}),
    "phases of one objective": (
        Plan(
            (
                Phase((Minimise(of=("n2",)),), Stop(2), name="Begin"),
                Phase((Minimise(),), Stop(1), name="Finish"),
            ),
            32,
        ),
        {"train_begin", "train_finish"},
    ),
    "a phase of one, then of two": (
        Plan(
            (
                Phase((Minimise(),), Stop(1), name="Begin"),
                Phase((Minimise(of=("n2",), name="lower"), Minimise(of=("n4",), name="upper")), Stop(1)),
            ),
            32,
        ),
        {"train_begin", "train_lower", "train_upper"},
    ),
}


@pytest.mark.parametrize("name", PLANS)
def test_objectives_have_one_name(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, wanted = PLANS[name]
    seen: list[set[str]] = []
    see = Phases.see

    def watched(self: Phases, run: Run, record: dict[str, float]) -> dict[str, float]:
        found = see(self, run, record)
        seen.append(set(found))
        return found

    monkeypatch.setattr(Phases, "see", watched)
    run = trained(replace(iris(), plan=plan), tmp_path)
    assert objectives(set(run.feed.series())) == wanted
    assert objectives(*seen) == wanted
    assert set(read_step_series(tmp_path)) == wanted
    assert objectives(*({*record} for record in read_metrics(tmp_path))) == wanted


def test_the_mean_of_an_epoch_is_that_of_its_examples(tmp_path: Path) -> None:
    plan, _ = PLANS["a phase of one, then of two"]
    run = trained(replace(iris(), plan=plan), tmp_path)
    steps = read_step_series(tmp_path)

    def mean(name: str, phase: int) -> float:
        sizes = [len(one["species"]) for one in run.program.batches(run.data["train"], None, phase)]
        assert len(set(sizes)) > 1, "the last batch is a short one"
        return float(np.average(steps[name]["value"], weights=sizes))

    first, last = read_metrics(tmp_path)
    assert "train_lower" not in first and "train_begin" not in last
    assert first["train_begin"] == pytest.approx(mean("train_begin", 0))
    assert last["train_upper"] == pytest.approx(mean("train_upper", 1))


def test_what_rules_tell_is_told_apart(tmp_path: Path) -> None:
    run = trained(gallery("perceptron-gates"), tmp_path, epochs=3)
    found = objectives(set(run.feed.series()))
    rules = {"train_and_", "train_or_", "train_xor"}
    assert rules <= found
    assert found - rules == {
        f"train_{rule}_{part}" for rule in ("and", "or", "xor") for part in ("updates", "margin")
    }
    for rule in ("and", "or", "xor"):
        steps = run.feed.read(f"train_{rule}_updates")["step"].tolist()
        assert steps == sorted(set(steps))  # a point a step: no other rule's among them


def test_the_best_epoch_is_known_by_what_a_value_measures_not_by_its_name(tmp_path: Path) -> None:
    project = iris()
    metric = next(one for one in project.graph.nodes.values() if one.type == "Accuracy")
    with (document := Document(project)).step("Another name"):
        document.apply(Rename(metric.id, "flowers told apart"))
    run = trained(document.project, tmp_path / "one", epochs=6)
    values = run.feed.read("val_flowers_told_apart")["value"].tolist()
    assert min(values) < max(values)
    assert read_run(tmp_path / "one").best["val_flowers_told_apart"] == pytest.approx(max(values), abs=1e-6)
    losses = run.feed.read("val_loss")["value"].tolist()
    assert read_run(tmp_path / "one").best["val_loss"] == pytest.approx(min(losses), abs=1e-6)


def test_a_likelihood_is_better_when_it_grows(tmp_path: Path) -> None:
    run = trained(gallery("mixture-em"), tmp_path / "one", epochs=5)
    values = run.feed.read("val_log_likelihood")["value"].tolist()
    assert values[-1] == max(values)
    assert run.best_epoch == 5 and run.feed.higher == {"log_likelihood"}
    assert read_run(tmp_path / "one").best["val_log_likelihood"] == pytest.approx(max(values), abs=1e-6)
