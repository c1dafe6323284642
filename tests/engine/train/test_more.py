"""A run that has ended goes on for more epochs from the command line, or says why not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.cli import main as cli
from engine.document.files import save_project
from engine.document.graph import Project
from engine.document.plan import Choice, Minimise
from engine.errors import TrainingError
from tests.engine.emit.test_players import trained
from tests.engine.train.networks import iris
from tests.engine.train.test_counts import flowers, one_phase


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
    assert run.epoch == 8 and told == ["Training goes on after epoch 4."]


def test_what_the_rate_does_is_said(tmp_path: Path) -> None:
    project = plain(schedule=Choice("Cosine"))
    trained(project, folder=tmp_path / "run")
    told: list[str] = []
    _, run = trained(project, folder=tmp_path / "run", resume=True, epochs=8, on_notice=told.append)
    (sentence,) = told
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
