"""Looking into graphs: lists of edges, or GraphML; what is known of the nodes may lie in a table beside."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

from engine.catalogue.traits import FileForm
from engine.data.graphs.files import edge_columns, numbered, read_edge_list, read_graphml, read_table
from engine.data.graphs.folder import graph_files, joined_graphs
from engine.data.open.opening import Opened, reader, stamp
from engine.data.watch import Watch
from engine.errors import DataError, reason_of
from engine.values import Value

HEADS = {"source", "target", "from", "to", "src", "dst", "graph", "weight"}
TARGETS = ("label", "class", "target", "y", "club", "community", "category")
MOST_CLASSES = 1000
LARGEST = 2**28  # bytes of a file that is read as a graph
MOST_PADDED = 256  # MiB of matrices that are filled up


def open_it(path: Path, watch: Watch) -> Opened:
    """A graph, or many in one file or a folder, as a node. Errors: `DataError`."""
    if path.is_dir():
        return _folder(path, watch)
    watch.look(None, "reading")
    if path.stat().st_size > LARGEST:
        raise DataError(f'"{path.name}" has {path.stat().st_size / 2**20:,.0f} MiB; graphs may have 256.')
    markup = path.name.casefold().endswith((".graphml", ".xml"))
    try:
        delimiter, header, unread = ("", False, ()) if markup else _form(path)
        edges, table = read_graphml(path) if markup else read_edge_list(path, delimiter, header)
        labels = {row.get("graph", ""): row for row in read_table(_beside(path, "graphs"))}
    except (ValueError, ImportError) as error:
        raise DataError(reason_of(error)) from error
    if not edges:
        raise DataError(f'"{path.name}" has no edges.')
    watch.look(0.8, "counting")
    numbers = numbered(edges, table)
    many = len({graph for graph, _ in numbers}) > 1
    sizes = Counter(graph for graph, _ in numbers)
    columns = list(table[0]) if table else []
    target = "" if many else next((name for name in columns if name.casefold() in TARGETS), "")
    said = (
        [row.get("label", "") for row in labels.values()]
        if many
        else [row.get(target, "") for row in table]
        if target
        else []
    )
    classes = tuple(sorted(set(said), key=_in_order))
    remarks = [
        f"{len(numbers):,} nodes, {len(edges):,} edges" + (f", {len(sizes):,} graphs." if many else ".")
    ]
    if len(classes) > MOST_CLASSES:
        raise DataError(
            f'"{path.name}": {target} has {len(classes):,} different values, too many for classes.'
        )
    features = tuple(
        name
        for name in columns[1:]
        if name not in (target, "split", "graph") and all(_number(r.get(name, "")) for r in table)
    )
    rest = [name for name in columns[1:] if name not in (target, "split", "graph", *features)]
    if rest:
        remarks.append(f"Left out, since they are no numbers: {', '.join(rest)}.")
    if not features:
        remarks.append("Nothing is known of the nodes but their degree.")
    if not classes:
        remarks.append(
            "There are no labels: put them into a table beside it (NAME.nodes.csv, NAME.graphs.csv)."
        )
    remarks += _unread(unread)
    loops = sum(a == b for a, b, _, _ in edges)
    if loops:
        remarks.append(f"{loops:,} edges lead from a node to itself.")
    largest, blocks = max(sizes.values()), {}
    if many:
        blocks = _batches(len(sizes), largest, remarks)
    params: dict[str, Value] = {
        "path": str(path),
        **blocks,
        "delimiter": {"": "spaces", "\t": "tab"}.get(delimiter, delimiter),
        "header": header,
        "examples": "graphs" if many else "nodes",
        "features": features,
        "target": target,
        "classes": classes,
        "size": largest if many else len(numbers),
        "count": len(sizes) if many else len(numbers),
        "edges": len(edges),
        "stamp": stamp(path),
    }
    if "split" in (next(iter(labels.values()), {}) if many else columns):
        params["split"] = "as given"
    return Opened(reader(FileForm.GRAPH), params, path.name.split(".")[0], tuple(remarks))


def _folder(path: Path, watch: Watch) -> Opened:
    """A folder of graphs, a file for each. Errors: `DataError`."""
    watch.look(None, "listing")
    files = graph_files(path)
    if not files:
        raise DataError(f'There are no graphs below "{path.name}": .graphml, .edges or .edgelist.')
    classes, splits = sorted({named for _, named, _ in files}), {split for _, _, split in files}
    if "" in classes and len(classes) > 1:
        loose = next(file for file, named, _ in files if not named)
        raise DataError(f'"{loose.name}" lies beside the folders of the classes: put it into one of them.')
    markup = {file.name.casefold().endswith(".graphml") for file, _, _ in files}
    if len(markup) > 1:
        raise DataError(
            f'"{path.name}" holds both GraphML and lists of edges: put them into folders of their own.'
        )
    size = sum(file.stat().st_size for file, _, _ in files)
    if size > LARGEST:
        raise DataError(f'"{path.name}" has {size / 2**20:,.0f} MiB; graphs may have 256.')
    read = read_graphml if True in markup else read_edge_list
    delimiter, header, unread = "", False, tuple[str, ...]()
    edges: list[tuple[str, str, float, str]] = []
    table: list[dict[str, str]] = []
    try:
        if read is read_edge_list:
            delimiter, header, unread = _form(files[0][0])
        for number, (file, _, _) in enumerate(files):
            watch.look(number / len(files), "reading")
            found, nodes = joined_graphs(path, [file], read, delimiter, header)
            edges += found
            table += nodes
    except (ValueError, ImportError) as error:
        raise DataError(reason_of(error)) from error
    sizes = Counter(graph for graph, _ in numbered(edges, table))
    columns = list(dict.fromkeys(name for row in table for name in row))
    features = tuple(
        name for name in columns[1:] if name != "graph" and all(_number(row.get(name, "")) for row in table)
    )
    remarks = [f"{len(sizes):,} graphs of {min(sizes.values()):,} to {max(sizes.values()):,} nodes."]
    rest = [name for name in columns[1:] if name not in ("graph", *features)]
    if rest:
        remarks.append(f"Left out, since they are no numbers of every node: {', '.join(rest)}.")
    if not features:
        remarks.append("Nothing is known of the nodes but their degree.")
    remarks += _unread(unread)
    if classes == [""]:
        remarks.append("There are no labels: folders with names of classes would give them.")
    params: dict[str, Value] = {
        "path": str(path),
        **_batches(len(sizes), max(sizes.values()), remarks),
        "form": "GraphML" if True in markup else "lists of edges",
        "delimiter": {"": "spaces", "\t": "tab"}.get(delimiter, delimiter),
        "header": header,
        "features": features,
        "classes": () if classes == [""] else tuple(classes),
        "size": max(sizes.values()),
        "count": len(sizes),
        "edges": len(edges),
        "stamp": f"{len(files)}-{size}",
    }
    if len(splits - {""}) > 1:
        params["split"] = "as given"
        remarks.append(f"Folders say the splits: {', '.join(sorted(splits - {''}))}.")
    return Opened(reader(FileForm.GRAPHS), params, path.name, tuple(remarks))


def _batches(count: int, largest: int, remarks: list[str]) -> dict[str, Value]:
    """Side by side where matrices that are filled up would be too large; says so."""
    megabytes = count * largest * largest * 4 / 2**20
    if megabytes <= MOST_PADDED:
        return {}
    remarks.append(
        f"Filled up, their matrices would take {megabytes:,.0f} MiB: Batches is set to block-diagonal."
    )
    return {"batches": "block-diagonal"}


def _unread(names: tuple[str, ...]) -> list[str]:
    """What is told of columns that are neither ends, nor weight, nor graph."""
    few = ", ".join(names[:5]) + (" and more" if len(names) > 5 else "")
    return [f"Of the edges, {few} is not read; a weight is a column called weight."] if names else []


def _beside(path: Path, what: str) -> Path:
    return path.with_name(f"{path.name.split('.')[0]}.{what}.csv")


def _form(path: Path) -> tuple[str, bool, tuple[str, ...]]:
    """What stands between the cells ("" for spaces), whether the first line names them, names not read.

    Errors: `ValueError` where the first lines are no edges.
    """
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        head = [line for line in (file.readline(10_000) for _ in range(50)) if line.strip()]
    lines = [line for line in head if not line.startswith(("#", "%"))]
    if not lines:
        raise ValueError(f"{path.name} has no edges.")
    delimiter = next((mark for mark in (",", ";", "\t") if all(mark in line for line in lines)), "")
    rows = list(csv.reader(lines, delimiter=delimiter)) if delimiter else [line.split() for line in lines]
    first, rest = [cell.strip() for cell in rows[0]], rows[1:]
    header = bool(set(map(str.casefold, first)) & HEADS)
    if not header and rest and not any(_number(cell) for cell in first):
        header = any(all(len(row) > at and _number(row[at]) for row in rest) for at in range(len(first)))
    if not header and len(first) > 3:
        raise ValueError(
            f"{path.name} has {len(first)} cells in its first line: a list of edges has two names of nodes "
            "and perhaps a weight, or a first line that calls its columns source, target and weight."
        )
    ends = edge_columns([cell.casefold() for cell in first]) if header else ()
    unread = tuple(
        name
        for at, name in enumerate(first)
        if header and at not in ends and name.casefold() not in ("graph", "weight")
    )
    return delimiter, header, unread


def _number(text: str) -> bool:
    try:
        return abs(float(text)) < float("inf")
    except ValueError:
        return False


def _in_order(label: str) -> tuple[int, float, str]:
    return (0, float(label), label) if _number(label) else (1, 0.0, label)
