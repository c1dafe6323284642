"""The data beside an exported script: one's own, too, all of them or none, and never over another file."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from engine.data.open.opening import open_data
from engine.document.graph import Project
from engine.document.shipped import datasets_folder
from engine.emit.beside import copy_beside, files_beside
from engine.emit.writing import export
from engine.errors import DataError, NeuroloomError
from nodes.data.sets import SantaFe
from tests.engine.sketches import Sketch, catalogue, classifier
from tests.warm import python

FILES = Path(__file__).parents[2] / "data_files"


def learning(type_id: str, path: Path, column: str, target: str, classes: int) -> Project:
    sketch = Sketch("Own").plan(epochs=1, batch=8)
    data = sketch.add(type_id, "own", dict(open_data(path).params))
    flat = sketch.add("Flatten", "flat", x=f"{data}.{column}")
    scores = sketch.add("Linear", "scores", {"units": classes}, x=flat)
    sketch.add("CrossEntropy", "loss", prediction=scores, target=f"{data}.{target}")
    return sketch.project


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder of one's own files, at another place than the script will have."""
    folder = tmp_path / "home" / "own files"
    shutil.copytree(FILES, folder)
    return folder


def table(own: Path) -> Project:
    rows = [f"{row / 10},{row % 7},{'ab'[row % 2]}" for row in range(60)]
    (own / "own.csv").write_text("\n".join(["width,height,kind", *rows]))
    return learning("TableFile", own / "own.csv", "features", "kind", 2)


def names(folder: Path) -> set[str]:
    return {one.relative_to(folder).as_posix() for one in folder.rglob("*") if one.is_file()}


def test_ones_own_table_lies_beside_the_script_which_reads_it_there(own: Path, tmp_path: Path) -> None:
    project, out = table(own), tmp_path / "out"
    out.mkdir()
    written = export(project, catalogue(), out / "net.py", with_data=True)
    assert written == [out / "net.py", out / "own.csv"]
    text = (out / "net.py").read_text("utf-8")
    assert str(tmp_path) not in text
    assert "default=Path(__file__).parent, help=" in text
    moved = out.rename(tmp_path / "moved")
    shutil.rmtree(tmp_path / "home")
    command = [python(), "-W", "error", "net.py", "--device", "cpu"]
    done = subprocess.run(command, cwd=moved, capture_output=True, text=True)
    assert done.returncode == 0 and "test_loss" in done.stdout, done.stderr[-2000:]


def test_a_folder_keeps_its_name_and_a_graph_the_table_beside_it(own: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    images = learning("ImageFolder", own / "images", "image", "label", 2)
    export(images, catalogue(), out / "images.py", with_data=True)
    assert 'default=Path(__file__).parent / "images",' in (out / "images.py").read_text("utf-8")
    assert names(out / "images") == names(own / "images")
    graph = learning("GraphFile", own / "friends.edges", "features", "label", 2)
    written = export(graph, catalogue(), out / "graph.py", with_data=True)
    assert [one.name for one in written] == ["graph.py", "friends.edges", "friends.nodes.csv"]


def test_what_lies_with_the_script_already_stays_where_it_is(own: Path) -> None:
    written = export(table(own), catalogue(), own.parent / "net.py", with_data=True)
    assert written == [own.parent / "net.py"]
    assert 'default=Path(__file__).parent / "own files", help=' in written[0].read_text("utf-8")


def test_another_file_is_not_replaced_and_nothing_else_is_written(own: Path, tmp_path: Path) -> None:
    project, out = table(own), tmp_path / "out"
    out.mkdir()
    (out / "own.csv").write_text("mine")
    with pytest.raises(DataError, match=r"There is another .*own\.csv already, which is not replaced"):
        export(project, catalogue(), out / "net.py", with_data=True)
    assert names(out) == {"own.csv"} and (out / "own.csv").read_text() == "mine"
    shutil.copy(own / "own.csv", out / "own.csv")
    before = (out / "own.csv").stat().st_mtime_ns
    export(project, catalogue(), out / "net.py", with_data=True)
    assert (out / "own.csv").stat().st_mtime_ns == before


def test_a_copy_that_fails_leaves_nothing(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project, out = learning("ImageFolder", own / "images", "image", "label", 2), tmp_path / "out"
    out.mkdir()
    copies, copy = 0, shutil.copyfileobj

    def full(read: object, file: object) -> None:
        nonlocal copies
        copies += 1
        if copies == 3:
            raise OSError(28, "No space left on device")
        copy(read, file)  # type: ignore[arg-type]

    monkeypatch.setattr(shutil, "copyfileobj", full)
    with pytest.raises(DataError, match="No space left"):
        export(project, catalogue(), out / "net.py", with_data=True)
    assert copies == 3 and list(out.iterdir()) == []


def test_the_script_does_not_take_the_place_of_its_data(own: Path, tmp_path: Path) -> None:
    project, out = table(own), tmp_path / "out"
    out.mkdir()
    with pytest.raises(NeuroloomError, match="would take the place of the data"):
        export(project, catalogue(), out / "own.csv", with_data=True)
    (own / "own.csv").unlink()
    with pytest.raises(NeuroloomError, match=r"There is no .*own\.csv to copy"):
        export(project, catalogue(), out / "net.py", with_data=True)
    assert list(out.iterdir()) == []


def test_other_weights_are_not_replaced_but_those_of_the_same_script_are(tmp_path: Path) -> None:
    project = classifier().project
    weights, place = tmp_path / "run.safetensors", tmp_path / "net.safetensors"
    weights.write_bytes(b"new")
    place.write_bytes(b"mine")
    with pytest.raises(DataError, match=r"There is another .*net\.safetensors already"):
        export(project, catalogue(), tmp_path / "net.py", weights=weights)
    assert names(tmp_path) == {"run.safetensors", "net.safetensors"} and place.read_bytes() == b"mine"
    place.unlink()
    export(project, catalogue(), tmp_path / "net.py", weights=weights)
    weights.write_bytes(b"newer")
    export(project, catalogue(), tmp_path / "net.py", weights=weights)
    assert place.read_bytes() == b"newer"


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_only_ordinary_files_are_written_over(kind: str, tmp_path: Path) -> None:
    place = tmp_path / "net.py"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    else:
        place.symlink_to("/dev/null")
    with pytest.raises(NeuroloomError, match=r"no ordinary file"):
        export(classifier().project, catalogue(), place)
    assert not place.is_file() and not Path("/dev/null").is_file()
    assert [one.name for one in tmp_path.iterdir()] == ["net.py"]


def test_copies_carry_their_licence(tmp_path: Path) -> None:
    data = SantaFe()
    wanted = files_beside(data, tmp_path)
    assert [name for _, name in wanted] == ["santafe/santafe_laser.npy", "santafe/SOURCE.txt"]
    copied = copy_beside(wanted, tmp_path / "My Data (1)")
    files = [path for path in copied if path.is_file()]
    for path, (_, name) in zip(files, wanted, strict=True):
        assert path.read_bytes() == (datasets_folder() / name).read_bytes()
    times = [path.stat().st_mtime_ns for path in files]
    assert copy_beside(wanted, tmp_path / "My Data (1)") == []
    assert [path.stat().st_mtime_ns for path in files] == times
