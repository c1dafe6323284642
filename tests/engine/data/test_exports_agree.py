"""Exported scripts read every kind of data as the program does, wherever they and the data lie.

Cases D-10 and D-11: folders with blanks, brackets and letters of other alphabets.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import pytest

from engine.catalogue import Data, load_catalogue
from engine.data.open.opening import open_data
from engine.document.files import load_project, save_project
from engine.document.graph import Project
from engine.document.shipped import datasets_folder
from engine.emit.writing import export
from engine.train.headless import run_headless
from tests.engine.data.any_files import KINDS, picture
from tests.gallery.recipes import data_project
from tests.gallery.running import alone
from tests.warm import python

CATALOGUE = load_catalogue()
PLACE = Path("My Data (1)") / "données 猫"
SEED = 3

# Runs each script as `python SCRIPT` would, one after the other, from a folder of no meaning.
RUNNER = """
import contextlib, io, json, runpy, sys, torch
found, threads = {}, torch.get_num_threads()
for name, (script, words) in json.load(sys.stdin).items():
    sys.argv = [script, *words]
    out = io.StringIO()
    torch.set_num_threads(threads)
    try:
        with contextlib.redirect_stdout(out):
            runpy.run_path(script, run_name="__main__")
    except (Exception, SystemExit) as error:
        found[name] = [f"{type(error).__name__}: {error}"]
    else:
        found[name] = out.getvalue().splitlines()
print(json.dumps(found))
"""


def project_of(name: str, folder: Path) -> Project:
    folder.mkdir(parents=True)
    found = KINDS[name].opened(KINDS[name].write(folder)[0])
    node_type = CATALOGUE.get(found.type)
    assert node_type is not None and issubclass(node_type, Data)
    return data_project(node_type, found.params)


def trained(project: Project) -> list[str]:
    lines: list[str] = []
    run_headless(
        project,
        CATALOGUE,
        datasets_folder(),
        seed=SEED,
        device="cpu",
        on_line=lambda record: lines.append(json.dumps(record)),
    )
    return lines


def marks(folder: Path) -> dict[str, tuple[str, int]]:
    """The content and the time of every file below a folder."""
    return {
        str(path): (sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, list[str]]:
    """What the program says of every kind of data, and its script: elsewhere, moved along, with --data."""
    top = tmp_path_factory.mktemp("exports")
    found: dict[str, list[str]] = {}
    runs: dict[str, tuple[str, list[str]]] = {}
    words = ["--json", "--device", "cpu", "--seed", str(SEED)]
    for number, name in enumerate(KINDS):
        data = top / f"{number}" / PLACE
        project = project_of(name, data)
        before = marks(data)
        found[name] = trained(project)
        away = top / "scripts é" / f"{number}" / "it's alone.py"
        away.parent.mkdir(parents=True)
        export(project, CATALOGUE, away)
        runs[f"{name}, elsewhere"] = (str(away), words)
        above = top / f"{number}" / "above.py"
        export(project, CATALOGUE, above)
        assert str(top) not in above.read_text(encoding="utf-8")
        moved = top / "moved" / f"{number}"
        shutil.copytree(top / f"{number}", moved)
        runs[f"{name}, moved along"] = (str(moved / "above.py"), words)
        told = top / "told" / f"{number}.py"
        told.parent.mkdir(exist_ok=True)
        told.write_text(away.read_text(encoding="utf-8").replace(str(top), "/nowhere"), encoding="utf-8")
        assert str(top) not in told.read_text(encoding="utf-8")
        node = project.graph.nodes["n1"]
        home = CATALOGUE.make(node).folder()  # type: ignore[attr-defined]
        copied = moved / home.relative_to(top / f"{number}")
        runs[f"{name}, told where"] = (str(told), [*words, "--data", str(copied)])
        assert marks(data) == before, name
    before = marks(top)
    command = [python(), "-W", "error", "-c", RUNNER]
    done = subprocess.run(
        command, cwd="/", input=json.dumps(runs), capture_output=True, text=True, timeout=900, env=alone()
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found |= json.loads(done.stdout.splitlines()[-1])
    assert marks(top) == before  # no script writes to the data
    return found


@pytest.mark.parametrize("where", ["elsewhere", "moved along", "told where"])
@pytest.mark.parametrize("name", KINDS)
def test_a_script_says_the_same_to_the_last_bit(
    name: str, where: str, outcomes: Mapping[str, list[str]]
) -> None:
    assert outcomes[f"{name}, {where}"] == outcomes[name]
    assert json.loads(outcomes[name][-1])["test_loss"] >= 0


def test_every_type_that_reads_files_of_a_persons_own_is_tried(tmp_path: Path) -> None:
    tried = set()
    for number, (_, kind) in enumerate(KINDS.items()):
        (tmp_path / str(number)).mkdir()
        tried.add(kind.opened(kind.write(tmp_path / str(number))[0]).type)
    own = {one.type_id for one in CATALOGUE.types() if issubclass(one, Data) and not one.public
           and any(param.name == "path" for param in one.params)}  # fmt: skip
    assert own <= tried


def test_folders_files_and_classes_of_any_alphabet(tmp_path: Path) -> None:
    """D-10: data, labels, project and script are named in other alphabets, and all is loaded again."""
    home = tmp_path / "données (1)"
    for at in range(10):
        file = home / "bilder" / ("猫" if at % 2 else "곽") / f"ß{at}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(picture("PNG", 10 * at))
    found = open_data(home / "bilder")
    assert found.params["classes"] == ("猫", "곽")
    node_type = CATALOGUE.get(found.type)
    assert node_type is not None and issubclass(node_type, Data)
    place = home / "réseau ß.nloom"
    save_project(data_project(node_type, found.params), place)
    project = load_project(place)
    lines = trained(project)
    script = home / "skript ü.py"
    export(project, CATALOGUE, script)
    command = [python(), "-W", "error", script.name, "--json", "--device", "cpu", "--seed", str(SEED)]
    done = subprocess.run(command, cwd=home, capture_output=True, text=True, env=alone())
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines() == lines
