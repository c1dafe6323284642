"""Every node type, optimiser and schedule can be added, inferred, trained, exported and run alone."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from engine.catalogue import load_catalogue
from engine.document.graph import Graph, Node, Project
from engine.document.shipped import datasets_folder
from engine.emit.script import export_script, write_script
from engine.shapes.shapes import check
from engine.train.headless import run_headless
from tests.gallery.recipes import recipes
from tests.gallery.running import Export, alone, printed_by
from tests.warm import python

CATALOGUE = load_catalogue()
RECIPES = recipes()
SEED = 3


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, object]:
    """What each exported script printed."""
    exports = {}
    for name, project in RECIPES.items():
        with contextlib.suppress(Exception):  # shown by the test of that type
            exports[name] = Export(write_script(project, CATALOGUE), ("--seed", str(SEED)))
    return printed_by(exports, tmp_path_factory.mktemp("exports"))


@pytest.mark.parametrize("type_id", [found.type_id for found in CATALOGUE.types()])
def test_alone_on_an_empty_canvas_it_is_only_a_problem(type_id: str) -> None:
    book = check(Project(graph=Graph([Node("n1", type_id)]), next_id=2), CATALOGUE)
    assert all(problem.message.endswith(".") for problem in book.problems)


@pytest.mark.parametrize("name", RECIPES)
def test_its_recipe_is_sound(name: str) -> None:
    problems = check(RECIPES[name], CATALOGUE).errors
    assert [(problem.node_id, problem.message) for problem in problems] == []


@pytest.mark.parametrize("name", RECIPES)
def test_it_trains_and_its_export_gives_the_same_numbers(name: str, exported: Mapping[str, object]) -> None:
    """A-22: what is exported runs alone, with warnings as errors."""
    lines: list[str] = []
    run_headless(
        RECIPES[name],
        CATALOGUE,
        datasets_folder(),
        seed=SEED,
        device="cpu",
        on_line=lambda record: lines.append(json.dumps(record)),
    )
    assert exported[name] == lines


def test_a_model_without_data_exports_and_runs(tmp_path: Path) -> None:
    """An input in the place of data: the script builds the model and says what comes out."""
    from engine.document.graph import Link

    nodes = [
        Node("n1", "Input"),
        Node("n2", "Flatten"),
        Node("n3", "Linear", params={"units": 7}),
        Node("n4", "Output"),
    ]
    links = [
        Link("n1", "output", "n2", "x"),
        Link("n2", "output", "n3", "x"),
        Link("n3", "output", "n4", "x"),
    ]
    text = export_script(Project(graph=Graph(nodes, links), next_id=5), CATALOGUE).text
    (tmp_path / "model.py").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [python(), "-W", "error", "model.py"], cwd=tmp_path, capture_output=True, text=True, env=alone()
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "7)" in done.stdout
