"""Sweeps: every combination once, in processes of their own, and the best found."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from engine.catalogue.training.numbers import number_of
from engine.document.files import load_project
from engine.errors import NeuroloomError
from engine.runs.index import RunIndex
from engine.runs.records import PROJECT
from engine.runs.sweep import FAILED, FINISHED, MOST, RUNNING, STOPPED, WAITING, Sweep, grid, in_words
from tests.engine.train.networks import iris, with_node

pytestmark = pytest.mark.usefixtures("warm_python")

AXES = {"lr": (0.1, 0.01), "batch": (16, 32)}


def ended(sweep: Sweep) -> Sweep:
    pause = threading.Event()
    while not sweep.over:
        sweep.look()
        pause.wait(0.1)
    return sweep


def test_a_grid_has_every_combination_once() -> None:
    cases = grid(iris(), AXES)
    assert [values for values, _ in cases] == [
        (("lr", lr), ("batch", batch)) for lr in (0.1, 0.01) for batch in (16, 32)
    ]
    for values, project in cases:
        assert {name: number_of(project.plan, name) for name in AXES} == dict(values)
    assert in_words(cases[0][0]) == "learning rate 0.1, batch 16"


@pytest.mark.parametrize(
    "axes", [{"lr": (-1.0,)}, {"momentum": (0.9,)}, {"batch": (16.5,)}, {"seed": range(MOST + 1)}]
)
def test_what_cannot_be_tried_is_a_sentence(axes: dict[str, tuple[float, ...]]) -> None:
    with pytest.raises(NeuroloomError):
        grid(iris(), axes)


def test_four_runs_are_queued_trained_and_compared(tmp_path: Path) -> None:
    """C-27: LR [0.1, 0.01] x batch [16, 32]."""
    sweep = Sweep(grid(iris(epochs=2, dropout=0.0), AXES), tmp_path / "runs", "cpu", at_once=2)
    sweep.look()
    assert [one.state for one in sweep.trials] == [RUNNING, RUNNING, WAITING, WAITING]
    assert sweep.best is None
    ended(sweep)
    assert [one.state for one in sweep.trials] == [FINISHED] * 4
    losses = [one.record.best["val_loss"] for one in sweep.trials if one.record is not None]
    best = sweep.best
    assert best is not None and best is sweep.trials[losses.index(min(losses))] and len(set(losses)) == 4
    for one in sweep.trials:
        assert one.record is not None
        project = load_project(one.record.folder / PROJECT)
        assert {name: number_of(project.plan, name) for name in AXES} == dict(one.values)
    kept = RunIndex(tmp_path / "runs").refresh()
    assert {record.tags for record in kept} == {(sweep.tag,)} and len(kept) == 4
    assert {record.note for record in kept} == {in_words(one.values) for one in sweep.trials}


def test_a_cancelled_sweep_ends_what_trains_and_begins_nothing(tmp_path: Path) -> None:
    sweep = Sweep(grid(iris(epochs=100_000), {"seed": (1, 2)}), tmp_path / "runs", "cpu")
    pause = threading.Event()
    while sweep.trials[0].record is None or not sweep.trials[0].record.steps:
        sweep.look()
        pause.wait(0.1)
    sweep.cancel()
    ended(sweep)
    assert [one.state for one in sweep.trials] == [STOPPED, STOPPED]
    assert sweep.trials[0].record is not None and sweep.trials[0].record.state == "stopped"
    assert sweep.trials[1].record is None
    sweep.close()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_process_that_is_killed_is_told(tmp_path: Path) -> None:
    sweep = Sweep(grid(iris(epochs=100_000), {"seed": (1,)}), tmp_path / "runs", "cpu")
    sweep.look()
    (process,) = sweep._running.values()
    process._process.kill()
    ended(sweep)
    assert sweep.trials[0].state == FAILED and "SIGKILL" in sweep.trials[0].error and sweep.best is None


def test_a_run_that_fails_says_why_and_the_others_go_on(tmp_path: Path) -> None:
    project = iris(epochs=1, dropout=0.0)
    broken = with_node(project, "n4", units=2)  # species 2 has no place among two classes
    cases = [((("seed", 1.0),), broken), ((("seed", 2.0),), project)]
    sweep = ended(Sweep(cases, tmp_path / "runs", "cpu", at_once=2))
    assert [one.state for one in sweep.trials] == [FAILED, FINISHED]
    assert "class" in sweep.trials[0].error
    assert sweep.best is sweep.trials[1]
