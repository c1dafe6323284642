"""Every node type, optimiser and schedule can be added, inferred, trained, exported and run alone."""

from __future__ import annotations

import json
import subprocess
import sys
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
from tests.gallery.test_gallery import alone

CATALOGUE = load_catalogue()
RECIPES = recipes()
SEED = 3

# Runs each script as `python SCRIPT` would, one after the other: starting fifty interpreters takes minutes.
RUNNER = """
import contextlib, io, json, pathlib, runpy, sys, torch
found, threads = {}, torch.get_num_threads()
for path in sorted(pathlib.Path().glob("*.py")):
    sys.argv = [path.name, *json.loads(path.with_suffix(".json").read_text())]
    out = io.StringIO()
    torch.set_num_threads(threads)  # a script may have chosen its own
    try:
        with contextlib.redirect_stdout(out):
            runpy.run_path(path.name, run_name="__main__")
    except (Exception, SystemExit) as error:
        found[path.stem] = {"error": f"{type(error).__name__}: {error}"}
    else:
        found[path.stem] = {"lines": out.getvalue().splitlines()}
pathlib.Path("found").write_text(json.dumps(found))
"""


def stem(name: str) -> str:
    return name.replace(" ", "_")


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Mapping[str, object]]:
    """What each exported script printed, run alone with warnings as errors."""
    folder = tmp_path_factory.mktemp("exports")
    for name, project in RECIPES.items():
        try:
            script = write_script(project, CATALOGUE)
        except Exception:  # shown by the test of that type
            continue
        words = ["--json", "--device", "cpu", "--seed", str(SEED)]
        words += ["--data", str(script.folder or datasets_folder())] if script.files else []
        (folder / f"{stem(name)}.py").write_text(script.plain.text, encoding="utf-8")
        (folder / f"{stem(name)}.json").write_text(json.dumps(words), encoding="utf-8")
    command = [sys.executable, "-W", "error", "-c", RUNNER]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=900, env=alone())
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, dict[str, object]] = json.loads((folder / "found").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("type_id", [found.type_id for found in CATALOGUE.types()])
def test_alone_on_an_empty_canvas_it_is_only_a_problem(type_id: str) -> None:
    book = check(Project(graph=Graph([Node("n1", type_id)]), next_id=2), CATALOGUE)
    assert all(problem.message.endswith(".") for problem in book.problems)


@pytest.mark.parametrize("name", RECIPES)
def test_its_recipe_is_sound(name: str) -> None:
    problems = check(RECIPES[name], CATALOGUE).errors
    assert [(problem.node_id, problem.message) for problem in problems] == []


@pytest.mark.parametrize("name", RECIPES)
def test_it_trains_and_its_export_gives_the_same_numbers(
    name: str, exported: Mapping[str, Mapping[str, object]]
) -> None:
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
    assert exported[stem(name)].get("error") is None
    assert exported[stem(name)]["lines"] == lines


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
        [sys.executable, "-W", "error", "model.py"], cwd=tmp_path, capture_output=True, text=True, env=alone()
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "7)" in done.stdout
