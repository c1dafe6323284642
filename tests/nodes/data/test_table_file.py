"""Tables of a person's own as a node: its ports, and the same numbers from a project and its script."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from engine.catalogue import Data, load_catalogue
from engine.data.open.opening import open_data
from engine.document.graph import Graph, Link, Node, Project
from engine.document.plan import Plan
from engine.document.shipped import datasets_folder
from engine.emit.writing import export
from engine.errors import ParamError
from engine.shapes.heads import names_of
from engine.shapes.shapes import check
from engine.train.headless import run_headless
from nodes.data.table_file import TableFile
from tests.gallery.running import alone
from tests.warm import python

PLANTS = Path(__file__).parents[2] / "data_files" / "plants.csv"
CATALOGUE = load_catalogue()


def project_of(path: Path, title: str = "Own table", **params: object) -> Project:
    """A dense layer from the features of a table to its target."""
    opened = {**open_data(path).params, **params}
    target = TableFile(opened).columns()[1]
    nodes = [
        Node("n1", "TableFile", params=opened),
        Node("n2", "Linear", params={"units": len(target.classes) or 1}),
        Node("n3", "CrossEntropy" if target.classes else "MSE"),
    ]
    links = [
        Link("n1", "features", "n2", "x"),
        Link("n2", "output", "n3", "prediction"),
        Link("n1", target.name, "n3", "target"),
    ]
    return Project(title=title, graph=Graph(nodes, links), plan=Plan().with_(batch=8, epochs=2), next_id=4)


def both(project: Project, script: Path) -> tuple[list[str], list[str]]:
    """The lines of a run here, and those that the exported script prints alone with warnings as errors."""
    assert check(project, CATALOGUE).errors == []
    here: list[str] = []
    run_headless(
        project,
        CATALOGUE,
        datasets_folder(),
        seed=3,
        device="cpu",
        on_line=lambda record: here.append(json.dumps(record)),
    )
    export(project, CATALOGUE, script)
    command = [python(), "-W", "error", str(script), "--json", "--device", "cpu", "--seed", "3"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", env=alone())
    assert done.returncode == 0, done.stderr[-3000:]
    return here, done.stdout.splitlines()


def test_a_table_trains_and_its_script_gives_the_same_numbers(tmp_path):
    here, there = both(project_of(PLANTS), tmp_path / "plants.py")
    assert len(here) > 4 and here == there


def test_a_table_that_stays_on_disk_gives_the_losses_of_one_in_memory(tmp_path, monkeypatch):
    monkeypatch.delenv("NEUROLOOM_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    whole, _ = both(project_of(PLANTS, missing="fill with mean"), tmp_path / "whole.py")
    here, there = both(project_of(PLANTS, missing="fill with mean", memory=0), tmp_path / "plants.py")
    assert len(here) > 4 and here == there == whole
    assert len(list((tmp_path / "neuroloom" / "tables").iterdir())) == 1  # shared by both
    script = (tmp_path / "plants.py").read_text("utf-8")
    assert "load_large_text_table" in script
    assert "load_large_text_table" not in (tmp_path / "whole.py").read_text("utf-8")


def test_the_ports_say_what_comes_out():
    node = TableFile(open_data(PLANTS).params)
    features, kind = node.columns()
    assert features.shape == (6,)
    assert node.columns()[0].names == (
        *("height", "leaves", "soil: clay", "soil: loam", "soil: sand", "watered"),
    )
    assert features.doc == ", ".join(features.names)
    assert (kind.shape, kind.dtype, kind.classes) == ((), "int64", ("fern", "moss", "tree"))
    assert node.summary() == "18 rows · 6 features · 3 classes"


def test_without_a_file_it_says_so():
    assert TableFile().columns() == ()
    with pytest.raises(ParamError, match="No file"):
        TableFile().emit(None)


def test_folders_and_classes_of_any_letters(tmp_path):
    """Spaces and any script in folder, file, columns and classes: opened, trained, exported, run."""
    folder = tmp_path / "My Data (1)" / "données" / "猫"
    folder.mkdir(parents=True)
    path = folder / "ß größe.csv"
    rows = "".join(f'{at % 7},{"곽ñ"[at % 2]} "q"\n' for at in range(40))
    path.write_text("größe °C,label ✓\n" + rows.replace('"', "'"), encoding="utf-8")
    project = project_of(path, title="猫 (1)")
    kind = TableFile(project.graph.node("n1").params).columns()[1]
    assert kind.name == "label ✓" and kind.classes == ("ñ 'q'", "곽 'q'")
    here, there = both(project, folder / "run me.py")
    assert here == there
    assert "Path(__file__).parent" in (folder / "run me.py").read_text(encoding="utf-8")


def test_a_quantity_gives_the_loss_that_is_worked_out_by_hand(tmp_path):
    """One target column stays (N, 1): the loss is the mean over rows, not over pairs of rows."""
    path = tmp_path / "prices.csv"
    path.write_text("size,price\n" + "".join(f"{at},{at * 0.5 + at % 3}\n" for at in range(30)))
    project = project_of(path, split="in time", target_scaling="none", scaling="none")
    project.graph._replace(replace(project.graph.node("n2"), params={"units": 1, "bias": False}))
    here, there = both(project, tmp_path / "prices.py")
    assert here == there
    torch.manual_seed(3)
    weight = torch.nn.Linear(1, 1, bias=False).weight.item()
    order = torch.randperm(18, generator=torch.Generator().manual_seed(3))[:8]
    errors = [(weight * at - (at * 0.5 + at % 3)) ** 2 for at in order.tolist()]
    assert json.loads(here[0])["loss"] == pytest.approx(sum(errors) / 8, rel=1e-5)


def test_too_few_units_are_told_before_training(tmp_path):
    """Labels 1..10 are classes 0..9; a head that is too small is a problem of the project."""
    path = tmp_path / "labels.csv"
    path.write_text("x,label\n" + "".join(f"{at / 4},{at % 10 + 1}\n" for at in range(100)))
    project = project_of(path)
    assert TableFile(project.graph.node("n1").params).columns()[1].classes == tuple(
        str(n) for n in range(1, 11)
    )
    assert check(project, CATALOGUE).errors == []
    project.graph._replace(replace(project.graph.node("n2"), params={"units": 9}))
    assert [problem.message for problem in check(project, CATALOGUE).errors] == [
        "label has 10 classes, but 9 scores come in."
    ]


@pytest.mark.parametrize(
    ("scaling", "word"), [("standardise", "standardised"), ("0 to 1", "scaled to 0 to 1"), ("none", "")]
)
def test_features_have_their_names_units_and_scaling(scaling: str, word: str) -> None:
    long = "the temperature of the air, two metres above the ground"
    rows = [
        (long, "number", "input"),
        ("note", "text", "ignore"),
        *((f"x{at}", "number", "input") for at in range(60)),
    ]
    node = TableFile(
        {"path": "/a.csv", "table": tuple(rows), "units": ("degC", "", "kPa"), "scaling": scaling}
    )
    features = node.columns()[0]
    assert names_of(features) == (f"{long} (degC)", "x0 (kPa)", *(f"x{at}" for at in range(1, 60)))
    assert features.scaled == word


@pytest.mark.parametrize(
    ("type_id", "first"),
    [("Iris", "sepal length"), ("Wine", "alcohol"), ("BreastCancer", "mean radius"), ("Diabetes", "age")],
)
def test_features_of_known_sets_are_called_what_they_are(type_id: str, first: str) -> None:
    made = load_catalogue().make(Node("n1", type_id, "data", {}))
    assert isinstance(made, Data)
    features = made.columns()[0]
    assert names_of(features)[0] == first and features.scaled == "standardised"
    assert len(set(names_of(features))) == features.shape[0]
