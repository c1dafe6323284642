"""Every example opens, is sound, trains, exports, and its export gives the same numbers to the last bit."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from engine.catalogue import Catalogue, load_catalogue
from engine.document.files import load_project, to_text
from engine.document.graph import Project
from engine.document.paths import portable
from engine.document.shipped import datasets_folder
from engine.emit.script import export_script, write_script
from engine.shapes.shapes import check
from engine.train.headless import run_headless

FOLDER = datasets_folder().parent / "gallery"
EXAMPLES = sorted(path.stem for path in FOLDER.glob("*.nloom"))
PARAMETERS = {"mnist-cnn": 34_826}
# An epoch of the convolutions takes minutes on a busy computer; the other examples go to the end.
STEPS = {"mnist-cnn": 40, "rbm-mnist": 60, "gan-digits": 60, "stacked-autoencoder": 60}
# How threads share a sum decides its last bit, so one example is held to that with two of them.
SHARED = "mnist-cnn"
ALLOWED = {"torch", "numpy", "sklearn", "PIL", "polars"}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue()


@pytest.fixture(params=EXAMPLES)
def example(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def project(example: str) -> Project:
    return load_project(FOLDER / f"{example}.nloom")


def test_the_promised_examples_are_there() -> None:
    first = {"mnist-cnn", "mnist-mlp", "iris", "santa-fe-lstm", "two-heads", "residual-blocks"}
    rules = {"perceptron-gates", "delta-rule", "hopfield-2d", "rbm-mnist", "linear-regression"}
    plans = {"optimiser-race", "stacked-autoencoder", "gan-digits", "teacher-student"}
    assert first | rules | plans | {"two-spirals"} <= set(EXAMPLES)


def test_it_is_sound(example: str, project: Project, catalogue: Catalogue) -> None:
    book = check(project, catalogue)
    assert [(problem.node_id, problem.message) for problem in book.problems] == []
    assert book.total_parameters == PARAMETERS.get(example, book.total_parameters)


def test_it_says_what_to_look_at(project: Project) -> None:
    assert project.title
    assert len(project.notes) > 80


def test_its_file_is_in_canonical_form(example: str, project: Project) -> None:
    assert to_text(portable(project, FOLDER)) == (FOLDER / f"{example}.nloom").read_text(encoding="utf-8")


def test_its_export_imports_nothing_else(project: Project, catalogue: Catalogue) -> None:
    tree = ast.parse(export_script(project, catalogue).text)
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported - set(sys.stdlib_module_names) <= ALLOWED


def test_it_exports_the_same_text_twice(project: Project, catalogue: Catalogue) -> None:
    assert export_script(project, catalogue).text == export_script(project.copy(), load_catalogue()).text


def test_its_export_gives_the_same_numbers(
    example: str, project: Project, catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps, validation and test, to the last bit: an epoch of the large sets, three of the small ones."""
    if example == SHARED:
        monkeypatch.setattr("engine.devices._THREADS_AT_FIRST", 2)
        monkeypatch.setenv("OMP_NUM_THREADS", "2")
    epochs = 1 if example.startswith("mnist") else 3
    most = STEPS.get(example, sys.maxsize)
    lines: list[str] = []
    run_headless(
        project,
        catalogue,
        datasets_folder(),
        epochs=epochs,
        seed=5,
        device="cpu",
        on_line=lambda record: lines.append(json.dumps(record)),
        stopped=lambda: len(lines) >= most,
    )
    script = tmp_path / "alone.py"
    made = write_script(project, catalogue)
    script.write_text(made.plain.text, encoding="utf-8")
    command = [sys.executable, "-u", "-W", "error", script.name, "--json", "--device", "cpu"]
    command += ["--epochs", str(epochs), "--seed", "5"]
    if made.files:  # files of a person's own are found where they lie
        command += ["--data", str(made.folder or datasets_folder())]
    assert printed_by(command, tmp_path, most) == lines
    assert most == len(lines) or lines[-1].startswith('{"test_')


def printed_by(command: list[str], folder: Path, most: int) -> list[str]:
    """The lines a program prints, at most so many: then it is ended."""
    with (folder / "errors").open("w+", encoding="utf-8") as errors:
        program = subprocess.Popen(
            command, cwd=folder, env=alone(), stdout=subprocess.PIPE, stderr=errors, text=True
        )
        assert program.stdout is not None
        with program.stdout as out:
            lines = [line.rstrip("\n") for line in islice(out, most)]
            ended = len(lines) == most
            if ended:
                program.terminate()
        status = program.wait()
        errors.seek(0)
        assert ended or status == 0, errors.read()[-3000:]
    return lines


def alone() -> dict[str, str]:
    """The environment of a stranger's shell: nothing of ours on the path."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NEUROLOOM"))}
