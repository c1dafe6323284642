"""Every example opens, is sound, trains, exports, and its export gives the same numbers to the last bit."""

from __future__ import annotations

import ast
import json
import sys
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
from tests.gallery.running import Export, printed_by

FOLDER = datasets_folder().parent / "gallery"
EXAMPLES = sorted(path.stem for path in FOLDER.glob("*.nloom"))
LOOKED_AT = ("gpt2-small",)  # without data, and too large to be run in a test
TRAINED = [one for one in EXAMPLES if one not in LOOKED_AT]
PARAMETERS = {"mnist-cnn": 34_826, "vit-mnist": 72_074, "gpt2-small": 124_439_808}
# An epoch of the convolutions takes minutes on a busy computer; the other examples go to the end.
STEPS = {
    "mnist-cnn": 40,
    "typed-kernels": 40,
    "vit-mnist": 40,
    "char-decoder": 20,
    "bert-stories": 20,
    "copying-lags": 30,
    "lstm-gates": 30,
    "digit-boxes": 20,
    "rbm-mnist": 60,
    "gan-digits": 60,
    "stacked-autoencoder": 60,
}
# Of these one epoch is run, of the others three.
LONG = {
    *(
        "mnist-cnn",
        "mnist-mlp",
        "vit-mnist",
        "masked-letters",
        "residual-blocks",
        "image-blocks",
        "typed-kernels",
        "romeo-letters",
        "numbers-in-words",
    ),
    *("co2-series", "shapes-masks", "two-heads", "teacher-student"),
}
# How threads share a sum decides its last bit, so one example is held to that with two of them.
SHARED = "mnist-cnn"
ALLOWED = {"torch", "numpy", "sklearn", "PIL", "polars", "safetensors"}  # the last: weights, for procedures


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


@pytest.fixture(scope="module")
def printed(catalogue: Catalogue, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str] | str]:
    """What the exported script of each example printed; that of `SHARED` runs with two threads."""
    exports = {}
    for example in TRAINED:
        script = write_script(load_project(FOLDER / f"{example}.nloom"), catalogue)
        exports[example] = Export(script, words_of(epochs_of(example)), STEPS.get(example, sys.maxsize))
    shared = {SHARED: exports.pop(SHARED)}
    folder = tmp_path_factory.mktemp
    return {
        **printed_by(exports, folder("exports")),
        **printed_by(shared, folder("shared"), OMP_NUM_THREADS="2"),
    }


def words_of(epochs: int) -> tuple[str, ...]:
    return ("--epochs", str(epochs), "--seed", "5")


def epochs_of(example: str) -> int:
    return 1 if example in LONG else 3


def trained(example: str, epochs: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines of a run in this process."""
    if example == SHARED:
        monkeypatch.setattr("engine.devices._THREADS_AT_FIRST", 2)
        monkeypatch.setenv("OMP_NUM_THREADS", "2")
    most = STEPS.get(example, sys.maxsize)
    lines: list[str] = []
    run_headless(
        load_project(FOLDER / f"{example}.nloom"),
        load_catalogue(),
        datasets_folder(),
        epochs=epochs,
        seed=5,
        device="cpu",
        on_line=lambda record: lines.append(json.dumps(record)),
        stopped=lambda: len(lines) >= most,
    )
    assert most == len(lines) or lines[-1].startswith('{"test_')
    return lines


@pytest.mark.parametrize("example", TRAINED)
def test_its_export_gives_the_same_numbers(
    example: str, printed: dict[str, list[str] | str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps, validation and test, to the last bit."""
    assert printed[example] == trained(example, epochs_of(example), monkeypatch)


@pytest.mark.exhaustive
@pytest.mark.parametrize("example", TRAINED)
def test_its_export_by_itself_gives_the_same_numbers_for_longer(
    example: str, project: Project, catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An epoch of the large sets, three of the small ones, each script in a process of its own."""
    epochs = 1 if example.startswith("mnist") else 3
    lines = trained(example, epochs, monkeypatch)
    export = Export(write_script(project, catalogue), words_of(epochs), STEPS.get(example, sys.maxsize))
    assert printed_by({example: export}, tmp_path)[example] == lines
