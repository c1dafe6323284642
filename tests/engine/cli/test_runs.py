"""`neuroloom runs`, and `train` that begins from other runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.cli import main as cli
from engine.document.files import save_project
from engine.runs.records import read_metrics, read_settings
from tests.engine.train.networks import iris
from tests.engine.train.stored_runs import write_run

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two stored runs under `runs` of a folder that is the current one."""
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path / "runs", "first", 4, lr=0.1, started="2026-01-01T10:00:00+00:00")
    write_run(tmp_path / "runs", "second", 3, lr=0.01, started="2026-01-02T10:00:00+00:00")


def called(capsys: Captured, *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    status = cli.main(list(words))
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def objects(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("what", ["list", "show", "diff", "csv", "tensorboard", "tag", "delete", "restore"])
def test_every_subcommand_has_help_with_the_exit_statuses(what: str, capsys: Captured) -> None:
    status, out, _ = called(capsys, "runs", what, "--help")
    assert status == 0 and "exit status" in out and "--json" in out


def test_what_is_not_understood_is_2(capsys: Captured) -> None:
    assert called(capsys, "runs")[0] == called(capsys, "runs", "burn")[0] == cli.USAGE


def test_list_filters_and_needs_no_torch(capsys: Captured) -> None:
    status, out, _ = called(capsys, "runs", "list", "--json")
    assert status == 0 and [row["name"] for row in objects(out)] == ["second", "first"]
    assert objects(out)[1]["best"]["val_loss"] == 0.5
    assert called(capsys, "runs", "list", "lr<0.05")[1].splitlines()[1].startswith("second")
    assert "No runs in runs match" in called(capsys, "runs", "list", "nothing")[1]
    code = (
        "import sys; from engine.cli.main import main; main(['runs', 'list']); exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], env=os.environ, capture_output=True).returncode == 0


def test_show_takes_a_name_a_folder_or_a_beginning(capsys: Captured) -> None:
    for name in ("first", "runs/first", "fir"):
        status, out, _ = called(capsys, "runs", "show", name)
        assert status == 0 and "last 0.5, best 0.5" in out
    status, out, _ = called(capsys, "runs", "show", "third", "--json")
    assert status == cli.PROBLEMS and "There is no run 'third'" in objects(out)[0]["error"]["message"]


def test_diff_of_two_runs_and_of_a_run_and_a_file(capsys: Captured) -> None:
    status, out, _ = called(capsys, "runs", "diff", "first", "second")
    assert status == 0 and out.splitlines() == ["learning rate: 0.1 → 0.01", "layer, units: 3 → 4"]
    found = objects(called(capsys, "runs", "diff", "first", "runs/second/project.nloom", "--json")[1])
    assert {one["kind"] for one in found} == {"setting", "node"}
    assert "trained alike" in called(capsys, "runs", "diff", "first", "first")[1]


def test_csv_goes_to_stdout_or_a_file(capsys: Captured, tmp_path: Path) -> None:
    assert called(capsys, "runs", "csv", "first")[1] == (tmp_path / "runs/first/metrics.csv").read_text()
    assert called(capsys, "runs", "csv", "first", "second", "--out", "t.csv")[0] == 0
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 8


def test_tags_are_added_and_taken_away(capsys: Captured) -> None:
    assert called(capsys, "runs", "tag", "first", "good", "base", "--note", "so far")[1] == (
        "first: good, base; so far\n"
    )
    found = objects(called(capsys, "runs", "tag", "first", "--json", "--remove", "good")[1])
    assert found == [{"run": "first", "tags": ["base"], "note": "so far"}]
    assert [row["name"] for row in objects(called(capsys, "runs", "list", "tag:base", "--json")[1])] == [
        "first"
    ]


@pytest.mark.parametrize("name", ["{outside}", "../outside", "link/inner", ".", "link/../outside"])
def test_delete_and_restore_touch_nothing_outside_the_folder_of_the_runs(
    name: str, capsys: Captured, tmp_path: Path
) -> None:
    for outside in (
        tmp_path / "outside",
        tmp_path / "runs" / "outside" / "inner",
        tmp_path / "elsewhere" / "inner",
    ):
        write_run(outside.parent, outside.name)
    write_run(tmp_path / "runs" / ".deleted", "known")
    (tmp_path / "runs" / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "runs" / ".deleted" / "link").symlink_to(tmp_path / "elsewhere")
    before = sorted(tmp_path.rglob("*"))
    name = name.format(outside=tmp_path / "outside")
    for command in (["delete"], ["delete", "--for-ever"], ["restore"]):
        status, _, said = called(capsys, "runs", *command, name)
        assert status == cli.PROBLEMS and ("is not a run in" in said or "There is no" in said)
    index = tmp_path / "runs" / "index.sqlite"
    assert sorted(path for path in tmp_path.rglob("*") if path != index) == [p for p in before if p != index]


def test_delete_can_be_taken_back_unless_it_was_for_ever(capsys: Captured, tmp_path: Path) -> None:
    assert called(capsys, "runs", "delete", "first")[0] == 0
    assert [row["name"] for row in objects(called(capsys, "runs", "list", "--json")[1])] == ["second"]
    assert called(capsys, "runs", "restore", "first")[0] == 0
    assert (tmp_path / "runs" / "first" / "metrics.csv").is_file()
    assert called(capsys, "runs", "delete", "first", "--for-ever")[0] == 0
    assert not (tmp_path / "runs" / "first").exists()
    assert called(capsys, "runs", "restore", "first")[0] == cli.PROBLEMS


def test_train_begins_with_weights_and_says_which_fit(capsys: Captured, tmp_path: Path) -> None:
    save_project(iris(epochs=2), tmp_path / "flowers.nloom")
    train = ("train", "flowers.nloom", "--device", "cpu")
    assert called(capsys, *train, "--out", "a", "--checkpoint-every", "1")[0] == 0
    status, _, err = called(capsys, *train, "--out", "b", "--weights", "a", "--seed", "5")
    assert status == 0 and "2 of 2 layers take weights from" in err and "hidden   from hidden" in err
    _, out, _ = called(capsys, *train, "--out", "c", "--weights", "a/weights-last.safetensors", "--json")
    assert [one["how"] for one in objects(out)[0]["weights"]["layers"]] == ["name", "name"]
    (tmp_path / "junk.pt").write_bytes(b"junk")
    status, _, err = called(capsys, *train, "--out", "d", "--weights", "junk.pt")
    assert status == cli.PROBLEMS and "junk.pt" in err


def test_train_goes_on_as_a_branch_of_another_run(capsys: Captured, tmp_path: Path) -> None:
    save_project(iris(epochs=4), tmp_path / "flowers.nloom")
    train = ("train", "flowers.nloom", "--device", "cpu")
    assert called(capsys, *train, "--out", "a", "--checkpoint-every", "1")[0] == 0
    assert called(capsys, *train, "--out", "b", "--branch", "a/checkpoints/epoch-2")[0] == 0
    assert [row["val_loss"] for row in read_metrics(Path("b"))] == [
        row["val_loss"] for row in read_metrics(Path("a"))
    ]
    assert read_settings(Path("b"))["branched_from"] == {"run": "a", "epoch": 2, "step": 6}
    assert called(capsys, *train, "--out", "c", "--branch", "a", "--resume")[0] == cli.USAGE
    assert called(capsys, *train, "--out", "c", "--branch", "nowhere")[0] == cli.PROBLEMS
