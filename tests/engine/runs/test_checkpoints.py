"""Stopped and continued, a run gives the numbers of one that was never stopped."""

import json
import os
from pathlib import Path

import pytest
import torch

from engine.document.graph import Project
from engine.document.plan import Choice
from engine.errors import TrainingError
from engine.runs import checkpoints
from engine.runs.records import CHECKPOINT
from engine.train import state
from engine.train.epochs import Record
from engine.train.headless import run_headless
from engine.train.run_folder import RunFolder, read_metrics, read_settings, read_steps
from tests.engine.train.networks import DATASETS, catalogue, iris, run_of


def lines_of(
    project: Project, folder: Path | None = None, resume: bool = False, stop_at: int = 0
) -> list[Record]:
    lines: list[Record] = []

    def stopped() -> bool:
        return bool(stop_at) and sum("step" in line for line in lines) >= stop_at

    run_headless(
        project,
        catalogue(),
        DATASETS,
        device="cpu",
        folder=folder,
        resume=resume,
        on_line=lines.append,
        stopped=stopped,
    )
    return lines


PROJECTS = {
    "adam, cosine, dropout": iris(epochs=10, schedule=Choice("Cosine")),
    "warm-up and batch norm": iris(epochs=6, schedule=Choice("WarmUp"), norm=True),
    "momentum and steps": iris(
        epochs=6, optimiser=Choice("SGD", {"momentum": 0.9}), schedule=Choice("Step", {"every": 2})
    ),
    "rmsprop": iris(epochs=4, optimiser=Choice("RMSprop", {"momentum": 0.5})),
    "adadelta": iris(epochs=4, optimiser=Choice("Adadelta")),
    "adagrad, early stopping": iris(epochs=60, patience=3, optimiser=Choice("Adagrad", {"lr": 0.5})),
}


@pytest.mark.parametrize("project", PROJECTS.values(), ids=PROJECTS.keys())
def test_stopped_half_way_and_continued_equals_one_run(project: Project, tmp_path: Path) -> None:
    """C-14"""
    whole = lines_of(project)
    steps = sum("step" in line for line in whole)
    first = lines_of(project, tmp_path, stop_at=steps // 2)
    torch.manual_seed(12345)  # another process has other random numbers
    second = lines_of(project, tmp_path, resume=True)
    assert first + second == whole


@pytest.mark.parametrize("stop_at", [1, 2, 3, 4])
def test_it_may_stop_anywhere_in_an_epoch(stop_at: int, tmp_path: Path) -> None:
    project = iris(epochs=3)
    first = lines_of(project, tmp_path, stop_at=stop_at)
    assert first + lines_of(project, tmp_path, resume=True) == lines_of(project)


def test_the_folder_holds_what_a_person_expects(tmp_path: Path) -> None:
    project = iris(epochs=5)
    lines_of(project, tmp_path, stop_at=7)
    assert read_settings(tmp_path)["state"] == "stopped"
    lines = lines_of(project, tmp_path, resume=True)
    rows = (tmp_path / "metrics.csv").read_text().splitlines()
    assert rows[0] == "epoch,step,seconds,lr,train_loss,val_loss,val_accuracy" and len(rows) == 6
    steps = read_steps(tmp_path)
    assert (
        steps["step"].tolist() == list(range(1, 16)) and (steps["seconds"][1:] >= steps["seconds"][:-1]).all()
    )
    settings = read_settings(tmp_path)
    assert settings["state"] == "finished" and settings["results"] == lines[-1]
    names = {path.name for path in tmp_path.iterdir()}
    assert {"project.nloom", "weights-best.safetensors", "weights-last.safetensors"} <= names
    assert not [name for name in names if name.endswith((".part", "tmp"))]
    assert sum(name.startswith("checkpoint-") for name in names) == 1


def test_a_kill_between_the_two_files_leaves_the_older_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C-14: a kill while the checkpoint is written."""
    run = run_of(iris())
    run.advance()
    state.save(tmp_path, run)
    run.advance()

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(checkpoints, "write_atomically", killed)
    with pytest.raises(KeyboardInterrupt):
        state.save(tmp_path, run)
    tensors, facts = checkpoints.load(tmp_path)
    assert facts["step"] == 1 and "model/hidden.weight" in tensors


def test_a_checkpoint_of_another_model_is_refused(tmp_path: Path) -> None:
    state.save(tmp_path, run_of(iris(hidden=8)))
    other = run_of(iris(hidden=16))
    with pytest.raises(TrainingError, match="different model"):
        state.restore(other, *checkpoints.load(tmp_path))


@pytest.mark.parametrize("damage", ["missing", "truncated", "junk", "version"])
def test_a_damaged_checkpoint_is_one_sentence(damage: str, tmp_path: Path) -> None:
    state.save(tmp_path, run_of(iris()))
    facts = tmp_path / CHECKPOINT
    (tensors,) = tmp_path.glob("*.safetensors")
    if damage == "missing":
        facts.unlink()
    elif damage == "truncated":
        os.truncate(tensors, 100)
    elif damage == "junk":
        facts.write_text("{")
    else:
        facts.write_text(json.dumps({**json.loads(facts.read_text()), "version": 99}))
    with pytest.raises(TrainingError):
        checkpoints.load(tmp_path)


def test_a_torn_last_row_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "steps.csv").write_text("step,epoch,seconds,loss\n1,0.5,0.1,2.0\n2,1.0,0.2,1.")
    assert read_steps(tmp_path)["step"].tolist() == [1]


def test_epochs_read_back_as_they_were_and_new_columns_keep_the_old_rows(tmp_path: Path) -> None:
    run = run_of(iris(epochs=3))
    store = RunFolder(tmp_path)
    store.begin(run.program.project, run)
    while run.epoch < 2:
        run.advance()
    store.write(run)
    assert read_metrics(tmp_path) == list(run.history)
    run.history.append({**run.history[0], "epoch": 2, "val_other": 0.5})
    store.write(run)
    run.history.append({**run.history[2], "epoch": 3})
    store.write(run)
    assert read_metrics(tmp_path) == list(run.history)
    with open(tmp_path / "metrics.csv", "a") as file:
        file.write("5,20,1.")
    assert read_metrics(tmp_path) == list(run.history)
