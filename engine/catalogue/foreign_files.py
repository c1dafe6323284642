"""Data that a project names and that lie outside of its folder: withheld until its user agrees.

A withheld path is not in memory as a path at all: it begins with `ask:`, so that nothing can look there by
mistake. Nothing here looks either: names are compared as text, and links are followed one by one, never onto
another computer. Saving writes the path as it was.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

from engine.catalogue.node_types import Data
from engine.catalogue.registry import Catalogue
from engine.document.edits import SetParam
from engine.document.graph import Node, Project
from engine.document.paths import ASK, BESIDE, INSTALLED
from engine.document.shipped import datasets_folder
from engine.errors import NeuroloomError

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:[\\/]{2}", re.IGNORECASE)
_REMOTE_ROOTS = (
    "/net/",
    "/afs/",
    "/Network/",
    "/Volumes/",
)  # where systems mount other computers when asked to
_REMOTE = re.compile("nfs|cifs|smb|afs|autofs|sshfs|davfs|9p")  # kinds of mounted file systems
_MOST_LINKS = 40
_MARKS = (BESIDE, INSTALLED)


def withheld(
    project: Project,
    catalogue: Catalogue,
    home: Path | None,
    agreed: Callable[[str], bool],
    known: Iterable[Path] = (),
) -> Project:
    """The project with every path marked that leads out of `home`, its folder, and was not agreed to.

    `agreed` is asked about the path as the file says it; `known` are more folders that may be read.
    """
    found = [
        (node.id, name) for node, name, path in foreign(project, catalogue, home, known) if not agreed(path)
    ]
    if not found:
        return project
    project = project.copy()
    for _, graph in project.graphs():
        for node_id, name in found:
            if node_id in graph.nodes:
                value = str(graph.node(node_id).params[name])
                SetParam(node_id, name, ASK + value).apply(project)
    return project


def foreign(
    project: Project, catalogue: Catalogue, home: Path | None, known: Iterable[Path] = ()
) -> Iterator[tuple[Node, str, str]]:
    """The data nodes that read outside of `home`, with the parameter and the path that lead there."""
    roots = [Path(os.path.abspath(one)) for one in (*((home,) if home is not None else ()), *known)]
    roots.append(datasets_folder())
    for _, graph in project.graphs():
        for node in graph.nodes.values():
            named = list(_named(node, catalogue))
            outside = [one for one in named if not _inside(one[1], roots)]
            if named and not outside:  # then it may be what the first file or folder is said to hold
                beside = (path for path in _beside(node, catalogue) if not _inside(path, roots))
                outside = [(named[0][0], path) for path in beside][:1]
            for name, path in outside:
                yield node, name, path


def on_another_computer(path: str) -> bool:
    """Whether a name leads to another computer, told by its form and by what is mounted: nothing looks."""
    if path.startswith(("//", "\\\\")) or _SCHEME.match(path) or path.startswith(_REMOTE_ROOTS):
        return True
    return any(path == place or path.startswith(f"{place}/") for place in _mounted())


def question(value: str) -> str:
    """Why a withheld path is not read yet."""
    path = value.removeprefix(ASK)
    name, folder = re.split(r"[\\/]", path)[-1], os.path.dirname(path.replace("\\", "/"))
    where = "on another computer" if on_another_computer(path) else "outside the project's folder"
    return f"“{name or path}” is {where}, in {folder or path}: it is not read before you agree."


def agreeing(project: Project, value: str) -> tuple[SetParam, ...]:
    """The edits after which this path is read, and the others withheld in its folder."""
    folder = os.path.dirname(value)
    return tuple(
        SetParam(node.id, name, path.removeprefix(ASK))
        for _, graph in project.graphs()
        for node in graph.nodes.values()
        for name, path in node.params.items()
        if isinstance(path, str) and path.startswith(ASK) and os.path.dirname(path) == folder
    )


def held(project: Project) -> frozenset[str]:
    """The paths that are withheld, as the file says them."""
    return frozenset(
        path.removeprefix(ASK)
        for _, graph in project.graphs()
        for node in graph.nodes.values()
        for path in node.params.values()
        if isinstance(path, str) and path.startswith(ASK)
    )


def _named(node: Node, catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """The parameters of a node that name files or folders, each with the path.

    All but the first lie beside the first, or in it where it is a folder.
    """
    kind, first, folder = catalogue.get(node.type), "", ""
    if kind is None or kind.kind != "data":
        return
    for spec in sorted(kind.params, key=lambda one: one.kind != "path"):
        value = node.params.get(spec.name)
        named = spec.kind == "path" or spec.name.endswith("_file")
        if not named or not isinstance(value, str) or not value:
            continue
        if "\0" in value or value.startswith(_MARKS):
            continue  # no place at all: there is no such file
        yield spec.name, value if _absolute(value) or not first else os.path.join(folder, value)
        if not first:
            first, folder = spec.name, value if spec.folder else os.path.dirname(value)


def _beside(node: Node, catalogue: Catalogue) -> Iterator[str]:
    """The files that a node says there are below its folder."""
    try:
        made = catalogue.make(node)
        folder, names = (made.folder(), made.holds()) if isinstance(made, Data) else (None, ())
    except NeuroloomError:
        return  # it reads nothing
    for name in names:
        yield name if _absolute(name) else os.path.join(folder or "", name)


def _inside(path: str, roots: Iterable[Path]) -> bool:
    return path.startswith(ASK) or any(_below(path, root) for root in roots)


def _absolute(path: str) -> bool:
    return os.path.isabs(path) or path.startswith("\\\\") or _SCHEME.match(path) is not None


def _below(path: str, root: Path) -> bool:
    """Whether a path stays below a folder, with all links on its way."""
    whole = os.path.normpath(path if _absolute(path) else os.path.abspath(path))
    if not Path(whole).is_relative_to(root) or (path.startswith("\\\\") and os.sep == "/"):
        return False
    return Path(_followed(whole, root)).is_relative_to(root)


def _followed(path: str, root: Path) -> str:
    """Where a path below `root` leads, its links followed one by one; ends at the first that leads out."""
    rest, place = list(Path(path).relative_to(root).parts), str(root)
    for _ in range(_MOST_LINKS):
        while rest:
            place = os.path.join(place, rest.pop(0))
            if os.path.islink(place):
                break
        else:
            return place
        place = os.path.normpath(os.path.join(os.path.dirname(place), os.readlink(place)))
        whole = Path(place, *rest)
        if not whole.is_relative_to(root):
            return place
        rest, place = list(whole.relative_to(root).parts), str(root)
    return os.sep  # links in a circle


@cache
def _mounted() -> tuple[str, ...]:
    """The places at which other computers are mounted, as Linux lists them."""
    try:
        lines = Path("/proc/self/mounts").read_text("utf-8", "replace").splitlines()
    except OSError:
        return ()
    found = [line.split(" ") for line in lines]
    return tuple(one[1] for one in found if len(one) > 2 and _REMOTE.search(one[2]) and one[1] != "/")
