"""Rows that lie in two files: opened, split alike, trained, run on the command line, exported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.data.open.opening import open_data
from engine.document.files import save_project
from engine.document.graph import Graph
from engine.document.plan import Stop
from engine.emit.script import export_script
from tests.engine.sketches import Sketch, catalogue, mended
from tests.engine.train.test_distributed import alone, records

ROWS = 60


def files(folder: Path, labels: int = ROWS, apart: bool = False) -> tuple[Path, Path]:
    """Measurements of so many plants, and what each was found to be, in the same order."""
    draws = np.random.default_rng(0)
    kinds = draws.integers(0, 3, ROWS)
    numbers = draws.normal(size=(ROWS, 3)) + kinds[:, None]
    one, two = (folder / "measured", folder / "judged") if apart else (folder, folder)
    for each in (one, two):
        each.mkdir(exist_ok=True)
    first, second = one / "measurements.csv", two / "kinds.csv"
    lines = [",".join(f"{value:.3f}" for value in row) for row in numbers]
    first.write_text("\n".join(["height,width,weight", *lines]))
    words = [("fern", "moss", "reed")[kind] for kind in kinds[:labels]]
    second.write_text("\n".join(["kind,nr", *(f"{word},{at}" for at, word in enumerate(words))]))
    return first, second


def drawn(first: Path, second: Path, split: str = "random") -> Sketch:
    """Both files on a canvas, as opening them puts them there, and a network between them."""
    sketch = Sketch("Plants")
    for path, name in ((first, "measurements"), (second, "kinds")):
        opened = open_data(path)
        params: dict[str, Any] = dict(opened.params)
        if path == first:
            params["table"] = tuple((*column[:2], "input", *column[3:]) for column in params["table"])
        else:  # chosen in the inspector: the file does not say that its words are what is asked for
            kind, number = params["table"]
            params |= {"table": ((*kind[:2], "target", *kind[3:]), number), "split": split}
        sketch.add(opened.type, name, params)
    scores = sketch.add("Linear", "scores", {"units": 3}, x="n1.features")
    sketch.add("CrossEntropy", "loss", prediction=scores, target="n2.kind")
    sketch.add("Accuracy", "accuracy", prediction=scores, target="n2.kind")
    phases = tuple(replace(one, stop=Stop(epochs=2)) for one in sketch.project.plan.phases)
    sketch.project.plan = replace(sketch.project.plan, phases=phases, batch=16)
    return sketch


@pytest.mark.parametrize("apart", [False, True], ids=["in one folder", "in two folders"])
def test_two_files_train_on_the_command_line_and_in_a_script_as_in_one(tmp_path: Path, apart: bool) -> None:
    project = drawn(*files(tmp_path, apart=apart)).project
    wanted = alone(project)
    assert wanted[-1]["test_accuracy"] > 0.3
    save_project(project, tmp_path / "plants.nloom")
    given = ("--json", "--device", "cpu")
    train = ("-m", "engine.cli", "train", str(tmp_path / "plants.nloom"), "--out", str(tmp_path / "run"))
    if not apart:
        assert [line for line in records(*train, *given) if "loss" in line or "epoch" in line] == [
            line for line in wanted if "loss" in line or "epoch" in line
        ]
    script = tmp_path / "plants.py"
    script.write_text(export_script(project, catalogue(), beside=tmp_path).text, "utf-8")
    assert records(str(script), *given) == wanted


def test_one_file_with_both_gives_the_same_numbers(tmp_path: Path) -> None:
    first, second = files(tmp_path)
    rows = zip(first.read_text().splitlines(), second.read_text().splitlines(), strict=True)
    both = tmp_path / "both.csv"
    both.write_text("\n".join(f"{one},{other.split(',')[0]}" for one, other in rows))
    opened = open_data(both)
    project = drawn(first, second).project
    roles = [(*column[:2], "input", *column[3:]) for column in opened.params["table"]]  # type: ignore[union-attr, misc, index]
    params = {**opened.params, "table": (*roles[:-1], (*roles[-1][:2], "target", *roles[-1][3:]))}
    params |= {"split": "random"}
    one = project.graph.node("n1")
    nodes = [replace(one, params=params), *list(project.graph.nodes.values())[2:]]
    links = [replace(one, source="n1") if one.source == "n2" else one for one in project.graph.links]
    assert alone(replace(project, graph=Graph(nodes, links))) == alone(project)


def test_files_that_are_split_in_two_ways_have_a_fix(tmp_path: Path) -> None:
    sketch = drawn(*files(tmp_path), split="by class")
    (problem,) = [one for one in sketch.check().problems if one.code == "pair-split"]
    assert problem.node_id == "n2"
    assert not mended(sketch, problem).errors
    assert alone(sketch.project) == alone(drawn(*files(tmp_path)).project)


def test_a_file_that_lacks_rows_is_refused(tmp_path: Path) -> None:
    (problem,) = [
        one for one in drawn(*files(tmp_path, labels=50)).check().problems if one.code == "pair-count"
    ]
    assert "measurements has 60 rows and kinds has 50" in problem.message
