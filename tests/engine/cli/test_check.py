"""`check` says beforehand whatever `train` refuses before its first step, in the same words."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from engine.cli import main as cli
from engine.data.open.opening import open_data
from engine.document.files import save_project
from engine.document.graph import Project
from tests.engine.sketches import Sketch, classifier

Captured = pytest.CaptureFixture[str]
Spoil = Callable[[Path, Project], None]


def called(capsys: Captured, *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    status = cli.main(list(words))
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def table(folder: Path) -> Project:
    """Two numbers to a class, from a file of one's own."""
    rows = [f"{row / 10},{row % 7},{'ab'[row % 2]}" for row in range(40)]
    (folder / "own.csv").write_text("\n".join(["width,height,kind", *rows]))
    return _learning("TableFile", folder / "own.csv", "features", "kind")


def images(folder: Path) -> Project:
    for kind in ("dark", "light"):
        (folder / "images" / kind).mkdir(parents=True)
        for number in range(8):
            Image.new("L", (6, 6), number).save(folder / "images" / kind / f"{number}.png")
    return _learning("ImageFolder", folder / "images", "image", "label")


def _learning(type_id: str, path: Path, column: str, target: str) -> Project:
    sketch = Sketch("Own")
    data = sketch.add(type_id, "own", dict(open_data(path).params))
    flat = sketch.add("Flatten", "flat", x=f"{data}.{column}")
    scores = sketch.add("Linear", "scores", {"units": 2}, x=flat)
    sketch.add("CrossEntropy", "loss", prediction=scores, target=f"{data}.{target}")
    return sketch.project


def gone(folder: Path, project: Project) -> None:
    (folder / "own.csv").unlink()


def unnamed(folder: Path, project: Project) -> None:
    node = project.graph.node("n1")
    project.graph._replace(replace(node, params={**node.params, "path": ""}))


def empty(folder: Path, project: Project) -> None:
    (folder / "own.csv").write_text("")


def renamed(folder: Path, project: Project) -> None:
    path = folder / "own.csv"
    path.write_text(path.read_text().replace("kind", "sort"))


def other_class(folder: Path, project: Project) -> None:
    path = folder / "own.csv"
    path.write_text(path.read_text().replace("3.9,4,b", "3.9,4,c"))


def pipe(folder: Path, project: Project) -> None:
    (folder / "own.csv").unlink()
    os.mkfifo(folder / "own.csv")


def empty_image(folder: Path, project: Project) -> None:
    (folder / "images" / "dark" / "3.png").write_bytes(b"")


def odd_plan(folder: Path, project: Project) -> None:
    project.plan = project.plan.with_(batch=0, fast=True)
    project.graph._replace(replace(project.graph.node("n3"), params={"units": 1}))


@pytest.mark.parametrize(
    ("draw", "spoil"),
    [
        *((table, spoil) for spoil in (gone, unnamed, empty, renamed, other_class, pipe, odd_plan)),
        (images, empty_image),
    ],
)
def test_what_train_refuses_is_a_problem(
    draw: Callable[[Path], Project], spoil: Spoil, capsys: Captured, tmp_path: Path
) -> None:
    project = draw(tmp_path)
    place = str(tmp_path / "own.nloom")
    save_project(project, Path(place))
    assert called(capsys, "check", place)[0] == 0
    spoil(tmp_path, project)
    save_project(project, Path(place))
    status, out, _ = called(capsys, "check", place, "--json")
    problems = [one for one in json.loads(out)["problems"] if one["severity"] == "error"]
    assert status == 1
    status, out, _ = called(capsys, "train", place, "--json", "--epochs", "1", "--out", str(tmp_path / "run"))
    refused = json.loads(out)["error"]
    assert status == 1
    sentence = f"{refused['message']} {refused['fix']}" if refused["fix"] else refused["message"]
    assert (problems[0]["message"], problems[0]["node"]) == (sentence, refused["node"])


def test_a_network_without_data_may_be_exported_and_is_no_error(capsys: Captured, tmp_path: Path) -> None:
    sketch = Sketch()
    start = sketch.add("Input", "in", {"shape": (4,)})
    sketch.add("Linear", "out", {"units": 2}, x=start)
    save_project(sketch.project, tmp_path / "net.nloom")
    status, out, _ = called(capsys, "check", str(tmp_path / "net.nloom"))
    assert status == 0
    assert out.endswith("warning: There is nothing to train. Connect a data node and a loss.\n")


def test_what_is_not_finished_is_told_and_no_error(capsys: Captured, tmp_path: Path) -> None:
    save_project(Project("Empty"), tmp_path / "empty.nloom")
    status, out, _ = called(capsys, "check", str(tmp_path / "empty.nloom"))
    assert status == 0 and "warning: There is no layer to build a model from." in out
    save_project(classifier().project, tmp_path / "whole.nloom")
    status, out, _ = called(capsys, "check", str(tmp_path / "whole.nloom"))
    assert status == 0 and out.endswith("no problems\n")


def test_what_a_run_takes_is_told_and_too_much_refused_in_the_same_words(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = str(tmp_path / "own.nloom")
    save_project(classifier().plan(batch=100_000, epochs=1).project, Path(place))
    _, told, _ = called(capsys, "check", place)
    line = next(one for one in told.splitlines() if one.startswith("About "))
    assert "weights" in line and "a batch of 150 examples" in line
    _, told, _ = called(capsys, "check", place, "--json")
    assert json.loads(told)["memory"]["total"] > 0
    status, _, progress = called(capsys, "train", place, "--out", str(tmp_path / "run"))
    assert status == cli.OK and progress.splitlines()[0] == f"neuroloom: {line}"
    wide = classifier().plan(epochs=1)
    wide.project.graph.nodes["n2"].params["units"] = 10**8  # type: ignore[index]
    save_project(wide.project, Path(place))
    monkeypatch.setattr("engine.devices._own_memory", lambda: 12 * 2**30)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    status, told, _ = called(capsys, "check", place)
    sentence = "Training takes about "
    (problem,) = [one for one in told.splitlines() if sentence in one]
    assert status == cli.PROBLEMS and problem.startswith("error: n2 hidden: ") and "Give hidden" in problem
    status, _, said = called(capsys, "train", place, "--out", str(tmp_path / "other"))
    assert status == cli.PROBLEMS and problem.split(": ", 2)[2].split(" [")[0] in said


def test_data_outside_of_the_folder_are_read_only_when_that_is_allowed(
    capsys: Captured, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "here").mkdir()
    place = str(tmp_path / "here" / "own.nloom")
    save_project(table(tmp_path / "data"), Path(place))
    for words in (["check"], ["train", "--epochs", "1", "--out", str(tmp_path / "run")]):
        status, _, said = called(capsys, words[0], place, *words[1:])
        assert status == cli.UNREADABLE and "“own.csv” is outside the project's folder" in said
        assert "Add --allow-outside" in said and not (tmp_path / "run").exists()
        status, _, said = called(capsys, words[0], place, *words[1:], "--allow-outside")
        assert status == cli.OK
    script = str(tmp_path / "own.py")
    assert called(capsys, "export", place, "--out", script)[0] == cli.OK  # nothing is read
    assert called(capsys, "export", place, "--out", script, "--with-data")[0] == cli.UNREADABLE
