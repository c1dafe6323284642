"""A run in another process's hands, read from its folder while it grows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from engine.errors import TrainingError
from engine.feed.feed import Feed
from engine.runs.attach import Attached
from engine.runs.settings import Settings, Stage
from engine.train.begin import begin_run
from engine.train.loop import Run
from engine.train.run_folder import RunFolder
from engine.train.sources import Sources
from tests.engine.train.networks import DATASETS, catalogue, iris


def begun(folder: Path) -> tuple[Run, RunFolder]:
    project = iris(epochs=3)
    sources = Sources(catalogue(), DATASETS)
    program = sources.program(project, 0)
    settings = Settings.of(project.plan, device="cpu")
    run = begin_run(program, catalogue(), sources.loader(program, "cpu"), settings, Feed())
    store = RunFolder(folder)
    store.begin(project, run)
    return run, store


def test_curves_and_state_follow_the_run(tmp_path: Path) -> None:
    run, store = begun(tmp_path / "run")
    attached = Attached(tmp_path / "run")
    assert attached.poll() and attached.state == "running" and attached.progress.step == 0
    while run.epoch < 1:
        run.advance()
    store.write(run)
    version = attached.feed.version
    assert attached.poll() and attached.feed.version > version
    assert not attached.poll()
    progress = attached.progress
    assert (progress.step, progress.epoch, progress.epochs) == (run.step, 1, 3)
    assert progress.steps_per_epoch == run.steps_per_epoch
    assert progress.loss == pytest.approx(run.loss)
    while run.stage is not Stage.DONE:
        run.advance()
    store.end(run, "finished")
    assert attached.poll() and attached.state == "finished" and not attached.alive
    for name in run.feed.series():
        if name != "lr":
            np.testing.assert_allclose(
                attached.feed.read(name)["value"], run.feed.read(name)["value"], rtol=1e-12
            )
    assert attached.feed.last("test_loss") == run.results["test_loss"]


def test_a_run_that_goes_back_is_read_again(tmp_path: Path) -> None:
    run, store = begun(tmp_path / "run")
    while run.epoch < 2:
        run.advance()
    store.write(run)
    attached = Attached(tmp_path / "run")
    attached.poll()
    store.let_go()
    again, other = begun(tmp_path / "run")
    again.advance()
    other.write(again)
    generation = attached.feed.generation
    assert attached.poll() and attached.feed.generation == generation + 1
    assert attached.progress.step == 1 and len(attached.feed.read("train_loss")) == 1
    other.let_go()


def test_a_process_that_died_is_named(tmp_path: Path) -> None:
    _, store = begun(tmp_path / "run")
    attached = Attached(tmp_path / "run")
    attached.poll()
    store.let_go()
    assert attached.poll() and attached.state == "failed"
    assert attached.error is not None and "ended" in attached.error.message


def test_it_says_what_several_processes_change(tmp_path: Path) -> None:
    _, store = begun(tmp_path / "run")
    store.remember(processes=2, backend="gloo", restarts=1, differs_from_one_process=["Dropout differs."])
    attached = Attached(tmp_path / "run")
    attached.poll()
    said = [event.message for event in attached.feed.events]
    assert said[0] == "2 processes train this run (gloo)." and "Dropout differs." in said
    assert any("began again" in message for message in said)
    store.let_go()


def test_another_folder_is_refused_and_half_a_file_waits(tmp_path: Path) -> None:
    with pytest.raises(TrainingError):
        Attached(tmp_path)
    _, store = begun(tmp_path / "run")
    attached = Attached(tmp_path / "run")
    whole = (tmp_path / "run" / "settings.json").read_text("utf-8")
    (tmp_path / "run" / "settings.json").write_text(whole[:20], "utf-8")
    assert not attached.poll()
    (tmp_path / "run" / "settings.json").write_text(json.dumps(json.loads(whole)), "utf-8")
    assert attached.poll() and attached.state == "running"
    store.let_go()
