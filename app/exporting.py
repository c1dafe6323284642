"""Writes a network as a script of its own, whole or not at all. No Qt here: it runs in a worker thread."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from engine.catalogue import Catalogue
from engine.data.shipped import copy_files, datasets_folder
from engine.errors import DataError, NeuroloomError
from engine.files import load_project, write_atomically
from engine.graph import Link, Node, Project

LAST_WEIGHTS = "weights-last.safetensors"
BEST_WEIGHTS = "weights-best.safetensors"


def export(
    project: Project, catalogue: Catalogue, target: Path, *, with_data: bool, weights: Path | None
) -> list[Path]:
    """Writes the script to `target`, its data and weights beside it, and returns the files, the script first.

    Errors: `NeuroloomError`; what this call had written by then is removed again.
    """
    from engine.emit.script import write_script

    weights_file = target.with_suffix(".safetensors")
    script = write_script(project, catalogue, weights=weights_file.name if weights else None)
    wanted = [target, *([weights_file] if weights else [])]
    if with_data:
        wanted += [target.parent / name for name in script.files]
    fresh = [path for path in wanted if not path.exists()]
    try:
        if with_data:
            copy_files(script.files, target.parent)
        if weights is not None:
            write_atomically(weights_file, _read(weights))
        # The script last: where it stands, everything it needs stands too.
        write_atomically(target, script.plain.text.encode("utf-8"))
    except (NeuroloomError, OSError):
        for path in fresh:
            path.unlink(missing_ok=True)
        raise
    return wanted


def data_size(project: Project, catalogue: Catalogue) -> tuple[tuple[str, ...], int]:
    """The data files a script of this project reads, and their size in bytes."""
    names: dict[str, None] = {}
    for node in project.graph.nodes.values():
        found = catalogue.get(node.type)
        names |= dict.fromkeys(getattr(found, "files", ()))
    folder = datasets_folder()
    sizes = [(folder / name).stat().st_size for name in names if (folder / name).is_file()]
    return tuple(names), sum(sizes)


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
    nodes = [replace(node, position=(0.0, 0.0)) for node in project.graph.nodes.values()]
    return nodes, list(project.graph.links)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"The weights cannot be read: {error.strerror}.") from error
