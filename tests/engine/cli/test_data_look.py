"""A file of one's own on the command line: what it is, and a project that reads it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.cli.main import main
from engine.document.files import load_project
from engine.document.shipped import datasets_folder

PENGUINS = datasets_folder() / "files" / "penguins.csv"


def test_a_table_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "look", str(PENGUINS)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("penguins.csv: Table, 344 rows")
    assert any(line.split()[:3] == ["species", "category", "target"] for line in lines)
    assert any(line.startswith("- 11 of 344 rows have blank inputs") for line in lines)
    counts = next(line for line in lines if line.startswith("train "))
    assert sum(int(part.split()[1]) for part in counts.split(" · ")) == 333


def test_for_machines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "look", "--json", str(PENGUINS)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["type"] == "TableFile" and found["error"] == ""
    assert found["columns"][0]["name"] == "features" and found["columns"][1]["classes"][0] == "Adelie"
    assert {one["code"] for one in found["findings"]} >= {"missing"}


def test_a_project_is_written_that_trains(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "birds.nloom"
    assert main(["data", "project", str(PENGUINS), "-o", str(target)]) == 0
    assert capsys.readouterr().out.strip() == str(target)
    kinds = [node.type for node in load_project(target).graph.nodes.values()]
    assert kinds == ["TableFile", "Linear", "Linear", "Linear", "CrossEntropy", "Accuracy"]
    assert main(["check", str(target)]) == 0
    assert main(["train", str(target), "--epochs", "3", "--out", str(tmp_path / "run"), "--json"]) == 0
    before = target.read_bytes()
    capsys.readouterr()
    assert main(["data", "project", str(PENGUINS), "-o", str(target)]) == 3
    assert "is there already" in capsys.readouterr().err and target.read_bytes() == before


def test_read_as_something_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tide.csv"
    path.write_text("level\n" + "\n".join(str((at * 7) % 12 + at / 9) for at in range(200)), encoding="utf-8")
    assert main(["data", "look", str(path), "--as", "SeriesFile"]) == 0
    assert "Time series" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["nowhere.csv", "empty.csv"])
def test_what_cannot_be_read_is_told(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.csv").write_bytes(b"")
    assert main(["data", "look", str(tmp_path / name)]) == 1
    assert name in capsys.readouterr().err


def test_rows_that_do_not_fit_can_be_skipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{at / 4},{'ab'[at % 2]}" for at in range(40)]
    path = tmp_path / "ragged.csv"
    path.write_text("x,kind\n" + "\n".join([*rows[:20], "1,a,9,9", *rows[20:], "2,b,7"]) + "\n")
    assert main(["data", "look", str(path)]) != 0
    assert "Row 22" in capsys.readouterr().err
    assert main(["data", "look", "--skip-rows", str(path)]) == 0
    out = capsys.readouterr().out
    assert "ragged.csv: Table, 40 rows" in out and '- 2 lines are skipped ("Skipped lines").' in out
    assert main(["data", "look", "--skip-rows", str(tmp_path)]) != 0
