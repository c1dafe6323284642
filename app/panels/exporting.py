"""What an export of the open project may take along (data, weights), how it will look, and running it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from engine.catalogue import Catalogue, Data
from engine.document.files import load_project
from engine.document.graph import Link, Node, Project
from engine.document.shipped import datasets_folder, installed_files
from engine.emit.forms.form import Export, Form
from engine.emit.writing import export, write
from engine.errors import NeuroloomError
from engine.procedures.registry import MAIN

if TYPE_CHECKING:
    from engine.train.verify.verification import Verification

SUFFIXES = {Form.SCRIPT: ".py", Form.PACKAGE: "", Form.NOTEBOOK: ".ipynb"}
LAST_WEIGHTS = "weights-last.safetensors"
BEST_WEIGHTS = "weights-best.safetensors"

__all__ = ["SUFFIXES", "Trial", "data_size", "export", "made", "own_folder", "trained_weights", "tried"]


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user asks for of an export."""

    form: Form = Form.SCRIPT
    with_data: bool = False
    weights: Path | None = None
    procedures: tuple[str, ...] | None = None  # their names; none: those that the network is for


def made(project: Project, catalogue: Catalogue, target: Path, asked: Asked) -> Export:
    """An export as it would stand at `target`. Errors: `NeuroloomError`."""
    from engine.emit.forms.make import make_export

    return make_export(
        project,
        catalogue,
        target,
        asked.form,
        with_data=asked.with_data,
        with_weights=asked.weights is not None,
        procedures=MAIN if asked.procedures is None else asked.procedures,
    )


@dataclass(frozen=True, slots=True)
class Trial:
    """An export that stands in a folder of its own, and runs there beside the application."""

    both: Verification
    folder: TemporaryDirectory[str]

    def close(self) -> None:
        """End both, and remove the folder."""
        self.both.close()
        self.folder.cleanup()


def tried(project: Project, catalogue: Catalogue, asked: Asked, steps: int) -> Trial:
    """Write an export to a folder of its own, and begin to run it. Errors: `NeuroloomError`."""
    from engine.train.verify.verification import Verification

    folder = TemporaryDirectory(prefix="neuroloom-export-")
    try:
        found = made(project, catalogue, Path(folder.name) / f"network{SUFFIXES[asked.form]}", asked)
        write(found, asked.weights)
        both = Verification(found, project, steps=steps, with_data=asked.with_data, weights=asked.weights)
    except BaseException:
        folder.cleanup()
        raise
    return Trial(both, folder)


def data_size(project: Project, catalogue: Catalogue) -> tuple[tuple[str, ...], int]:
    """The data files a script of this project reads, and their size in bytes."""
    names: dict[str, None] = {}
    for made in _data_nodes(project, catalogue):
        names |= dict.fromkeys(made.files or installed_files(made.folder(), made.holds()))
    folder = datasets_folder()
    sizes = [(folder / name).stat().st_size for name in names if (folder / name).is_file()]
    return tuple(names), sum(sizes)


def own_folder(project: Project, catalogue: Catalogue) -> Path | None:
    """The folder of files of the user's own, or of downloads, that the script will read; None for none."""
    for made in _data_nodes(project, catalogue):
        folder = made.folder()
        if folder is not None and not folder.is_relative_to(datasets_folder()):
            return folder
    return None


def _data_nodes(project: Project, catalogue: Catalogue) -> Iterator[Data]:
    for node in project.graph.nodes.values():
        try:
            made = catalogue.make(node, project)
        except NeuroloomError:
            continue
        if isinstance(made, Data):
            yield made


def trained_weights(project: Project, folder: Path | None) -> tuple[Path | None, str]:
    """The weights of a run that fit this project, and a sentence about them."""
    if folder is None or not (folder / LAST_WEIGHTS).is_file():
        return None, "Train the network first: there are no weights yet."
    try:
        trained = load_project(folder / "project.nloom")
    except NeuroloomError:
        return None, "The project of the last run cannot be read."
    if _structure(trained) != _structure(project):
        return None, "The graph has changed since the last run: train it again to export its weights."
    best = folder / BEST_WEIGHTS
    if project.plan.stop.restore_best and best.is_file():
        return best, "The weights of the best epoch of the last run."
    return folder / LAST_WEIGHTS, "The weights of the last run."


def _structure(project: Project) -> tuple[list[Node], list[Link]]:
    nodes = [replace(node, position=(0.0, 0.0)) for node in _all_nodes(project)]
    return nodes, [link for _, graph in project.graphs() for link in graph.links]


def _all_nodes(project: Project) -> list[Node]:
    return [node for _, graph in project.graphs() for node in graph.nodes.values()]
