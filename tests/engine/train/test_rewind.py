"""Going back: from a state before a step the run gives the same numbers once more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.catalogue import load_catalogue
from engine.document.plan import Plan
from engine.document.shipped import datasets_folder
from engine.emit.program import compile_program
from engine.feed.feed import Feed
from engine.runs.records import read_step_series
from engine.runs.settings import Settings
from engine.train.loop import Run
from engine.train.rewind import Rewind
from engine.train.trainer import Trainer
from tests.engine.emit.test_players import PLANS, iris


def run_of(plan: Plan) -> Run:
    program = compile_program(iris(plan), load_catalogue())
    return Run(
        program, lambda: program.load(datasets_folder(), "cpu"), Settings.of(plan, device="cpu"), Feed()
    )


def steps(run: Run, count: int) -> list[float]:
    """Take so many steps, evaluations between them; returns every objective's values."""
    found: list[float] = []
    run.on_record = lambda record: found.extend(map(float, record.values()))
    while count:
        before = run.step
        run.advance()
        count -= run.step - before
    return found


@pytest.mark.parametrize(
    "plan",
    [
        Plan(batch=32),
        *(
            PLANS[name].with_(epochs=9)
            for name in ("two players", "taking turns", "two phases", "L-BFGS", "EMA")
        ),
    ],
)
def test_a_run_that_went_back_gives_the_same_numbers(plan: Plan) -> None:
    run, rewind = run_of(plan), Rewind()
    taken = []
    for _ in range(4):
        rewind.keep(run)
        taken.append(steps(run, 1))
    assert rewind.steps == (0, 1, 2, 3)
    at, points = (
        run.step,
        {name: run.feed.read(name).tolist() for name in run.feed.series() if "train" in name},
    )
    assert rewind.back(run) and rewind.back(run)
    assert run.step == at - 2
    assert all(step <= at - 2 for name in points for step in run.feed.read(name)["step"])
    assert [steps(run, 1), steps(run, 1)] == taken[2:]
    again = {name: run.feed.read(name).tolist() for name in points}
    assert {name: [(row[0], row[3]) for row in rows] for name, rows in again.items()} == {
        name: [(row[0], row[3]) for row in rows] for name, rows in points.items()
    }
    assert rewind.back(run) and rewind.back(run) and not rewind.back(run)
    assert run.step == 0


def test_the_oldest_states_give_way_where_all_take_more_than_the_budget() -> None:
    run = run_of(Plan(batch=32))
    whole = Rewind()
    whole.keep(run)
    one = whole.bytes
    rewind = Rewind(budget=4 * one)
    for _ in range(8):
        steps(run, 1)
        rewind.keep(run)
        assert rewind.bytes <= rewind.budget
    assert 1 < len(rewind) < 8 and rewind.steps[-1] == run.step == 8


def test_the_newest_state_is_kept_whatever_it_takes() -> None:
    run, rewind = run_of(Plan(batch=32)), Rewind(budget=1)
    for _ in range(3):
        rewind.keep(run)
        steps(run, 1)
    assert rewind.steps == (2,) and rewind.bytes > rewind.budget
    assert rewind.back(run) and run.step == 2


def test_a_person_steps_and_goes_back(tmp_path: Path) -> None:
    trainer = Trainer(load_catalogue(), datasets_folder(), tmp_path)
    project = iris(Plan(batch=32))
    try:
        trainer.update(project, 1)
        for _ in range(3):
            trainer.step()
            assert trainer.wait()
        first: Any = trainer.feed.read("train_loss")["value"].tolist()
        assert trainer.can_go_back and trainer.progress.step == 3
        trainer.back()
        trainer.back()
        assert trainer.wait()
        assert trainer.progress.step == 1 and trainer.state == "paused"
        for _ in range(2):
            trainer.step()
            assert trainer.wait()
        assert trainer.feed.read("train_loss")["value"].tolist() == first
        trainer.resume()
        assert trainer.wait(until=lambda: trainer.progress.step > 6)
        trainer.pause()
        assert trainer.wait() and trainer.folder is not None
        kept = read_step_series(trainer.folder)["train_loss"]["step"].tolist()
        assert kept == list(range(1, trainer.progress.step + 1))
    finally:
        trainer.close()
