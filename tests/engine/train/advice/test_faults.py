"""Runs that learn badly, full disks, deleted folders, dead threads: named, and nothing lost."""

from __future__ import annotations

import errno
import gc
import shutil
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.document.plan import Choice
from engine.feed.feed import Event, Feed
from engine.runs.settings import Stage
from engine.train.advice.health import Health
from engine.train.epochs import Epochs
from engine.train.failures import explain
from engine.train.run_folder import read_metrics, read_steps
from engine.train.saving import Saver
from engine.train.trainer import Trainer
from tests.engine.train.networks import DATASETS, ByHand, catalogue, iris, run_of, settle

LONG = 100_000


def findings(project: Any) -> list[Any]:
    run, health, found = run_of(project), Health(), []
    try:
        while run.stage is not Stage.DONE:
            run.advance()
            found += health.look(run)
    except Exception as error:
        found.append(error)
    return found


def test_a_healthy_run_says_nothing() -> None:
    assert [one for one in findings(iris(epochs=40)) if one.kind != "info"] == []


def test_an_explosion_is_told_once_with_a_rate() -> None:
    found = findings(iris(optimiser=Choice("SGD", {"lr": 1e4}), dropout=0.0, epochs=3))
    told = [one for one in found if getattr(one, "what", "") == "explosion"]
    assert len(told) == 1 and told[0].remedy == ("lr", 0.01) and told[0].node_id in {"n2", "n4"}


def test_a_net_that_stands_still_is_told_once() -> None:
    found = findings(iris(optimiser=Choice("SGD", {"lr": 1e-9}), epochs=30))
    assert [one.what for one in found] == ["plateau"]
    assert "Raise the learning rate to 0.01 (now 1e-09)" in found[0].message


def test_advice_is_taken_back_when_the_run_disproves_it_and_not_given_again() -> None:
    run, health = run_of(iris(optimiser=Choice("SGD", {"lr": 1e-9}), epochs=60, dropout=0.0)), Health()
    found: list[Any] = []
    while run.stage is not Stage.DONE:
        if run.epoch == 20:
            run.set_learning_rate(0.1)
        run.advance()
        found += health.look(run)
    told = [(one.what, one.kind) for one in found if one.what == "plateau"]
    assert told == [("plateau", "warning"), ("plateau", "settled")]
    again, following = (
        run_of(iris(optimiser=Choice("SGD", {"lr": 1e-9}), epochs=60, dropout=0.0)),
        Health(health),
    )
    while again.epoch < 15:
        again.advance()
        assert following.look(again) == []


def test_a_net_that_is_right_is_not_said_to_learn_hardly() -> None:
    run, health = run_of(iris(optimiser=Choice("SGD", {"lr": 1e-9}), epochs=15, dropout=0.0)), Health()
    while run.stage is not Stage.DONE:
        run.advance()
        if run.history:
            run.history = Epochs({**record, "val_accuracy": 0.95} for record in run.history)
        assert [one for one in health.look(run) if one.kind != "info"] == []


def warnings_of(trainer: Trainer) -> list[Event]:
    return [event for event in trainer.feed.events if event.kind == "warning"]


