"""Tables of people as they arrived, each from the steps of the case that it is named for."""

from __future__ import annotations

import json
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest
import torch

from engine.catalogue import Data, load_catalogue
from engine.data.loading.node import read_node
from engine.data.open.opening import Opened, open_data
from engine.data.open.tables import open_it
from engine.data.watch import Watch
from engine.document.graph import Project
from engine.document.shipped import datasets_folder
from engine.emit.writing import export
from engine.train.headless import run_headless
from tests.engine.data.any_files import PICTURES
from tests.engine.data.test_spoiled_files import node_of
from tests.gallery.recipes import data_project
from tests.gallery.running import alone
from tests.warm import python

CATALOGUE = load_catalogue()


def project_of(found: Opened) -> Project:
    node_type = CATALOGUE.get(found.type)
    assert node_type is not None and issubclass(node_type, Data)
    return data_project(node_type, found.params)


def columns(found: Opened) -> dict[str, tuple[str, str]]:
    table = found.params["table"]
    assert isinstance(table, tuple)
    return {str(row[0]): (str(row[1]), str(row[2])) for row in table if isinstance(row, tuple)}


def test_d1_comma_decimals_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "orange.csv"
    rows = [f"2019-06-12 09:{at:02d}:17;{28 + at / 10:.1f}".replace(".", ",") for at in range(30)]
    path.write_text("Datum;Temperatur (Celsius)\n" + "\n".join(rows) + "\n", encoding="utf-8")
    found = open_it(path, Watch())
    assert columns(found)["Temperatur (Celsius)"][0] == "number"
    unscaled = Opened(found.type, {**found.params, "target_scaling": "none"}, found.name)
    splits = read_node(node_of(unscaled), CATALOGUE)
    values = sorted(float(value) for part in splits.values() for value in part["Temperatur (Celsius)"])
    assert values == pytest.approx([28 + at / 10 for at in range(30)], abs=1e-5)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-8-sig", "utf-16"])
def test_d3_degrees_in_any_encoding(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "weather.csv"
    text = "Temp °C,kind\n" + "".join(f"{at / 4},{'né' if at % 2 else 'ça'}\n" for at in range(40))
    path.write_bytes(text.encode(encoding))
    found = open_data(path)
    assert columns(found) == {"Temp °C": ("number", "input"), "kind": ("category", "target")}
    splits = read_node(node_of(found), CATALOGUE)
    assert sum(len(part["features"]) for part in splits.values()) == 40


def test_d5_paths_of_images_are_images(tmp_path: Path) -> None:
    for name, content in PICTURES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    rows = "".join(f"images/{at}.png,{at % 2}\n" for at in range(8))
    (tmp_path / "list.csv").write_text(rows, encoding="utf-8")
    found = open_data(tmp_path / "list.csv")
    assert found.type == "ImageFolder" and found.params["listed"] == ("0", "1")
    splits = read_node(node_of(found), CATALOGUE)
    assert sum(len(part["image"]) for part in splits.values()) == 8


def test_d6_seven_rows_with_blanks_are_told_and_mended(tmp_path: Path) -> None:
    path = tmp_path / "blanks.csv"
    lost = range(0, 98, 14)
    rows = [f"{'' if at in lost else round(at / 3, 4)},{at % 7},{'ab'[at % 2]}" for at in range(100)]
    path.write_text("x,z,y\n" + "\n".join(rows) + "\n", encoding="utf-8")
    found = open_data(path)
    assert any(" 7 " in f" {remark} " and "100" in remark for remark in found.remarks), found.remarks
    for missing, left in (("drop rows", 93), ("fill with mean", 100), ("fill with median", 100)):
        node = node_of(Opened(found.type, {**found.params, "missing": missing}, found.name))
        splits = read_node(node, CATALOGUE)
        assert sum(len(part["features"]) for part in splits.values()) == left
        assert all(part["features"].isfinite().all() for part in splits.values())


def test_d7_names_of_classes_are_classes_and_go_along(tmp_path: Path) -> None:
    path = tmp_path / "iris.csv"
    names = ("setosa", "versicolor", "virginica")
    rows = "".join(f"{at / 10},{at % 5},{names[at % 3]}\n" for at in range(60))
    path.write_text("length,width,species\n" + rows, encoding="utf-8")
    found = open_data(path)
    made = CATALOGUE.make(node_of(found))
    assert isinstance(made, Data)
    assert next(one.classes for one in made.columns() if one.name == "species") == names
    script = export(project_of(found), CATALOGUE, tmp_path / "alone.py")[0]
    assert all(name in script.read_text(encoding="utf-8") for name in names)


def test_d8_and_a19_a_regression_is_right_and_leaves_its_file_alone(tmp_path: Path) -> None:
    """The loss is the mean over rows, here as in the export, and the file keeps its bytes and its time."""
    path = tmp_path / "line.csv"
    path.write_text(
        "x,y\n" + "".join(f"{at / 7:.4f},{at * at / 9:.4f}\n" for at in range(50)), encoding="utf-8"
    )
    mark, before = sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns
    found = open_data(path)
    assert found.type == "TableFile" and columns(found)["y"] == ("number", "target")
    project = project_of(found)
    lines: list[str] = []
    run_headless(
        project,
        CATALOGUE,
        datasets_folder(),
        seed=1,
        device="cpu",
        on_line=lambda record: lines.append(json.dumps(record)),
    )
    splits = read_node(node_of(found), CATALOGUE)
    target = splits["test"]["y"]
    assert target.shape == (len(target), 1)
    constant = torch.nn.functional.mse_loss(target.mean(0, keepdim=True).expand_as(target), target)
    over_pairs = ((target - target[:, 0]) ** 2).mean()
    assert torch.isclose(over_pairs, 2 * constant)  # what a loss over pairs of rows would be like
    script = export(project, CATALOGUE, tmp_path / "alone.py")[0]
    command = [python(), "-W", "error", script.name, "--json", "--device", "cpu", "--seed", "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=alone())
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines() == lines
    assert sha256(path.read_bytes()).hexdigest() == mark and path.stat().st_mtime_ns == before


def test_d15_classes_are_dealt_alike_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "sorted.csv"
    path.write_text(
        "x,y\n" + "".join(f"{at / 7:.4f},{'aabc'[at // 50]}\n" for at in range(200)), encoding="utf-8"
    )
    found = open_data(path)
    counts = {
        split: torch.bincount(part["y"].flatten().long(), minlength=3).tolist()
        for split, part in read_node(node_of(found), CATALOGUE).items()
    }
    whole = [sum(one) for one in zip(*counts.values(), strict=True)]
    assert whole == [100, 50, 50]
    for split in counts.values():
        assert split[0] == pytest.approx(2 * split[1], abs=2) and split[1] == pytest.approx(split[2], abs=1)
