"""The folder of a run: which checkpoints stay, branches of it, and who may write to it."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.document.files import load_project, to_text
from engine.document.graph import Project
from engine.document.plan import Minimise, Phase, Plan, Stop
from engine.errors import TrainingError
from engine.runs import checkpoints
from engine.runs.as_csv import runs_csv
from engine.runs.branch import branch, run_of
from engine.runs.deleted import DELETED, delete, restore
from engine.runs.index import RunIndex, read_run
from engine.runs.records import (
    LOCK,
    Labels,
    StepsReader,
    given_back,
    kept_checkpoints,
    read_labels,
    read_metrics,
    read_settings,
    read_step_series,
    read_steps,
    write_labels,
)
from engine.train.headless import run_headless
from engine.train.run_folder import BusyRun, Keep, RunFolder, new_folder
from engine.train.trainer import Trainer
from tests.engine.train.networks import DATASETS, catalogue, iris, settle
from tests.engine.train.networks import run_of as made_run

PROJECT = iris(epochs=6)


def train(folder: Path, *, resume: bool = False, keep: Keep = Keep(), stop_at: int = 0) -> None:  # noqa: B008
    steps = 0

    def stopped() -> bool:
        nonlocal steps
        steps += 1
        return bool(stop_at) and steps > stop_at

    run_headless(
        PROJECT, catalogue(), DATASETS, device="cpu", folder=folder, resume=resume, keep=keep, stopped=stopped
    )


def curves(folder: Path) -> tuple[list[float], list[dict[str, float]]]:
    """What must not depend on where a run was interrupted: everything but the time."""
    epochs = [{n: v for n, v in record.items() if n != "seconds"} for record in read_metrics(folder)]
    return read_steps(folder)["value"].tolist(), epochs


def test_the_best_and_every_kth_epoch_are_kept_and_the_oldest_go(tmp_path: Path) -> None:
    train(tmp_path, keep=Keep(every=1, newest=3))
    assert kept_checkpoints(tmp_path) == ["best", "epoch-4", "epoch-5", "epoch-6"]
    _, facts = checkpoints.load(tmp_path / "checkpoints" / "epoch-5")
    assert facts["epoch"] == 5 and facts["step"] == 20 - 5
    _, best = checkpoints.load(tmp_path / "checkpoints" / "best")
    assert best["epoch"] == read_settings(tmp_path)["best_epoch"]
    assert read_settings(tmp_path)["checkpoints"] == {"every": 1, "newest": 3}


def test_without_being_asked_the_last_and_the_best_are_kept(tmp_path: Path) -> None:
    train(tmp_path)
    assert kept_checkpoints(tmp_path) == ["best"] and (tmp_path / "checkpoint.json").is_file()


def test_a_branch_gives_the_numbers_of_the_run_it_left_and_leaves_that_alone(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    train(first, keep=Keep(every=2))
    before = {path.name: path.read_bytes() for path in first.iterdir() if path.is_file()}
    origin = branch(first / "checkpoints" / "epoch-4", second)
    assert origin == {"run": "first", "epoch": 4, "step": 12}
    assert len(read_metrics(second)) == 4 and read_steps(second)["step"].tolist() == list(range(1, 13))
    train(second, resume=True)
    assert curves(second) == curves(first)
    assert (np.diff(read_steps(second)["step"]) > 0).all() and (
        np.diff(read_steps(second)["seconds"]) > 0
    ).all()
    assert {path.name: path.read_bytes() for path in first.iterdir() if path.is_file()} == before
    record = read_run(second)
    assert (record.state, record.branched_from) == ("finished", "first")
    assert run_of(first / "checkpoints" / "best") == first and run_of(first) == first


def test_a_stopped_run_can_be_left_where_it_stands(tmp_path: Path) -> None:
    train(tmp_path / "first", stop_at=8)
    branch(tmp_path / "first", tmp_path / "second")
    train(tmp_path / "whole")
    train(tmp_path / "second", resume=True)
    assert curves(tmp_path / "second") == curves(tmp_path / "whole")


@pytest.mark.parametrize("damage", ["no checkpoint", "junk", "no settings"])
def test_a_branch_from_nothing_is_one_sentence_and_makes_nothing(damage: str, tmp_path: Path) -> None:
    train(tmp_path / "first")
    if damage == "no settings":
        (tmp_path / "first" / "settings.json").unlink()
    else:
        facts = tmp_path / "first" / "checkpoint.json"
        facts.unlink() if damage == "no checkpoint" else facts.write_text("[]")
    with pytest.raises(TrainingError):
        branch(tmp_path / "first", tmp_path / "second")
    assert not (tmp_path / "second").exists()


def test_a_finished_run_that_is_looked_at_again_stays_as_it_is(tmp_path: Path) -> None:
    train(tmp_path)
    settings = (tmp_path / "settings.json").read_bytes()
    train(tmp_path, resume=True)
    assert (tmp_path / "settings.json").read_bytes() == settings


def test_the_project_of_a_run_opens_as_it_was(tmp_path: Path) -> None:
    train(tmp_path)
    assert to_text(load_project(tmp_path / "project.nloom")) == to_text(PROJECT)


def test_two_programs_do_not_train_one_run(tmp_path: Path) -> None:
    train(tmp_path, stop_at=3)
    code = (
        "import json, sys; from pathlib import Path; from engine.document.locks import hold\n"
        f"folder = Path({str(tmp_path)!r}); lock = hold(folder / {LOCK!r})\n"
        "facts = json.loads((folder / 'settings.json').read_text())\n"
        "(folder / 'settings.json').write_text(json.dumps({**facts, 'state': 'running', 'process': -1}))\n"
        "print('held', flush=True); sys.stdin.read()\n"
    )
    other = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdout is not None
    try:
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(TrainingError, match="Another program"):
            RunFolder(tmp_path).begin(PROJECT, made_run(PROJECT))
        with pytest.raises(TrainingError, match="is being trained"):
            delete(tmp_path)
    finally:
        other.kill()
        other.communicate()
    train(tmp_path, resume=True)
    assert read_run(tmp_path).state == "finished"


def test_an_index_that_is_kept_hears_of_beginning_and_end(tmp_path: Path) -> None:
    train(tmp_path / "one")
    index = RunIndex(tmp_path)
    assert [record.name for record in index.refresh()] == ["one"]
    train(tmp_path / "two", stop_at=2)
    import sqlite3

    base = sqlite3.connect(tmp_path / "index.sqlite")
    rows = dict(base.execute("SELECT name, state FROM runs"))
    base.close()
    assert rows == {"one": "finished", "two": "stopped"}


def test_a_deleted_run_comes_back_whole(tmp_path: Path) -> None:
    train(tmp_path / "one")
    before = RunIndex(tmp_path).refresh()
    place = delete(tmp_path / "one")
    assert place == tmp_path / DELETED / "one" and RunIndex(tmp_path).refresh() == []
    assert restore(place) == tmp_path / "one" and RunIndex(tmp_path).refresh() == before
    assert delete(tmp_path / "one", for_ever=True) is None and not (tmp_path / "one").exists()


def test_a_run_with_the_name_of_a_deleted_one_is_not_overwritten(tmp_path: Path) -> None:
    train(tmp_path / "one", stop_at=1)
    place = delete(tmp_path / "one")
    train(tmp_path / "one", stop_at=2)
    assert place is not None and restore(place) == tmp_path / "one-2"


def test_labels_are_kept_beside_what_the_run_writes(tmp_path: Path) -> None:
    train(tmp_path, stop_at=4)
    write_labels(tmp_path, Labels(("good", "base"), "so far"))
    train(tmp_path, resume=True)
    assert read_labels(tmp_path) == Labels(("good", "base"), "so far")
    (tmp_path / "labels.json").write_text("[1]")
    with pytest.raises(TrainingError):
        read_labels(tmp_path)


def test_the_table_has_one_row_an_epoch_with_train_and_validation(tmp_path: Path) -> None:
    train(tmp_path / "one", stop_at=8)
    train(tmp_path / "one", resume=True)
    rows = runs_csv([tmp_path / "one"]).splitlines()
    assert rows[0] == "epoch,step,seconds,lr,train_loss,val_loss,val_accuracy"
    assert [row.split(",")[0] for row in rows[1:]] == ["1", "2", "3", "4", "5", "6"]
    train(tmp_path / "two")
    rows = runs_csv([tmp_path / "one", tmp_path / "two"]).splitlines()
    assert rows[0].startswith("run,epoch,step") and len(rows) == 13 and rows[7].startswith("two,1,3,")
    train(tmp_path / "three", stop_at=1)
    with pytest.raises(TrainingError, match="no epoch"):
        runs_csv([tmp_path / "three"])


def test_steps_are_read_on_from_where_the_last_reading_ended(tmp_path: Path) -> None:
    path = tmp_path / "steps.csv"
    path.write_text("step,epoch,seconds,loss\n1,0.5,0.1,2.0\n2,1.0,0.2,1.")
    reader = StepsReader(tmp_path)
    assert reader.read()["train_loss"]["step"].tolist() == [1]
    assert reader.read()["train_loss"].tolist() == []
    path.write_text("step,epoch,seconds,loss\n1,0.5,0.1,2.0\n2,1.0,0.2,1.5\n3,1.5,0.3,1.25\n")
    assert reader.read()["train_loss"]["value"].tolist() == [1.5, 1.25]
    path.write_text("step,epoch,seconds,loss\n1,0.5,0.1,9.0\n")
    assert reader.read()["train_loss"]["value"].tolist() == [9.0]
    assert StepsReader(tmp_path / "nowhere").read() == {}


@pytest.mark.parametrize("piece", [1, 7, 30, 10_000])
def test_steps_are_read_whole_in_pieces_of_any_size(
    piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.runs.records._PIECE", piece)
    lines = [f"{step},{step / 7!r},{step / 10},{1 / step!r}\n" for step in range(1, 51)]
    (tmp_path / "steps.csv").write_text("step,epoch,seconds,loss\n" + "".join(lines) + "51,7.3")
    found = read_steps(tmp_path)
    assert found["step"].tolist() == list(range(1, 51))
    assert found["value"].tolist() == [1 / step for step in range(1, 51)]


def test_steps_of_several_objectives_are_series_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "steps.csv").write_text(
        "step,epoch,seconds,discriminator,generator\n1,0.5,0.1,2.0,\n2,1.0,0.2,1.5,0.25\n3,1.5,0.3,,0.5\n"
    )
    found = read_step_series(tmp_path)
    assert found["train_discriminator"][["step", "value"]].tolist() == [(1, 2.0), (2, 1.5)]
    assert found["train_generator"][["step", "value"]].tolist() == [(2, 0.25), (3, 0.5)]


def two_players() -> Project:
    """Two objectives on one loss, the second at every other step; then a phase of one."""
    parts = (
        Minimise(loss="n5", of=("n2",), name="lower"),
        Minimise(loss="n5", of=("n4",), name="upper", every=2),
    )
    phases = (Phase(parts, Stop(epochs=2)), Phase((Minimise(loss="n5"),), Stop(epochs=1)))
    return replace(iris(), plan=Plan(phases, batch=32))


def test_a_run_of_two_objectives_keeps_and_finds_a_series_for_each(tmp_path: Path) -> None:
    project, steps = two_players(), 0

    def stopped() -> bool:
        nonlocal steps
        steps += 1
        return steps == 5

    for place, stop in (("whole", None), ("parts", stopped), ("parts", None)):
        folder = tmp_path / place
        again = folder.exists()
        run_headless(project, catalogue(), DATASETS, device="cpu", folder=folder, resume=again, stopped=stop)
    whole, parts = (read_step_series(tmp_path / place) for place in ("whole", "parts"))
    assert list(whole) == ["train_lower", "train_upper", "train_objective_2_1"]
    assert whole["train_lower"]["step"].tolist() == [1, 2, 3, 4, 5, 6]
    assert whole["train_upper"]["step"].tolist() == [1, 3, 5]
    assert whole["train_objective_2_1"]["step"].tolist() == [7, 8, 9]
    for name, rows in whole.items():
        assert rows["value"].tolist() == parts[name]["value"].tolist()
    assert RunIndex(tmp_path).refresh()[0].optimiser == "Adam"


def test_new_folders_never_meet(tmp_path: Path) -> None:
    """Several that are asked for at the same moment are several folders, each made by who asked."""
    with ThreadPoolExecutor(8) as many:
        found = list(many.map(lambda _: new_folder(tmp_path / "runs", "Grün & Blau!"), range(40)))
    assert len(set(found)) == 40 and all(one.is_dir() for one in found)
    assert found[0].name.startswith("grün-blau-")


def test_a_run_begins_over_no_other(tmp_path: Path) -> None:
    train(tmp_path, stop_at=4)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    with pytest.raises(BusyRun, match="There is a run in"):
        train(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


def test_a_folder_in_which_no_run_began_is_given_back(tmp_path: Path) -> None:
    with pytest.raises(TrainingError), given_back(folder := new_folder(tmp_path, "one")):
        raise TrainingError("The data cannot be read.")
    assert not folder.exists()
    with pytest.raises(TrainingError), given_back(folder := new_folder(tmp_path, "one")):
        (folder / LOCK).touch()
        raise TrainingError("The model failed.")
    assert folder.exists()


def test_a_run_killed_before_its_first_checkpoint_starts_from_its_beginning(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    project = iris(epochs=2)
    run_headless(project, catalogue(), DATASETS, device="cpu", folder=whole, seed=5)
    five = project.copy()
    five.plan = project.plan.with_(seed=5)
    run = made_run(five)
    store = RunFolder(killed)
    store.begin(project, run, fresh=True)
    store.let_go()
    assert read_settings(killed)["state"] == "running" and not (killed / "checkpoint.json").exists()
    told: list[str] = []
    run_headless(
        project, catalogue(), DATASETS, device="cpu", folder=killed, resume=True, on_notice=told.append
    )
    assert any("starts from its beginning" in sentence for sentence in told)
    assert curves(killed) == curves(whole)


def test_a_run_whose_checkpoint_was_taken_away_does_not_start_over(tmp_path: Path) -> None:
    train(tmp_path, stop_at=4)
    (tmp_path / "checkpoint.json").unlink()
    with pytest.raises(TrainingError, match="There is no checkpoint"):
        train(tmp_path, resume=True)


@pytest.mark.parametrize("damage", [b"", b"no archive", b"PK\x03\x04" + b"\0" * 60])
def test_damaged_pictures_do_not_keep_a_run_from_going_on(damage: bytes, tmp_path: Path) -> None:
    train(tmp_path, stop_at=4)
    (tmp_path / "pictures.npz").write_bytes(damage)
    trainer = Trainer(catalogue(), DATASETS)
    trainer.continue_from(tmp_path)
    settle(trainer, "finished")
    assert [one.message for one in trainer.feed.events if "recorded views" in one.message]
    assert trainer.close()


@pytest.mark.parametrize("name", ["metrics.csv", "steps.csv"])
def test_a_damaged_table_is_set_aside_and_the_run_goes_on(name: str, tmp_path: Path) -> None:
    train(tmp_path, stop_at=10)
    damaged = (tmp_path / name).read_bytes().replace(b"\n1,", b"\none,")
    (tmp_path / name).write_bytes(damaged)
    told: list[str] = []
    run_headless(
        PROJECT, catalogue(), DATASETS, device="cpu", folder=tmp_path, resume=True, on_notice=told.append
    )
    assert told[1].startswith(f"{name} of {tmp_path.name} cannot be read: could not convert string")
    assert (tmp_path / f"damaged-{name}").read_bytes() == damaged
    assert read_settings(tmp_path)["state"] == "finished" and read_metrics(tmp_path)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"version": 1}', '{"version": 1, "tensors": "/"}', "pipe"])
def test_a_checkpoint_that_is_none_is_one_sentence(text: str, tmp_path: Path) -> None:
    train(tmp_path, stop_at=4)
    facts = json.loads((tmp_path / "checkpoint.json").read_text())
    (tmp_path / "checkpoint.json").unlink()
    if text == "pipe":
        os.mkfifo(tmp_path / "checkpoint.json")
    else:
        (tmp_path / "checkpoint.json").write_text(text)
    for attempt in (lambda: train(tmp_path, resume=True), lambda: branch(tmp_path, tmp_path / "second")):
        with pytest.raises(TrainingError, match="checkpoint"):
            attempt()
    (tmp_path / "checkpoint.json").unlink()
    (tmp_path / "checkpoint.json").write_text(json.dumps({**facts, "settings": {"epochs": 1, "odd": 2}}))
    with pytest.raises(TrainingError, match=r"checkpoint\.json of .* cannot be read"):
        train(tmp_path, resume=True)


def test_epochs_that_were_cut_off_a_stopped_run_are_told(tmp_path: Path) -> None:
    train(tmp_path, stop_at=10)
    (tmp_path / "metrics.csv").unlink()
    told: list[str] = []
    run_headless(
        PROJECT, catalogue(), DATASETS, device="cpu", folder=tmp_path, resume=True, on_notice=told.append
    )
    assert f"metrics.csv of {tmp_path.name} holds 0 of 2 epochs" in told[1]
    assert read_settings(tmp_path)["state"] == "finished"


def test_what_a_killed_program_left_half_written_is_swept(tmp_path: Path) -> None:
    train(tmp_path, stop_at=4)
    left = [
        tmp_path / "checkpoint-9-train.safetensors.part",
        tmp_path / "checkpoints" / "best" / ".tmpAb3dEf",
    ]
    left[1].parent.mkdir(parents=True, exist_ok=True)
    for path in left:
        path.write_bytes(b"half")
    train(tmp_path, resume=True)
    assert not any(path.exists() for path in left)


def test_weights_can_be_read_by_whoever_reads_the_settings(tmp_path: Path) -> None:
    train(tmp_path)
    modes = {path.stat().st_mode for path in tmp_path.iterdir() if path.suffix in (".safetensors", ".json")}
    assert len(modes) == 1


def test_event_files_are_written_by_the_package_and_say_when_it_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.runs.tensorboard import tag_of, write_events

    train(tmp_path)
    assert tag_of("val_accuracy") == "accuracy/validation" and tag_of("lr") == "lr"
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(TrainingError, match="not installed") as caught:
        write_events(tmp_path)
    assert caught.value.fix == "Install it with: pip install tensorboard"


def test_event_files_hold_every_step_and_every_epoch(tmp_path: Path) -> None:
    accumulator = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator",
        reason="the tensorboard package is not installed: what it writes was not tested",
    )
    from engine.runs.tensorboard import write_events

    train(tmp_path)
    for _ in range(2):  # the second time replaces the first
        target = write_events(tmp_path)
    found = accumulator.EventAccumulator(str(target), size_guidance={"scalars": 0})
    found.Reload()
    steps = [event.step for event in found.Scalars("loss/train")]
    assert steps == read_steps(tmp_path)["step"].tolist()
    values = [event.value for event in found.Scalars("accuracy/validation")]
    assert values == pytest.approx([record["val_accuracy"] for record in read_metrics(tmp_path)])
    assert json.loads((tmp_path / "settings.json").read_text())["state"] == "finished"
