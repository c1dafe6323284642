"""A notebook is the script in cells: run top to bottom it finds the same numbers, and draws its curves."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.document.edits import Rename
from engine.emit.forms.form import Form
from engine.emit.forms.make import make_export
from engine.emit.program import compile_program
from engine.emit.writing import export
from engine.errors import EmitError
from tests.engine.emit.forms.running import printed_by
from tests.engine.emit.test_script import RULES
from tests.engine.sketches import GALLERY_IDS, apply, catalogue, classifier, gallery, image


def code_of(path: Path) -> list[str]:
    """The text of each cell of code."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def run(path: Path, monkeypatch: pytest.MonkeyPatch, trains: bool = True) -> tuple[dict[str, Any], str]:
    """What the cells of a notebook leave behind, run in this process without plots, and what they print."""
    shown = types.ModuleType("matplotlib.pyplot")
    package = types.ModuleType("matplotlib")
    monkeypatch.setitem(sys.modules, "matplotlib", package)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", shown)
    package.pyplot = shown  # type: ignore[attr-defined]
    monkeypatch.chdir(path.parent)
    main = types.ModuleType("notebook")
    monkeypatch.setitem(sys.modules, "notebook", main)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        for cell in code_of(path):
            if "plot" not in cell.partition("\n")[0] and (trains or "history)" not in cell.splitlines()[-1]):
                exec(compile(f"from __future__ import annotations\n{cell}", str(path), "exec"), main.__dict__)
    return main.__dict__, out.getvalue()


def same(lines: list[str], history: list[dict[str, float]]) -> None:
    assert [json.dumps(one) for one in history] == lines


@pytest.mark.parametrize(
    ("project_id", "epochs"),
    [("iris", 3), ("perceptron-gates", 2), ("teacher-student", None), ("penguins", 2), ("two-heads", 1)],
)
def test_its_numbers_are_those_of_the_script(
    project_id: str, epochs: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = gallery(project_id)
    if epochs is not None:
        project.plan = project.plan.with_(epochs=epochs)
    project.plan = project.plan.with_(seed=3)
    (script, *_) = export(project, catalogue(), tmp_path / "one.py", with_data=True)
    (notebook, *_) = export(project, catalogue(), tmp_path / "one.ipynb", Form.NOTEBOOK, with_data=True)
    lines = printed_by(script, "--json", "--device", "cpu")
    assert len(lines) > 2
    same(lines, run(notebook, monkeypatch)[0]["history"])


def test_its_procedures_say_what_those_of_the_script_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = gallery("romeo-letters")
    (script, *_) = export(project, catalogue(), tmp_path / "one.py", with_data=True, procedures="all")
    place = tmp_path / "one.ipynb"
    export(project, catalogue(), place, Form.NOTEBOOK, with_data=True, procedures="all")
    found, told = run(place, monkeypatch, trains=False)
    torch.save(found["model"].state_dict(), tmp_path / "w.pt")
    words = ["--weights", str(tmp_path / "w.pt"), "--device", "cpu"]
    expected = [*printed_by(script, "generate", *words), *printed_by(script, "predict", *words)]
    assert len(expected) > 100
    assert told.splitlines() == expected


def test_it_begins_with_trained_weights_that_lie_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from safetensors.torch import save_file

    project = classifier().plan(epochs=1).project
    torch.manual_seed(5)
    save_file(compile_program(project, catalogue()).Model().state_dict(), tmp_path / "w.safetensors")
    weights = tmp_path / "w.safetensors"
    (script, *_) = export(project, catalogue(), tmp_path / "one.py", weights=weights)
    (notebook, *_) = export(project, catalogue(), tmp_path / "n.ipynb", Form.NOTEBOOK, weights=weights)
    assert (tmp_path / "n.safetensors").is_file()
    same(printed_by(script, "--json", "--device", "cpu"), run(notebook, monkeypatch)[0]["history"])


def test_names_that_the_cells_use_may_be_names_of_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sketch = classifier().plan(epochs=1)
    names = ("data", "history", "plot", "state")
    apply(sketch.project, (Rename(f"n{at}", name) for at, name in enumerate(names, 1)))
    (script, *_) = export(sketch.project, catalogue(), tmp_path / "one.py")
    (notebook, *_) = export(sketch.project, catalogue(), tmp_path / "n.ipynb", Form.NOTEBOOK)
    same(printed_by(script, "--json", "--device", "cpu"), run(notebook, monkeypatch)[0]["history"])


def test_a_network_with_nothing_to_train_is_run_on_blank_examples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sketch, start = image(3, 8, 8)
    sketch.add("Conv2d", "conv", {"filters": 4}, x=start)
    (notebook, *_) = export(sketch.project, catalogue(), tmp_path / "n.ipynb", Form.NOTEBOOK)
    assert run(notebook, monkeypatch)[1].splitlines()[-1] == "(2, 4, 6, 6)"


def test_the_linter_finds_nothing_and_no_cell_reads_a_command_line(tmp_path: Path) -> None:
    for project_id in GALLERY_IDS[::4]:
        made = make_export(gallery(project_id), catalogue(), tmp_path / f"{project_id}.ipynb", Form.NOTEBOOK)
        (source,) = made.files.values()
        (shown,) = made.shown.values()
        (tmp_path / f"{project_id}.ipynb").write_text(source.text, "utf-8")
        code = "\n".join(code_of(tmp_path / f"{project_id}.ipynb"))
        assert "argparse" not in code and "as_json" not in code and "__file__" not in code
        assert ast.unparse(ast.parse(shown.text)) == ast.unparse(ast.parse(code))
        assert any(shown.nodes)  # a line of the preview says which node it came from
    command = [sys.executable, "-m", "ruff", "check", *RULES, "--no-cache", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_torchrun_runs_no_notebook() -> None:
    with pytest.raises(EmitError, match="one process"):
        make_export(classifier().project, catalogue(), Path("n.ipynb"), Form.NOTEBOOK, distributed=True)


def test_a_kernel_runs_it_top_to_bottom_and_its_curves_are_drawn(tmp_path: Path) -> None:
    """What Jupyter itself makes of one notebook: valid, without an error, with an image of the curves."""
    nbformat = pytest.importorskip("nbformat", reason="the packages of notebooks are not installed")
    nbclient = pytest.importorskip("nbclient", reason="the packages of notebooks are not installed")
    pytest.importorskip("ipykernel", reason="the packages of notebooks are not installed")
    pytest.importorskip("matplotlib", reason="the packages of notebooks are not installed")
    project = classifier().plan(epochs=2).project
    (script, *_) = export(project, catalogue(), tmp_path / "one.py")
    (path, *_) = export(project, catalogue(), tmp_path / "one.ipynb", Form.NOTEBOOK)
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    notebook.cells.append(
        nbformat.v4.new_code_cell("import json\nfor one in history:\n    print(json.dumps(one))")
    )
    quiet = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    client = nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}})
    client.execute(env=quiet)
    images = [
        one
        for cell in notebook.cells
        for one in cell.get("outputs", [])
        if "image/png" in one.get("data", {})
    ]
    assert len(images) == 1
    lines = printed_by(script, "--json", "--device", "cpu")
    assert notebook.cells[-1].outputs[0]["text"].splitlines() == lines
