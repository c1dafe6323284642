"""Examples name their files by where they are installed, so that they open on any machine."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.catalogue import load_catalogue
from engine.document.files import load_project
from engine.document.paths import INSTALLED
from engine.document.shipped import datasets_folder
from engine.emit.writing import export
from tests.warm import python

GALLERY = sorted((datasets_folder().parent / "gallery").glob("*.nloom"))


def texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts(item)


@pytest.mark.parametrize("file", GALLERY, ids=lambda file: file.stem)
def test_no_path_is_one_of_this_machine_and_every_file_is_there(file: Path) -> None:
    for node in json.loads(file.read_text("utf-8"))["nodes"]:
        for text in texts(node["params"]):
            assert len(text) == 1 or (not Path(text).is_absolute() and not text.startswith("project:"))
            if text.startswith(INSTALLED):
                assert (datasets_folder() / text.removeprefix(INSTALLED)).exists()


@pytest.mark.parametrize(
    "example, taken", [("penguins", 2), ("karate-club", 3), ("faces-folder", 200), ("shapes-masks", 401)]
)
def test_an_example_takes_its_files_along_and_runs_where_it_is_put(
    example: str, taken: int, tmp_path: Path
) -> None:
    project = load_project(datasets_folder().parent / "gallery" / f"{example}.nloom")
    script, *files = export(project, load_catalogue(), tmp_path / "alone.py", with_data=True)
    assert len(files) == taken and all(file.is_file() and file.is_relative_to(tmp_path) for file in files)
    assert str(datasets_folder()) not in script.read_text("utf-8")
    command = [python(), "-W", "error", script.name, "--epochs", "1", "--device", "cpu"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "test_loss" in done.stdout
