"""Looking into graphs: lists of edges, or GraphML; what is known of the nodes may lie in a table beside."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from engine.data.graphs import numbered, read_edge_list, read_graphml, read_table
from engine.data.opening import Opened, Watch, stamp
from engine.errors import DataError
from engine.values import Value

TARGETS = ("label", "class", "target", "y", "club", "community", "category")
MOST_CLASSES = 1000
LARGEST = 2**28  # bytes of a file that is read as a graph


def open_it(path: Path, watch: Watch) -> Opened:
    """A graph, or many in one file, as a node. Errors: `DataError`."""
    watch.look(None, "reading")
    if path.stat().st_size > LARGEST:
        raise DataError(f'"{path.name}" has {path.stat().st_size / 2**20:,.0f} MiB; graphs may have 256.')
    markup = path.name.casefold().endswith((".graphml", ".xml"))
    try:
        delimiter, header = ("", False) if markup else _form(path)
        edges, table = read_graphml(path) if markup else read_edge_list(path, delimiter, header)
        labels = {row.get("graph", ""): row.get("label", "") for row in read_table(_beside(path, "graphs"))}
    except (ValueError, ImportError) as error:
        raise DataError(str(error)) from error
    if not edges:
        raise DataError(f'"{path.name}" has no edges.')
    watch.look(0.8, "counting")
    numbers = numbered(edges, table)
    many = len({graph for graph, _ in numbers}) > 1
    sizes = Counter(graph for graph, _ in numbers)
    columns = list(table[0]) if table else []
    target = "" if many else next((name for name in columns if name.casefold() in TARGETS), "")
    said = list(labels.values()) if many else [row[target] for row in table] if target else []
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
        if name not in (target, "split", "graph") and all(_number(r[name]) for r in table)
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
    loops = sum(a == b for a, b, _, _ in edges)
    if loops:
        remarks.append(f"{loops:,} edges lead from a node to itself.")
    params: dict[str, Value] = {
        "path": str(path),
        "delimiter": {"": "spaces", "\t": "tab"}.get(delimiter, delimiter),
        "header": header,
        "examples": "graphs" if many else "nodes",
        "features": features,
        "target": target,
        "classes": classes,
        "size": max(sizes.values()) if many else len(numbers),
        "count": len(sizes) if many else len(numbers),
        "edges": len(edges),
        "stamp": stamp(path),
    }
    if "split" in columns and not many:
        params["split"] = "as given"
    return Opened("GraphFile", params, path.name.split(".")[0], tuple(remarks))


def _beside(path: Path, what: str) -> Path:
    return path.with_name(f"{path.name.split('.')[0]}.{what}.csv")


def _form(path: Path) -> tuple[str, bool]:
    """What stands between the cells ("" for spaces), and whether the first line names the columns."""
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        head = [line for line in (file.readline(10_000) for _ in range(50)) if line.strip()]
    lines = [line for line in head if not line.startswith(("#", "%"))]
    if not lines:
        raise ValueError(f"{path.name} has no edges.")
    delimiter = next((mark for mark in (",", ";", "\t") if all(mark in line for line in lines)), "")
    first = lines[0].replace(delimiter or " ", " ").casefold().split()
    return delimiter, bool(set(first) & {"source", "target", "from", "to", "src", "dst", "graph", "weight"})


def _number(text: str) -> bool:
    try:
        return abs(float(text)) < float("inf")
    except ValueError:
        return False


def _in_order(label: str) -> tuple[int, float, str]:
    return (0, float(label), label) if _number(label) else (1, 0.0, label)
