"""The splits of one data node by itself, whether or not a network can be built around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from engine.catalogue import Catalogue, Data
from engine.catalogue.emitter import build
from engine.catalogue.foreign_files import question
from engine.data.text.token_names import watched
from engine.document.graph import Node
from engine.document.paths import ASK
from engine.document.shipped import datasets_folder, reading
from engine.errors import DataError

Loader = Callable[..., Mapping[str, Mapping[str, Any]]]
LARGEST = 256 << 20  # bytes of a file that is read whole only to be looked at


def read_node(node: Node, catalogue: Catalogue) -> Mapping[str, Mapping[str, Any]]:
    """What the node's loader gives: {split: {column: values}}, on the CPU.

    Errors: `DataError` at the node; `EmitError` or `ParamError` where the node says not how to read.
    """
    loader, folder, options = loader_of(node, catalogue)
    made = catalogue.make(node)
    asked = [one for one in node.params.values() if isinstance(one, str) and one.startswith(ASK)]
    if asked:
        raise DataError(question(asked[0]), node_id=node.id)
    with reading(node.id):
        key = made.learned_key() if isinstance(made, Data) else None
        return loader(folder, "cpu", **watched(options, key))


def loader_of(node: Node, catalogue: Catalogue) -> tuple[Loader, Path, dict[str, Any]]:
    """The function that reads a data node's data, the folder it reads in, and its options."""
    made = catalogue.make(node)
    if not isinstance(made, Data):
        raise DataError(f"{node.name or made.title} holds no data.", node_id=node.id)
    found = build(made, "data", {}).loader
    if found is None:
        raise DataError(f"{made.title} does not say how it is read.", node_id=node.id)
    return found[0], made.folder() or datasets_folder(), found[1]


def too_large(node: Node) -> int:
    """The size in bytes of the file that a node reads, where that is too much for a look; else 0."""
    path = node.params.get("path")
    if not isinstance(path, str) or not path or not Path(path).is_file():
        return 0
    if path.casefold().endswith((".npy", ".npz")):  # mapped, or no larger than memory
        return 0
    size = Path(path).stat().st_size
    return size if size > LARGEST else 0
