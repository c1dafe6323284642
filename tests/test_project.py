"""Rules of the repository itself: size, floors, start-up, packaging."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("app", "engine", "nodes", "resources", "tests")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
MOST_LINES = 500
MOST_MODULES = 25  # in one folder
# Words that name nothing, and so collect everything.
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "managers", "manager", "misc", "common"}
# Text that only makes sense on the computer it was written on.
MACHINE_PATHS = re.compile(r"/" + r"work/|/" + r"home/\w+/|/" + r"root/|/" + r"tmp/\w|file:" + r"///")
TEXT = {".py", ".md", ".toml", ".json", ".nloom", ".qss", ".svg", ".txt", ".cfg", ".yml", ".yaml", ""}


def test_no_module_is_longer_than_it_may_be() -> None:
    # Exports have bounds of their own: see tests/engine/emit/test_reference.py.
    modules = [path for path in MODULES if path.parent != ROOT / "tests" / "reference"]
    lines = {str(path): len(path.read_text(encoding="utf-8").splitlines()) for path in modules}
    # What is listed here wants to be split along what it holds.
    assert {path: count for path, count in lines.items() if count > MOST_LINES} == {}


def test_no_folder_holds_more_modules_than_it_may() -> None:
    """Before the next one, a family of them becomes a folder."""
    floors = (path for path in MODULES if path.relative_to(ROOT).parts[0] in ("app", "engine", "nodes"))
    held = Counter(path.parent for path in floors if path.stem != "__init__")
    full = {str(folder.relative_to(ROOT)): n for folder, n in held.items() if n > MOST_MODULES}
    assert full == {}


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert [str(path) for path in MODULES if path.stem in VAGUE_NAMES] == []


def tracked_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_no_file_names_a_path_of_one_computer() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
        for path in tracked_files()
        if path.suffix in TEXT
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if MACHINE_PATHS.search(line)
    ]
    assert found == []


def test_only_the_command_line_prints() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in MODULES
        if path.relative_to(ROOT).parts[0] in ("app", "engine", "nodes") and path.stem not in ("cli", "main")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    # Loaders and the exported loop print for the exported script, whose output is its purpose.
    assert [place for place in found if not place.startswith(("engine/emit/", "engine/cli"))] == []


def run_python(code: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter with the repository on its path."""
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=120,
    )


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


TORCH_FREE = [
    *(name for name in map(dotted, MODULES) if name.split(".")[0] == "nodes"),
    *(name for name in map(dotted, MODULES) if name.startswith(("engine.document", "engine.catalogue"))),
    "engine.shapes.rewire",
    "engine.emit.optimise",
    "app.window.main_window",
]


# Each module is imported by a child of its own, which knows nothing of the others; only the standard library
# and what is no part of the project are there already.
IMPORT_EACH = """
import importlib, os, sys
import ast, dataclasses, inspect, json, networkx, numpy
assert not {"torch", "sklearn"} & sys.modules.keys()
for name in sys.argv[1:]:
    child = os.fork()
    if not child:
        importlib.import_module(name)
        print(name, *({"torch", "sklearn"} & sys.modules.keys()), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


def test_what_the_window_needs_first_imports_without_torch() -> None:
    """The window stands before torch is loaded, so nothing that it needs first may import torch."""
    done = run_python(IMPORT_EACH, *TORCH_FREE)
    assert done.stdout.splitlines() == TORCH_FREE, done.stderr
    assert done.returncode == 0, done.stderr


def test_engine_and_nodes_are_tested_without_qt() -> None:
    """Their tests must be collected on a machine that has no Qt at all."""
    code = """
import sys
class NoQt:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("PySide6", "shiboken6"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, NoQt())
import pytest
plugins = ["-p", "no:pytest-qt", "-p", "no:cacheprovider", "-o", "addopts="]
sys.exit(pytest.main(["--collect-only", "-q", *plugins, "tests/engine", "tests/nodes"]))
"""
    done = run_python(code)
    # 5: nothing to collect, which only an empty tree says.
    assert done.returncode in (0, 5), done.stdout[-3000:] + done.stderr[-3000:]


def test_this_pyside_survives_many_calls_that_answer_none() -> None:
    """PySide6 6.12 loses a reference to None at each such call; Python 3.11 aborts after a few thousand."""
    code = (
        "from PySide6.QtWidgets import QApplication, QGraphicsRectItem\n"
        "app = QApplication([])\n"
        "item = QGraphicsRectItem()\n"
        "for _ in range(20_000):\n"
        "    assert item.scene() is None\n"
    )
    done = run_python(code)
    assert done.returncode == 0, done.stderr[-2000:]


def test_pyside_is_pinned_below_the_version_that_aborts() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "PySide6-Essentials>=6.8,<6.12" in project["dependencies"]
    assert "torch==2.13.0" in project["dependencies"]


def test_the_packages_that_qt_needs_are_named_alike_everywhere() -> None:
    """In the program's own complaint, in the README, and in what the checks install."""
    from app.window.display import PACKAGES

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    checks = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert f" {PACKAGES} " in readme
    assert set(PACKAGES.split()) <= set(checks.split())