def test_a_full_disk_is_told_once_and_made_good(trainer: Trainer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Full while training, room again before the end."""
    trainer.start(iris(epochs=LONG))
    assert trainer.wait(20, until=lambda: trainer.progress.step > 3)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr("engine.runs.checkpoints.write_tensors", refuse)
        for _ in range(3):
            trainer.pause()
            settle(trainer, "paused")
            trainer.resume()
            settle(trainer, "running")
        assert [event.message for event in warnings_of(trainer)] == [
            "The run could not be saved: No space left on device. Training goes on, and the run is saved as "
            "soon as that is possible."
        ]
    trainer.stop()
    settle(trainer, "idle")
    assert "saved again" in trainer.feed.events[-1].message
    assert trainer.folder is not None
    assert read_steps(trainer.folder)["step"].tolist() == list(range(1, trainer.progress.step + 1))


def test_a_deleted_folder_is_written_again(trainer: Trainer) -> None:
    trainer.start(iris(epochs=LONG))
    assert trainer.wait(20, until=lambda: trainer.progress.step > 3)
    folder = trainer.folder
    assert folder is not None
    shutil.rmtree(folder)
    trainer.stop()
    settle(trainer, "idle")
    assert "was deleted" in warnings_of(trainer)[0].message
    assert read_steps(folder)["step"].tolist() == list(range(1, trainer.progress.step + 1))
    assert (folder / "project.nloom").exists() and (folder / "checkpoint.json").exists()


@pytest.mark.parametrize("name", ["steps.csv", "metrics.csv"])
@pytest.mark.parametrize("damage", ["removed", "cut", "replaced"])
def test_a_table_that_is_taken_away_or_cut_is_told_and_written_whole(
    name: str, damage: str, trainer: Trainer
) -> None:
    trainer.start(iris(epochs=LONG))
    assert trainer.wait(20, until=lambda: trainer.progress.epoch > 3)
    trainer.pause()
    assert trainer.wait(20) and trainer.state == "paused" and trainer.folder is not None
    path = trainer.folder / name
    if damage == "removed":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2] if damage == "cut" else b"\xff,\n")
    epoch = trainer.progress.epoch
    trainer.resume()
    assert trainer.wait(20, until=lambda: trainer.progress.epoch > epoch + 1)
    trainer.stop()
    settle(trainer, "idle")
    assert [event.message for event in warnings_of(trainer)] == [
        f"{name} was changed while the run was under way. It has been written again; nothing is lost."
    ]
    assert read_steps(trainer.folder)["step"].tolist() == list(range(1, trainer.progress.step + 1))
    assert [record["epoch"] for record in read_metrics(trainer.folder)] == list(range(trainer.progress.epoch))


def test_a_full_disk_is_tried_again_ever_less_often(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, saver, clock, tried = run_of(iris(epochs=LONG)), Saver(Feed()), [100.0], 0

    def refuse(*_: object, **__: object) -> None:
        nonlocal tried
        tried += 1
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("engine.train.saving.perf_counter", lambda: clock[0])
    monkeypatch.setattr("engine.train.run_folder.time.perf_counter", lambda: clock[0])
    saver.begin(run.program.project, run, tmp_path / "run", fresh=True)
    with monkeypatch.context() as full:
        full.setattr("engine.train.run_folder.write_atomically", refuse)
        full.setattr("engine.runs.checkpoints.write_tensors", refuse)
        for _ in range(600):  # a batch every half second
            clock[0] += 0.5
            run.advance()
            if saver.due(clock[0]):
                saver.save(run)
    assert 5 < tried < 15 and saver.failing and saver.full
    saver.end(run, "stopped")
    assert not saver.failing and read_steps(tmp_path / "run")["step"][-1] == run.step


def test_what_a_file_refuses_is_not_blamed_on_the_model() -> None:
    found = explain(PermissionError(errno.EACCES, "Permission denied", "rows.csv"), None)
    assert str(found) == "rows.csv cannot be used: Permission denied."
    found = explain(OSError(errno.ENOSPC, "No space left on device", "cache"), None)
    assert str(found) == "cache cannot be used: No space left on device. Make room on the disk."
    assert "Make room" not in str(explain(OSError(errno.EIO, "Input/output error"), None))


def test_a_dead_thread_is_told_and_replaced(trainer: Trainer) -> None:
    trainer.start(iris(epochs=LONG))
    assert trainer.wait(20, until=lambda: trainer.progress.step > 3)

    class Gone(BaseException):
        pass

    def die(_: object) -> None:
        raise Gone("lost")

    trainer._guarded = die  # type: ignore[method-assign]
    assert trainer.wait(20, until=lambda: trainer.state == "failed")
    del trainer._guarded
    assert trainer.error is not None and "ended unexpectedly (Gone: lost)" in trainer.error.message
    trainer.start(iris())
    settle(trainer, "finished")


def test_memory_that_ran_out_frees_the_forward_pass_and_suggests_half(tmp_path: Path) -> None:
    """C-9"""
    held: list[Any] = []

    def fail(x: Tensor) -> None:
        if torch.is_grad_enabled() and len(x) > 4:
            large = torch.zeros(1000)
            held.append(weakref.ref(large))
            raise torch.OutOfMemoryError("no more")

    program = ByHand(inside=fail)
    trainer = Trainer(catalogue(), DATASETS, compile=lambda project, catalogue, revision: program)  # type: ignore
    trainer.start(program.project)
    settle(trainer, "failed")
    gc.collect()
    assert held and all(one() is None for one in held)
    event = trainer.feed.events[-1]
    assert event.remedy == ("batch", 4) and "Lower the batch size to 4 (now 8)" in event.message
    program.inside = None
    trainer.start(program.project)
    settle(trainer, "finished")
    assert trainer.close()
