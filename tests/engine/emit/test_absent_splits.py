"""Data without a validation or a test split: nothing evaluates them, in a script or in the application."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from engine.catalogue import Data, load_catalogue
from engine.catalogue.emitter import build
from engine.data.open.opening import open_data
from engine.document.edits import SetParam
from engine.document.graph import Node, Project
from engine.document.plan import WHOLE, Choice, Minimise, Phase, Plan, Stop
from engine.document.shipped import datasets_folder
from engine.emit.script import export_script
from engine.errors import EmitError
from engine.shapes.shapes import check
from tests.engine.emit.test_players import PLANS, exported, iris, trained

STILL = Stop(3, restore_best=False)
ONE = Plan((Phase((Minimise(),), STILL),), 32)
PLAIN = {
    "one loss": ONE,
    "two players": replace(ONE, phases=(replace(PLANS["two players"].phases[0], stop=STILL),)),
    "two phases": replace(
        ONE,
        phases=(Phase((Minimise(of=("n2",)),), STILL), Phase((Minimise(of=("n4",)),), STILL, batch=WHOLE)),
    ),
    "gathered": replace(ONE, phases=(Phase((Minimise(accumulate=2, average=Choice("EMA")),), STILL),)),
    "patience with the training loss": replace(
        ONE, phases=(Phase((Minimise(),), Stop(5, 1, "train_loss", True)),)
    ),
}


def without(project: Project, *splits: str) -> Project:
    for split in splits:
        SetParam("n1", split, 0.0).apply(project)
    return project


@pytest.mark.parametrize("splits", [("validation",), ("test",), ("validation", "test")], ids=str)
@pytest.mark.parametrize("plan", PLAIN.values(), ids=PLAIN)
def test_a_split_of_no_rows_is_not_evaluated(plan: Plan, splits: tuple[str, ...]) -> None:
    project = without(iris(plan), *splits)
    lines, run = trained(project)
    assert exported(project) == lines
    names = {name.partition("_")[0] for line in lines for name in line}
    assert ("val" in names, "test" in names) == ("validation" not in splits, "test" not in splits)
    text = export_script(project, load_catalogue()).text
    assert not any(f'data["{split}"]' in text for split in splits)
    assert ("def evaluate" in text) == (len(splits) < 2)
    for options in ({"distributed": True}, {"procedures": "all"}):
        text = export_script(project, load_catalogue(), **options).text
        assert not any(f'data["{split}"]' in text for split in splits)
    said = [one.message for one in run.feed.events if "nothing is evaluated" in one.message]
    assert len(said) == len(splits)


@pytest.mark.parametrize("what", ["patience", "restore best", "stop rule", "plateau"])
def test_what_needs_a_validation_split_is_named_and_can_be_turned_off(what: str) -> None:
    stop, one = STILL, Minimise()
    if what == "patience":
        stop = replace(stop, patience=2)
    elif what == "restore best":
        stop = replace(stop, restore_best=True)
    elif what == "stop rule":
        stop = replace(stop, also=(Choice("Reaches"), Choice("FixedPoint", {"tolerance": 1e-9})))
    else:
        one = replace(one, schedule=Choice("Plateau"))
    project = iris(Plan((Phase((one,), stop),), 32))
    catalogue = load_catalogue()
    assert [found.code for found in check(project, catalogue).problems] == []
    project = without(project, "validation")
    (found,) = check(project, catalogue).problems
    assert (found.code, found.severity) == ("plan-splits", "error")
    with pytest.raises(EmitError, match="no validation split"):
        export_script(project, catalogue)
    assert found.fix is not None
    (edit,) = found.fix.edits(project)
    edit.apply(project)
    assert check(project, catalogue).problems == []
    assert exported(project) == trained(project)[0]
    kept = project.plan.stop.also
    assert [rule.name for rule in kept] == (["FixedPoint"] if what == "stop rule" else [])


def written(folder: Path, kind: str) -> Path:
    rows = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    if kind == "table":
        text = "\n".join(["a,b,c", *(",".join(map(str, row)) for row in rows)])
    elif kind == "series":
        days = [f"2024-{1 + day // 28:02}-{1 + day % 28:02}" for day in range(60)]
        text = "\n".join(["date,a", *(f"{day},{row[0]}" for day, row in zip(days, rows, strict=True))])
    elif kind == "text":
        text = "the cat sat on the mat and the dog sat on the log. " * 200
    else:
        np.savez(folder / "data.npz", x=rows, y=(rows[:, 0] > 0).astype(np.int64))
        return folder / "data.npz"
    path = folder / ("data.txt" if kind == "text" else "data.csv")
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize("kind", ["table", "series", "text", "arrays"])
def test_files_are_read_without_a_split_that_nobody_asked_for(kind: str, tmp_path: Path) -> None:
    opened = open_data(written(tmp_path, kind))
    assert (opened.type == "SeriesFile") == (kind == "series")
    for lacking in (("validation",), ("test",), ("validation", "test")):
        values = {**opened.params, **dict.fromkeys(lacking, 0.0)}
        found = made(Node("n1", opened.type, "data", values))
        assert found.lacks() == set(lacking)
        loaded = read(found)
        assert set(loaded) == {"train", "validation", "test"} - set(lacking)
        assert all(len(column) for columns in loaded.values() for column in columns.values())


def made(node: Node) -> Data:
    found = load_catalogue().make(node)
    assert isinstance(found, Data)
    return found


def read(data: Data) -> dict[str, dict[str, torch.Tensor]]:
    loader = build(data, "data", {}).loader
    assert loader is not None
    loaded: dict[str, dict[str, torch.Tensor]] = loader[0](
        data.folder() or datasets_folder(), "cpu", **loader[1]
    )
    return loaded


def test_folds_have_a_validation_split_whatever_the_fraction_says() -> None:
    values = {"validation": 0.0, "test": 0.0}
    for way in ("folds", "bootstrap"):
        assert made(Node("n1", "DrawnPoints", "", {**values, "split": way})).lacks() == {"test"}
    given = {**values, "split": "as given"}
    assert made(Node("n1", "TableFile", "", given)).lacks() == set()


@pytest.mark.parametrize("kind", ["Points", "Curve", "ChaoticSeries", "Digits", "Wine", "SantaFe"])
def test_a_set_of_ours_can_have_training_rows_alone(kind: str) -> None:
    values = {"validation": 0.0} | ({} if kind == "SantaFe" else {"test": 0.0})
    loaded = read(made(Node("n1", kind, "", values)))
    rows = {split: len(next(iter(columns.values()))) for split, columns in loaded.items()}
    assert rows["train"] > 100 and rows["validation"] == 0
