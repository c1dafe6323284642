"""A folder of graphs, a file for each; folders in it are classes. Portable: exports carry this source."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.data.class_files import class_files
from engine.data.graphs.batches import packed_graphs
from engine.data.graphs.files import graph_tensors, names_of_graphs, padded_graphs
from engine.data.splits import split_columns, split_rows


def graph_files(folder: Path) -> list[tuple[Path, str, str]]:
    """Every graph below a folder as (file, class, split), in order of their names."""
    return class_files(folder, (".graphml", ".edges", ".edgelist"))


def joined_graphs(
    folder: Path, files: list[Path], read: Callable[..., Any], delimiter: str = "", header: bool = False
) -> tuple[list[tuple[str, str, float, str]], list[dict[str, str]]]:
    """Edges and nodes of all files, each a graph that is called as its file is below the folder.

    Errors: `ValueError` with the file.
    """
    edges, table = [], []
    for path in files:
        name = path.relative_to(folder).as_posix()
        try:
            found, nodes = read(path, delimiter, header)
        except ValueError as error:
            raise ValueError(f"In {path.parent.name}: {error}") from error
        if any(graph for _, _, _, graph in found):
            raise ValueError(f"{name} holds several graphs, by its column graph: open it by itself.")
        if not found and not nodes:
            raise ValueError(f"{name} has no edges and no nodes.")
        edges += [(first, second, weight, name) for first, second, weight, _ in found]
        for row in nodes:
            key = next(iter(row))
            table.append({"id": row[key], **{k: v for k, v in row.items() if k != key}, "graph": name})
    return edges, table


def load_graph_folder(
    folder: Path,
    device: str,
    *,
    read: Callable[..., Any],
    features: tuple[str, ...],
    classes: tuple[str, ...],
    directed: bool,
    size: int,
    packed: bool,
    splitter: Callable[..., dict[str, Tensor]],
    delimiter: str = "",
    header: bool = False,
    by: str = "",
    **splitting: Any,
) -> dict[str, dict[str, Any]]:
    """Graphs of a folder as {split: columns}: those of `packed_graphs`, or of `padded_graphs`; "label" (N,).

    Errors: `ValueError` with the file, `OSError`.
    """
    files = graph_files(folder)
    if not files:
        raise ValueError(f"There are no graphs below {folder}: choose the folder again.")
    edges, table = joined_graphs(folder, [path for path, _, _ in files], read, delimiter, header)
    numbers, nodes, ends, weights = graph_tensors(edges, table, features, directed, folder.name)
    columns: dict[str, Any]
    if packed:
        columns = packed_graphs(numbers, nodes, ends, weights, directed, device)
        inputs = [columns[name].marks() for name in ("nodes", "edges", "weights")]
    else:
        columns = {**padded_graphs(numbers, nodes, ends, weights, directed, size)}
        inputs = list(columns.values())
    order = {name: at for at, name in enumerate(names_of_graphs(numbers))}
    files.sort(key=lambda file: order[file[0].relative_to(folder).as_posix()])
    if classes:
        strange = next((named for _, named, _ in files if named not in classes), None)
        if strange is not None:
            raise ValueError(
                f"The folder {strange!r} is none of the {len(classes)} classes: open the folder again."
            )
        label = torch.tensor([classes.index(named) for _, named, _ in files])
        first = {"sizes": columns.pop("sizes")} if packed else {}
        columns = {**first, "label": label, **columns} if packed else {**columns, "label": label}
    splits = {"train": 0, "validation": 1, "test": 2}
    given = torch.tensor([splits.get(split, 0) for _, _, split in files])
    keys = columns["label"] if by == "class" else given if by == "split" else None
    rows = split_rows(len(files), keys, splitter, splitting, inputs, columns.get("label"))
    return split_columns(columns, rows, device)
