"""A package is the script in files: the same definitions and numbers; pip, pytest and ruff accept it."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from engine.emit.forms.form import Form
from engine.emit.forms.package import package_name
from engine.emit.program import compile_program
from engine.emit.script import export_script
from engine.emit.writing import export
from engine.errors import DataError
from tests.engine.emit.forms.running import printed_by
from tests.engine.emit.test_script import RULES
from tests.engine.sketches import GALLERY_IDS, catalogue, classifier, gallery, image

SAMPLE = GALLERY_IDS[::5]
MODULES = ("config", "model", "data", "train")
REST = [one for one in GALLERY_IDS if one not in SAMPLE]
EVERY = [*SAMPLE, *(pytest.param(one, marks=pytest.mark.exhaustive) for one in REST)]


def definitions(texts: list[str]) -> Counter[str]:
    """The functions, classes and constants of some files, each by its text."""
    found: Counter[str] = Counter()
    for node in (node for text in texts for node in ast.parse(text).body):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            assert isinstance(node.value, ast.Tuple)
            for name, value in zip(node.targets[0].elts, node.value.elts, strict=True):
                found[f"{ast.unparse(name)} = {ast.unparse(value)}"] += 1
        elif not isinstance(node, (ast.Import, ast.ImportFrom, ast.Expr)):
            found[ast.unparse(node)] += 1
    return found


def python(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Python in another folder, as if Neuroloom were nowhere."""
    quiet = {**os.environ, "PYTHONPATH": "", "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run([sys.executable, *words], cwd=folder, env=quiet, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done


@pytest.mark.parametrize("project_id", EVERY)
def test_it_has_what_the_script_has_each_in_one_file_and_the_linter_finds_nothing(
    project_id: str, tmp_path: Path
) -> None:
    project = gallery(project_id)
    name = package_name(project)
    export(project, catalogue(), tmp_path, Form.PACKAGE)
    texts = {one: (tmp_path / name / f"{one}.py").read_text("utf-8") for one in MODULES}
    whole = export_script(project, catalogue(), beside=tmp_path / name).text
    assert definitions([*texts.values()]) == definitions([whole])
    assert "class Model(" in texts["model"]
    assert "def load(" in texts["data"] and "def batches(" in texts["data"]
    earlier: list[str] = []
    for one, text in texts.items():
        local = [found.module for found in ast.parse(text).body if getattr(found, "level", 0)]
        assert set(local) <= set(earlier)  # no file imports a later one
        earlier.append(one)
    command = [sys.executable, "-m", "ruff", "check", *RULES, "--no-cache", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("project_id", "epochs"),
    [("iris", "3"), ("perceptron-gates", "2"), ("teacher-student", "1"), ("penguins", "2")],
)
def test_its_numbers_are_those_of_the_script(project_id: str, epochs: str, tmp_path: Path) -> None:
    project = gallery(project_id)
    words = ["--json", "--device", "cpu", "--epochs", epochs, "--seed", "3"]
    (script, *_) = export(project, catalogue(), tmp_path / "one.py", with_data=True)
    export(project, catalogue(), tmp_path / "several", Form.PACKAGE, with_data=True)
    expected = printed_by(script, *words)
    assert len(expected) > 2
    module = f"{package_name(project)}.train"
    assert printed_by(tmp_path / "several", *words, module=module) == expected


def test_a_procedure_of_it_says_what_that_of_the_script_says(tmp_path: Path) -> None:
    """One that names tokens, which are learned where the data are read: in another file."""
    project = gallery("romeo-letters")
    (script, *_) = export(project, catalogue(), tmp_path / "one.py", with_data=True)
    export(project, catalogue(), tmp_path / "several", Form.PACKAGE, with_data=True)
    torch.manual_seed(0)
    torch.save(compile_program(project, catalogue()).Model().state_dict(), tmp_path / "w.pt")
    words = ["generate", "--weights", str(tmp_path / "w.pt"), "--device", "cpu", "--length", "12"]
    expected = printed_by(script, *words)
    assert len(expected) > 11
    module = f"{package_name(project)}.train"
    assert printed_by(tmp_path / "several", *words, module=module) == expected


def test_pip_installs_it_with_its_data_and_pytest_passes(tmp_path: Path) -> None:
    project = gallery("penguins")
    source, target = tmp_path / "source", tmp_path / "target"
    export(project, catalogue(), source, Form.PACKAGE, with_data=True)
    told = python(source, "-m", "pytest", "-q", "-p", "no:cacheprovider").stdout
    assert "2 passed" in told
    words = ["--no-deps", "--no-build-isolation", "--quiet", "--target", str(target), str(source)]
    python(tmp_path, "-m", "pip", "install", *words)
    name = package_name(project)
    assert "test_loss" in python(target, "-m", f"{name}.train", "--epochs", "1", "--json").stdout
    assert (target / f"{name}-0.1.0.dist-info").is_dir()


def test_what_pip_reads_names_what_the_code_imports(tmp_path: Path) -> None:
    sketch = classifier()
    sketch.project.title = 'A "title"\\n with """ and \u2028 everything = "]'
    export(sketch.project, catalogue(), tmp_path, Form.PACKAGE)
    found = tomllib.loads((tmp_path / "pyproject.toml").read_text("utf-8"))
    assert [one.partition(">")[0] for one in found["project"]["dependencies"]] == [
        "torch",
        "numpy",
        "scikit-learn",
    ]
    assert found["tool"]["setuptools"]["packages"] == [package_name(sketch.project)]


def test_a_network_with_nothing_to_train_is_a_package_too(tmp_path: Path) -> None:
    sketch, start = image(3, 8, 8)
    sketch.add("Conv2d", "conv", {"filters": 4}, x=start)
    sketch.project.title = "Only a model"
    files = export(sketch.project, catalogue(), tmp_path, Form.PACKAGE)
    assert files[0] == tmp_path / "only_a_model" / "__main__.py"
    assert not list(tmp_path.rglob("data.py"))
    assert printed_by(tmp_path, module="only_a_model")[-1] == "(2, 4, 6, 6)"
    assert "1 passed" in python(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider").stdout


def test_trained_weights_lie_among_the_modules_and_it_begins_with_them(tmp_path: Path) -> None:
    project = classifier().project
    torch.manual_seed(5)
    save_file(compile_program(project, catalogue()).Model().state_dict(), tmp_path / "w.safetensors")
    (script, *_) = export(project, catalogue(), tmp_path / "one.py", weights=tmp_path / "w.safetensors")
    export(project, catalogue(), tmp_path / "several", Form.PACKAGE, weights=tmp_path / "w.safetensors")
    assert (tmp_path / "several" / "small" / "small.safetensors").is_file()
    words = ["--json", "--device", "cpu", "--epochs", "1"]
    expected = printed_by(script, *words)
    assert printed_by(tmp_path / "several", *words, module="small.train") == expected
    assert "**/*" in (tmp_path / "several" / "pyproject.toml").read_text("utf-8")


def test_it_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    project = classifier().project
    target = tmp_path / "deep" / "net"
    with pytest.raises(DataError):
        export(project, catalogue(), target, Form.PACKAGE, weights=tmp_path / "nowhere.safetensors")
    assert not (tmp_path / "deep").exists()
    target.mkdir(parents=True)
    (target / "small").write_text("a file where a folder must be")
    with pytest.raises(OSError):
        export(project, catalogue(), target, Form.PACKAGE)
    assert [one.name for one in target.iterdir()] == ["small"]


def test_files_that_differ_are_replaced_only_when_asked(tmp_path: Path) -> None:
    project = classifier().project
    export(project, catalogue(), tmp_path, Form.PACKAGE, replace=False)
    export(project, catalogue(), tmp_path, Form.PACKAGE, replace=False)  # the same again
    (tmp_path / "README.md").write_text("mine")
    with pytest.raises(DataError, match="README"):
        export(project, catalogue(), tmp_path, Form.PACKAGE, replace=False)
    export(project, catalogue(), tmp_path, Form.PACKAGE)
    assert (tmp_path / "README.md").read_text() != "mine"
