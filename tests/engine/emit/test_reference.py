"""The exported text of each gallery project is the one that was last looked at and found good.

Functions and classes that a script carries stand in full where they are written, in the engine; a reference
names them, with a mark of their text, so that a change of one is a change of every script that carries it.
NEUROLOOM_REWRITE=1 writes the files anew; then read the difference before you commit it.
"""

from __future__ import annotations

import ast
import inspect
import os
import pkgutil
import re
from functools import cache
from hashlib import blake2b
from importlib import import_module
from pathlib import Path

import pytest

from engine.data.portable import OURS
from engine.emit.forms.head import file_name
from engine.emit.script import export_script
from tests.engine.sketches import GALLERY_IDS, catalogue, gallery

FOLDER = Path(__file__).parents[2] / "reference"
CARRIED = re.compile(r"^# (\S+), (\d+) lines, (\w+)$", re.MULTILINE)


@cache
def sources() -> dict[str, str]:
    """{full name: text} of every function and class that a script may carry."""
    modules = []
    for package in (name.rstrip(".") for name in OURS):
        found = import_module(package)
        modules.append(found)
        for one in pkgutil.walk_packages(getattr(found, "__path__", ()), f"{package}."):
            modules.append(import_module(one.name))
    return {
        f"{module.__name__}.{name}": inspect.getsource(thing).rstrip()
        for module in modules
        for name, thing in vars(module).items()
        if (inspect.isfunction(thing) or inspect.isclass(thing)) and thing.__module__ == module.__name__
    }


def mark(name: str) -> str:
    """The line that stands for what a script carries."""
    text = sources()[name]
    return f"# {name}, {text.count(chr(10)) + 1} lines, {blake2b(text.encode(), digest_size=6).hexdigest()}"


def shortened(text: str) -> str:
    """A script with a line in the place of each function and class that it carries word for word."""
    names = {source: name for name, source in sources().items()}
    lines = text.splitlines()
    for part in reversed(ast.parse(text).body):
        if isinstance(part, (ast.FunctionDef, ast.ClassDef)):
            first = min([part.lineno, *(one.lineno for one in part.decorator_list)]) - 1
            name = names.get("\n".join(lines[first : part.end_lineno]))
            if name is not None:
                lines[first : part.end_lineno] = [mark(name)]
    return "\n".join(lines) + "\n"


def whole(text: str) -> str:
    """A reference with the text of everything it names."""

    def named(found: re.Match[str]) -> str:
        assert found[1] in sources(), f"{found[1]} is gone"
        assert found[0] == mark(found[1]), f"{found[1]} has changed"
        return sources()[found[1]]

    return CARRIED.sub(named, text)


@pytest.mark.parametrize("project_id", GALLERY_IDS)
def test_the_text_is_the_one_that_was_looked_at(project_id: str) -> None:
    project = gallery(project_id)
    path = FOLDER / file_name(project)
    text = export_script(project, catalogue()).text
    if os.environ.get("NEUROLOOM_REWRITE"):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(shortened(text).encode("utf-8"))
    assert whole(path.read_bytes().decode("utf-8")) == text


def test_no_file_is_left_of_a_project_that_is_gone() -> None:
    names = {file_name(gallery(project_id)) for project_id in GALLERY_IDS}
    assert {path.name for path in FOLDER.glob("*.py")} == names
