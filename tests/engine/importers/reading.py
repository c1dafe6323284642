"""Exports that are edited as one edits Python, and read back."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from engine.document.graph import Node, Project
from engine.emit.script import export_script
from engine.importers.opening import Opened, read_project
from engine.importers.texts import Read
from tests.engine.sketches import Sketch, catalogue, classifier, gallery

HERE = Path(__file__).parents[2] / "reference" / "net.py"


def read(text: str, path: Path = HERE) -> Opened:
    """A script as the project it came from."""
    title = text.splitlines()[0].strip('"') or "net"
    return read_project(Read(text, title=title), path, catalogue())


def written(project: Project) -> str:
    """The script of a project."""
    return export_script(project, catalogue()).text


@cache
def of_gallery(project_id: str) -> str:
    return written(gallery(project_id))


@cache
def small() -> str:
    """The script of a classifier with a hidden layer, a dropout and patience."""
    sketch = classifier()
    return written(sketch.plan(patience=5, epochs=40, batch=16).project)


def nodes(project: Project, type_id: str) -> list[Node]:
    """The nodes of a type, in order."""
    graph = project.graph
    return [graph.node(one) for one in graph.order() if graph.node(one).type == type_id]


def params(project: Project, type_id: str) -> list[dict[str, Any]]:
    return [dict(one.params) for one in nodes(project, type_id)]


def changed(text: str, *pairs: tuple[str, str]) -> str:
    """A text with parts of it replaced, each of which must be there."""
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


__all__ = ["Sketch", "changed", "nodes", "of_gallery", "params", "read", "small", "written"]
