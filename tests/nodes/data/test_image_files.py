"""Folders of images as nodes: what they give and say, and a project with awkward names from end to end."""

from __future__ import annotations

import json
import subprocess
import threading
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
from PIL import Image

from engine.catalogue import load_catalogue
from engine.data.open.opening import open_data
from engine.document.edits import SetParam
from engine.document.files import load_project, save_project
from engine.document.plan import Choice
from engine.document.shipped import datasets_folder
from engine.emit.script import export_script
from engine.errors import DataError, NeuroloomError
from engine.train.headless import run_headless
from engine.train.trainer import Trainer
from nodes.data.image_files import ImageFolder
from tests.engine.sketches import Sketch
from tests.gallery.running import alone
from tests.warm import python


def drawn(path: Path, level: int, number: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    values = np.full((4, 4, 3), level, np.uint8)
    values[0, 0] = number
    Image.fromarray(values).save(path)


def sketched(folder: Path) -> Sketch:
    opened = open_data(folder)
    sketch = Sketch("Images")
    data = sketch.add(opened.type, opened.name, dict(opened.params))
    flat = sketch.add("Flatten", "flat", x=f"{data}.image")
    scores = sketch.add("Linear", "scores", {"units": 2}, x=flat)
    sketch.add("CrossEntropy", "loss", prediction=scores, target=f"{data}.label")
    return sketch.plan(epochs=2, batch=4)


def trained(sketch: Sketch) -> list[str]:
    lines: list[str] = []
    run_headless(
        sketch.project,
        load_catalogue(),
        datasets_folder(),
        seed=3,
        device="cpu",
        on_line=lambda record: lines.append(json.dumps(record)),
    )
    return lines


def test_names_in_any_script_from_the_folder_to_the_export(tmp_path: Path) -> None:
    """DIGITS#353, #2142: names that are not ASCII, and a blank in a folder's name, from end to end."""
    home = tmp_path / "My Data (1)"
    for at in range(10):
        drawn(home / "données" / "猫" / ("ß.png" if not at else f"ß {at}.png"), 50, at)
        drawn(home / "données" / "곽" / f"{at}.png", 200, at)
    before = {path: sha256(path.read_bytes()).digest() for path in home.rglob("*.png")}
    sketch = sketched(home / "données")
    assert sketch.check().problems == []
    lines = trained(sketch)
    save_project(sketch.project, home / "mes données.nloom")
    text = (home / "mes données.nloom").read_text(encoding="utf-8")
    assert '"path": "project:données"' in text and '"classes": ["猫", "곽"]' in text
    moved = tmp_path / "moved (2)"
    home.rename(moved)
    project = load_project(moved / "mes données.nloom")
    script = moved / "猫.py"
    script.write_text(export_script(project, load_catalogue(), beside=moved).text, encoding="utf-8")
    command = [python(), "-W", "error", str(script), "--json", "--device", "cpu", "--seed", "3"]
    done = subprocess.run(command, cwd=tmp_path, env=alone(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines() == lines
    after = {path: sha256((moved / path.relative_to(home)).read_bytes()).digest() for path in before}
    assert after == before


def test_training_from_files_gives_the_losses_of_training_in_memory(tmp_path: Path) -> None:
    for at in range(10):
        drawn(tmp_path / "a" / f"{at}.png", 50, at)
        drawn(tmp_path / "b" / f"{at}.png", 200, at)
    sketch = sketched(tmp_path)
    in_memory = trained(sketch)
    assert "read_ahead" not in export_script(sketch.project, load_catalogue()).text
    SetParam("n1", "memory", 0).apply(sketch.project)
    assert trained(sketch) == in_memory
    script = tmp_path / "alone.py"
    script.write_text(export_script(sketch.project, load_catalogue()).text, encoding="utf-8")
    assert "yield from read_ahead(split, order.split(CONFIG.batch))" in script.read_text("utf-8")
    command = [python(), "-W", "error", str(script), "--json", "--device", "cpu", "--seed", "3"]
    done = subprocess.run(command, cwd=tmp_path, env=alone(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines() == in_memory


def test_twenty_runs_from_files_leave_no_thread(tmp_path: Path) -> None:
    """C-26: each is stopped or paused in the middle of an epoch, whose next batch is being read."""

    def readers() -> list[threading.Thread]:
        found = [one for one in threading.enumerate() if one.name == "reading ahead"]
        for one in found:
            one.join(20)  # a batch that is under way ends
        return [one for one in found if one.is_alive()]

    for at in range(20):
        drawn(tmp_path / "a" / f"{at}.png", 50, at)
        drawn(tmp_path / "b" / f"{at}.png", 200, at)
    sketch = sketched(tmp_path).plan(epochs=100_000, batch=2)
    SetParam("n1", "memory", 0).apply(sketch.project)
    before = set(psutil.Process().children(recursive=True))
    trainer = Trainer(load_catalogue(), datasets_folder())
    try:
        for number in range(20):
            trainer.start(sketch.project)
            assert trainer.wait(20, until=lambda: trainer.progress.step > 2)
            (trainer.stop if number % 2 else trainer.pause)()
            assert trainer.wait(20) and trainer.state == ("idle" if number % 2 else "paused")
            assert readers() == [] and set(psutil.Process().children(recursive=True)) <= before
    finally:
        assert trainer.close()
    assert readers() == []


def test_a_damaged_file_stops_training_with_its_name(tmp_path: Path) -> None:
    for at in range(10):
        drawn(tmp_path / "a" / f"{at}.png", 50, at)
        drawn(tmp_path / "b" / f"{at}.png", 200, at)
    sketch = sketched(tmp_path)
    (tmp_path / "b" / "3.png").write_bytes(b"")
    for memory in (1000, 0):
        SetParam("n1", "memory", memory).apply(sketch.project)
        with pytest.raises(NeuroloomError, match=r'"b/3.png" is empty'):
            trained(sketch)


def test_a_class_that_is_new_is_told(tmp_path: Path) -> None:
    for kind in "ab":
        for at in range(5):
            drawn(tmp_path / kind / f"{at}.png", 50, at)
    sketch = sketched(tmp_path)
    drawn(tmp_path / "c" / "1.png", 50, 1)
    with pytest.raises(DataError, match='has a new class, "c"'):
        trained(sketch)


def test_what_leaves_it() -> None:
    folder = {"path": "/x", "size": (4, 6), "count": 2}
    classed = ImageFolder({**folder, "classes": ("a", "b")})
    assert [(one.name, one.shape, one.classes) for one in classed.columns()] == [
        ("image", (3, 4, 6), ()),
        ("label", (), ("a", "b")),
    ]
    assert classed.summary() == "2 images · 2 classes · 4×6 RGB"
    assert ImageFolder({**folder, "layout": "no labels", "broken": 1}).summary() == (
        "2 images · 1 unreadable · 4×6 RGB"
    )
    masked = ImageFolder({**folder, "layout": "masks", "levels": (0, 255), "channels": "grey"})
    assert masked.columns()[1].shape == (4, 6) and masked.columns()[1].classes == ("0", "255")
    coloured = ImageFolder({**folder, "layout": "masks", "levels": (0, 255), "colours": True})
    assert coloured.columns()[1].classes == ("#000000", "#0000ff")
    named = ImageFolder({**folder, "layout": "masks", "levels": (0, 255), "mask_classes": "sky, tree"})
    assert named.columns()[1].classes == ("sky", "tree")
    bordered = {**folder, "layout": "masks", "levels": (0, 1, 255), "void": "255"}
    assert ImageFolder(bordered).columns()[1].classes == ("0", "1")
    assert ImageFolder({**bordered, "void": "#ff", "colours": True}).columns()[1].classes == (
        "#000000",
        "#000001",
    )
    listed = ImageFolder({**folder, "layout": "list file", "target": "quantity"})
    assert [(one.name, one.shape) for one in listed.columns()][1] == ("value", (1,))
    alone_ = ImageFolder({**folder, "layout": "no labels"})
    assert [one.name for one in alone_.columns()] == ["image"] and alone_.folder() == Path("/x")


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"path": ""}, "No folder of images is chosen"),
        ({"split": "as given"}, "Nothing says which images are for train"),
        ({"layout": "list file"}, "List file is empty"),
        ({"layout": "masks", "mask_classes": "a, b, c"}, "3 names of classes .* have 2 classes"),
        ({"layout": "masks", "void": "the border"}, "have a value, such as 255, or a colour"),
        ({"layout": "masks", "levels": (255,), "void": "255"}, "No value of the masks is left"),
    ],
)
def test_what_is_missing_is_said(params: dict[str, str], said: str) -> None:
    with pytest.raises(NeuroloomError, match=said):
        ImageFolder({"path": "/x", **params}).emit(SimpleNamespace(load=dict))  # type: ignore[arg-type]


def test_segmentation_with_masks_learns(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for name in ("images", "masks"):
        (tmp_path / name).mkdir()
    for at in range(20):
        mask = np.zeros((8, 8), np.uint8)
        row, column = rng.integers(0, 5, 2)
        mask[row : row + 4, column : column + 4] = 255
        Image.fromarray(mask).save(tmp_path / "masks" / f"{at}.png")
        noisy = (0.6 * mask + rng.integers(0, 100, (8, 8))).astype(np.uint8)
        Image.fromarray(noisy).save(tmp_path / "images" / f"{at}.png")
    opened = open_data(tmp_path)
    sketch = Sketch("Squares")
    data = sketch.add(opened.type, "squares", dict(opened.params))
    scores = sketch.add("Conv2d", "scores", {"filters": 2, "kernel": 3, "padding": "same"}, x=f"{data}.image")
    sketch.add("CrossEntropy", "loss", prediction=scores, target=f"{data}.mask")
    sketch.plan(epochs=40, batch=4, optimiser=Choice("Adam", {"lr": 0.05}))
    assert sketch.check().errors == []
    values = [json.loads(line) for line in trained(sketch)]
    assert values[-1]["test_loss"] < 0.4 < values[0]["loss"]
