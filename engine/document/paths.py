"""Paths of data files: absolute in memory, and written relative to the project file where they lie below it.

So a folder that holds a project and its data can be moved, zipped and sent. In the file such a path reads
`project:data/flowers.csv`; a file that is installed with the application, `installed:files/flowers.csv`.
Everything else stays as it is. Such a name never leads out of its folder, neither by `..` nor by a link.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePosixPath

from engine.document.graph import Graph, Node, Project
from engine.document.shipped import datasets_folder
from engine.values import Value

BESIDE, INSTALLED = "project:", "installed:"
ASK = "ask:"  # in memory only: before a path outside of the project's folder that is not to be read yet


def portable(project: Project, folder: Path) -> Project:
    """The project as its file in `folder` says it: what lies below the folder is named from there."""
    places = {BESIDE: Path(os.path.abspath(folder)), INSTALLED: datasets_folder()}

    def below(value: Value) -> Value:
        if isinstance(value, str) and value.startswith(ASK):
            return value.removeprefix(ASK)
        if not isinstance(value, str) or "\0" in value or not os.path.isabs(value):
            return value
        for mark, place in places.items():
            if (path := Path(os.path.normpath(value))).is_relative_to(place) and _inside(path, place):
                return mark + path.relative_to(place).as_posix()
        return value

    return _changed(project, below)


def settled(project: Project, folder: Path | None = None) -> Project:
    """The project in memory: what its file, in `folder`, names from there is absolute."""
    places = {INSTALLED: datasets_folder()}
    if folder is not None:
        places[BESIDE] = Path(os.path.abspath(folder))

    def absolute(value: Value) -> Value:
        if isinstance(value, str) and "\0" not in value:
            for mark, place in places.items():
                path = place.joinpath(*PurePosixPath(value.removeprefix(mark)).parts)
                if value.startswith(mark) and _inside(path, place):
                    return str(path)
        return value

    return _changed(project, absolute)


def _inside(path: Path, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _changed(project: Project, change: Callable[[Value], Value]) -> Project:
    """The project with changed parameters; the same one where nothing changes."""
    found = [
        (scope, named)
        for scope, graph in project.graphs()
        for node in graph.nodes.values()
        if (named := _renamed(node, change)) is not node
    ]
    if found:
        project = project.copy()
        for scope, node in found:
            graph: Graph = project.graph_of(scope)
            graph._replace(node)
    return project


def _renamed(node: Node, change: Callable[[Value], Value]) -> Node:
    new = {key: change(value) for key, value in node.params.items()}
    return node if new == dict(node.params) else replace(node, params=new)
