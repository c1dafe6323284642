"""Rules of the repository itself: size, floors, start-up, packaging."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
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
    texts = {path.relative_to(ROOT): path.read_text(encoding="utf-8") for path in MODULES}
    found = [
        f"{path}:{node.lineno}"
        for path, text in texts.items()
        if path.parts[0] in ("app", "engine", "nodes") and path.stem not in ("cli", "main")
        if "print(" in text
        for node in ast.walk(ast.parse(text))
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


# In one process: what none of them needs is not there after the last.
IMPORT_ALL = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
    found = {"torch", "sklearn"} & sys.modules.keys()
    if found:
        sys.exit(f"{name} imports {found}")
"""


def test_what_the_window_needs_first_imports_without_torch() -> None:
    """The window stands before torch is loaded, so nothing that it needs first may import torch."""
    done = run_python(IMPORT_ALL, *TORCH_FREE)
    assert done.returncode == 0, done.stderr


def imported_at_once(tree: ast.Module) -> Iterator[str]:
    """What importing a module imports: not what only types need, nor what a function imports when called."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{one.name}" for one in node.names)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting += node.orelse
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def test_engine_and_nodes_are_tested_without_qt() -> None:
    """Their tests are collected on a machine without Qt; contracts hold that engine and nodes need none."""
    waiting = [*(ROOT / "tests/engine").rglob("*.py"), *(ROOT / "tests/nodes").rglob("*.py")]
    seen, found = set(waiting), []
    while waiting:
        path = waiting.pop()
        for name in imported_at_once(ast.parse(path.read_text(encoding="utf-8"))):
            if name.split(".")[0] in ("PySide6", "shiboken6", "pytestqt", "app"):
                found.append(f"{path.relative_to(ROOT)} imports {name}")
            for dots in (name, f"{name}.__init__", name.rpartition(".")[0]):
                near = ROOT / f"{dots.replace('.', '/')}.py"
                if name.startswith("tests.") and near.is_file() and near not in seen:
                    seen.add(near)
                    waiting.append(near)
    assert len(seen) > 100 and found == []


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
