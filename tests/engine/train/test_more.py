"""A run that has ended goes on, in the window and from the command line, or says why not."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from engine.cli import main as cli
from engine.document.files import save_project
from engine.document.graph import Project
from engine.document.plan import Choice, Minimise
from engine.errors import TrainingError
from engine.train.run_folder import read_settings
from engine.train.trainer import Trainer
from tests.engine.emit.test_players import trained
from tests.engine.train.networks import iris, settle
from tests.engine.train.test_counts import flowers, one_phase
from tests.engine.train.test_trainer import losses, with_epochs


def plain(**plan: Any) -> Project:
    project = iris(dropout=0.0, epochs=4)
    project.plan = project.plan.with_(restore_best=False, **plan)
    return project


def in_turn() -> Project:
    objective = Minimise(schedule=Choice("Exponential"), every=2, accumulate=2)
    return flowers(one_phase(objective, batch=16, epochs=4))


@pytest.mark.parametrize("make", [plain, in_turn])
def test_a_finished_run_goes_on_as_one_that_was_told_so_at_once(make: Any, tmp_path: Path) -> None:
    whole, _ = trained(make(), epochs=8)
    first, _ = trained(make(), folder=tmp_path / "run")
    told: list[str] = []
    rest, run = trained(make(), folder=tmp_path / "run", resume=True, epochs=8, on_notice=told.append)
    assert [*first[:-1], *rest] == whole  # but for the test values of the first four
    assert run.epoch == 8 and told[1:] == ["Training goes on after epoch 4."]


def test_what_the_rate_does_is_said(tmp_path: Path) -> None:
    project = plain(schedule=Choice("Cosine"))
    trained(project, folder=tmp_path / "run")
    told: list[str] = []
    _, run = trained(project, folder=tmp_path / "run", resume=True, epochs=8, on_notice=told.append)
    _, sentence = told
    assert "goes on at 0.005, it had ended at 0" in sentence
    assert run.learning_rate == pytest.approx(0.0, abs=1e-9)


def test_a_run_cannot_go_back(tmp_path: Path) -> None:
    trained(plain(), folder=tmp_path / "run")
    with pytest.raises(TrainingError, match="has trained 4 epochs already"):
        trained(plain(), folder=tmp_path / "run", resume=True, epochs=3)
    assert trained(plain(), folder=tmp_path / "run", resume=True, epochs=4)[0] == []


def test_the_command_line_goes_on_or_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save_project(plain(), Path("flowers.nloom"))
    train = ["train", "flowers.nloom", "--device", "cpu"]
    assert cli.main([*train, "--out", "a"]) == 0
    assert cli.main([*train, "--out", "a", "--resume", "--epochs", "2"]) == cli.PROBLEMS
    assert cli.main([*train, "--out", "a", "--resume", "--epochs", "6"]) == 0
    assert cli.main([*train, "--out", "b", "--branch", "a", "--epochs", "8"]) == 0
    for name, rows in (("a", 6), ("b", 8)):
        assert len(Path(name, "metrics.csv").read_text("utf-8").splitlines()) == rows + 1


def half_cosine(done: float) -> float:
    """The rate of a run that began with 0.003, after that part of it (Loshchilov and Hutter, 2017)."""
    return 0.003 * (1 + math.cos(math.pi * done)) / 2


@pytest.mark.parametrize("schedule", [None, Choice("Cosine")])
def test_a_finished_run_trains_more_with_its_weights_and_moments(
    trainer: Trainer, schedule: Choice | None
) -> None:
    project = iris(epochs=6, schedule=schedule, optimiser=Choice("Adam", {"lr": 0.003}), dropout=0.0)
    trainer.start(project, device="cpu")
    settle(trainer, "finished")
    whole = losses(trainer)
    short = with_epochs(project, 3)
    trainer.start(short, device="cpu")
    settle(trainer, "finished")
    folder = trainer.folder
    assert folder is not None and len(losses(trainer)) == len(whole) // 2
    trainer.more()
    assert trainer.wait(20) and trainer.state == "finished"
    assert trainer.folder == folder and trainer.progress.epoch == trainer.progress.epochs == 6
    assert len(losses(trainer)) == len(whole)
    facts = read_settings(folder)
    assert (facts["state"], facts["epochs_done"], facts["more"]) == ("finished", 6, 3)
    told = [event.message for event in trainer.feed.events if "goes on" in event.message]
    assert len(told) == 1 and ("learning rate" in told[0]) == (schedule is not None)
    if schedule is None:  # every epoch was the best so far, so that nothing was taken back
        assert losses(trainer) == whole
    else:  # half a cosine over three epochs, then what is left of one over six
        ends = {point["epoch"]: point["value"] for point in trainer.feed.read("lr")}
        right = {done: half_cosine(done / (3 if done <= 3 else 6)) for done in range(1, 7)}
        assert {done: ends[done] for done in right} == pytest.approx(right, abs=1e-12)
    trainer.reset()
    trainer.continue_from(folder, at_rest=True)
    settle(trainer, "finished")
    assert trainer.progress.epoch == 6
    trainer.continue_from(folder)
    settle(trainer, "finished")
    assert trainer.progress.epoch == 9


def test_a_run_that_stopped_early_goes_on_to_the_end_of_its_plan(trainer: Trainer) -> None:
    trainer.start(iris(epochs=9, patience=1, optimiser=Choice("SGD", {"lr": 1e-12})), device="cpu")
    settle(trainer, "finished")
    stopped = trainer.progress.epoch
    assert stopped < 9
    trainer.more()
    assert trainer.wait(20) and trainer.state == "finished"
    assert trainer.progress.epoch > stopped and trainer.progress.epochs == 9
