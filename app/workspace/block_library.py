"""Blocks that can be placed: of a project, ready-made, the user's own, and layers drawn from their parts.

Each of the user's own and each ready-made one is a text file, a copy of an instance with all it stands for.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from engine.catalogue import Catalogue
from engine.catalogue.drawn_forms import drawn_forms
from engine.document.clipboard import copy_text
from engine.document.files import write_atomically
from engine.document.graph import Project

DRAWN = "drawn:"  # before the name of a drawn form where its block is added
KEPT = "kept:"  # before a name where a block of the library stands in for a node type
READY = "ready:"  # before a name where a ready-made block stands in for a node type
DEFINED = "block:"  # before an id where a block of the project stands in for a node type
STAND_INS = (DRAWN, KEPT, READY, DEFINED)
SUFFIX = ".nloom-block"
LONGEST_NAME = 60


class Shelf(QObject):
    """Tells every palette that the library has changed."""

    changed = Signal()


shelf = Shelf()


@dataclass(frozen=True, slots=True)
class Kept:
    """A block of the library, by the name of its file, which is what people called it."""

    name: str

    @property
    def type_id(self) -> str:
        """What stands for it where node types are added by id."""
        return f"{KEPT}{self.name}"

    @property
    def about(self) -> str:
        """What it is, in a sentence."""
        return "A block of your own, with everything in it."


@dataclass(frozen=True, slots=True)
class Ready:
    """A block that comes with the program: a part of known networks, or a whole network."""

    name: str
    about: str

    @property
    def type_id(self) -> str:
        """What stands for it where node types are added by id."""
        return f"{READY}{self.name}"


@dataclass(frozen=True, slots=True)
class Defined:
    """A block of the project, and how often it is placed."""

    name: str
    block_id: str
    uses: int

    @property
    def type_id(self) -> str:
        """What stands for it where node types are added by id."""
        return f"{DEFINED}{self.block_id}"

    @property
    def about(self) -> str:
        """What it is, in a sentence."""
        used = {0: "used nowhere", 1: "used once"}.get(self.uses, f"used {self.uses} times")
        return f"A block of this project, {used}. Editing it changes every instance."


@dataclass(frozen=True, slots=True)
class Drawn:
    """A layer drawn from its parts, offered beside the node type that it is."""

    name: str
    form: str
    fast: str
    family: str
    about: str

    @property
    def type_id(self) -> str:
        """What stands for it where node types are added by id."""
        return f"{DRAWN}{self.form}"


Placeable = Kept | Ready | Defined | Drawn


@cache
def ready() -> tuple[Ready, ...]:
    """The blocks that come with the program, parts before whole networks."""
    contents = (resources.files("resources") / "blocks" / "contents.json").read_text(encoding="utf-8")
    return tuple(Ready(name, about) for name, about in json.loads(contents).items())


def read_ready(name: str) -> str:
    """The text of a block that comes with the program, to be pasted. Errors: OSError."""
    return (resources.files("resources") / "blocks" / f"{name}{SUFFIX}").read_text(encoding="utf-8")


def drawn(catalogue: Catalogue) -> list[Drawn]:
    """The layers that can be drawn from their parts, by the names of their files."""
    kinds = [(form, catalogue.get(form.fast)) for form in drawn_forms()]
    return [
        Drawn(form.title, form.name, form.fast, kind.family, form.about)
        for form, kind in kinds
        if kind is not None
    ]


def defined(project: Project, scope: str) -> list[Defined]:
    """The blocks of a project that can be placed in one of its graphs, by title: none in itself."""
    if not project.blocks:
        return []
    uses = Counter(node.block for _, graph in project.graphs() for node in graph.nodes.values())
    found = [
        Defined(block.name or block.id, block.id, uses[block.id])
        for block in project.blocks.values()
        if not scope or (block.id != scope and scope not in project.contents(block.id))
    ]
    return sorted(found, key=_by_title)


def kept(folder: Path) -> list[Kept]:
    """The blocks in the library, by title; an empty list where there is no library yet."""
    if not folder.is_dir():
        return []
    found = [Kept(path.stem) for path in folder.glob(f"*{SUFFIX}") if path.is_file()]
    return sorted(found, key=_by_title)


def _by_title(one: Kept | Defined) -> tuple[str, str]:
    return one.name.casefold(), one.name


def keep(folder: Path, project: Project, instance_id: str) -> Path:
    """Writes the block that an instance stands for; one of the same name is replaced.

    Errors: OSError, NeuroloomError.
    """
    node = project.node(instance_id)
    path = folder / f"{_file_name(project.block(node.block).name)}{SUFFIX}"
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(path, copy_text(project, (instance_id,)).encode("utf-8"))
    shelf.changed.emit()
    return path


def read(folder: Path, name: str) -> str:
    """The text of a block, to be pasted. Errors: OSError."""
    return (folder / f"{name}{SUFFIX}").read_text(encoding="utf-8")


def forget(folder: Path, name: str) -> None:
    """Takes a block out of the library; one that is gone already is no error."""
    (folder / f"{name}{SUFFIX}").unlink(missing_ok=True)
    shelf.changed.emit()


def _file_name(title: str) -> str:
    """A name that every file system takes."""
    plain = re.sub(r'[\x00-\x1f<>:"/\\|?*]', "-", title).strip(" .")
    return plain[:LONGEST_NAME] or "block"
