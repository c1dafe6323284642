"""An installation that is not editable holds everything that the program opens."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from app.window.help_texts import PAGES

ROOT = Path(__file__).parents[1]
FLOORS = ("app", "engine", "nodes", "resources")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel that `pip install .` would install, built from a copy to leave no build folder behind."""
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in FLOORS:
        shutil.copytree(ROOT / name, source / name, ignore=LEFT_OUT)
    shutil.copytree(ROOT / "docs", source / "docs")
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, source / name)
    code = f"from setuptools import build_meta; print(build_meta.build_wheel({str(built)!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    (path,) = built.glob("*.whl")
    return zipfile.ZipFile(path)


def test_every_module_and_resource_is_in_the_wheel(wheel: zipfile.ZipFile) -> None:
    expected = {
        path.relative_to(ROOT).as_posix()
        for floor in FLOORS
        for path in (ROOT / floor).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert expected - set(wheel.namelist()) == set()


def test_nothing_else_is_in_the_wheel(wheel: zipfile.ZipFile) -> None:
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith((".dist-info", ".data"))} == set(FLOORS)
    assert [name for name in wheel.namelist() if "__pycache__" in name] == []


def test_the_pages_of_help_are_in_the_wheel(wheel: zipfile.ZipFile) -> None:
    (top,) = {name.split("/")[0] for name in wheel.namelist() if name.split("/")[0].endswith(".data")}
    inside = f"{top}/data/share/doc/neuroloom/"
    assert {f"{inside}{page}" for page in PAGES.values()} <= set(wheel.namelist())
    assert all(name.startswith(inside) for name in wheel.namelist() if name.startswith(top))


def test_the_wheel_brings_the_command_and_the_built_in_nodes(wheel: zipfile.ZipFile) -> None:
    (name,) = (name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    told = wheel.read(name).decode()
    assert "neuroloom = app.main:main" in told
    assert "[neuroloom.nodes]\nbuiltin = nodes" in told
