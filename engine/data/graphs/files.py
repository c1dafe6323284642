"""The user's graphs: lists of edges and GraphML. Portable: exports carry this source.

Nodes are numbered in the order of the table of nodes, then as the edges name them. What such a file holds:
edges as (source, target, weight), and a table of what is known of each node.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.data.file_there import file_there
from engine.data.splits import split_columns, split_rows


def read_rows(path: Path, delimiter: str) -> list[list[str]]:
    """The cells of a delimited text file ("" parts at spaces); empty lines and those after # are left out."""
    import csv
    import io

    try:
        text = io.StringIO(file_there(path).read_bytes().decode("utf-8-sig"), newline="")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path.name} is not text in UTF-8: byte {error.start + 1:,} is not.") from None
    lines = [line for line in text if line.strip() and not line.startswith(("#", "%"))]
    reader = csv.reader(lines, delimiter=delimiter) if delimiter else (line.split() for line in lines)
    rows: list[list[str]] = []
    try:
        for row in reader:
            rows.append([cell.strip() for cell in row])
    except csv.Error as error:
        raise ValueError(
            f"{path.name} cannot be read as a table: row {len(rows) + 1:,} is damaged or too long."
        ) from error
    return rows


def read_edge_list(
    path: Path, delimiter: str, header: bool
) -> tuple[list[tuple[str, str, float, str]], list[dict[str, str]]]:
    """Edges as (source, target, weight, graph), and the table of nodes beside, `NAME.nodes.csv`, if any.

    Columns are source, target and, where there are more, weight; with a header they may stand in any order,
    and one may be called graph. Errors: `ValueError` with the line.
    """
    rows = read_rows(path, delimiter)
    names = [cell.casefold() for cell in rows[0]] if header and rows else []
    whose = names.index("graph") if "graph" in names else -1
    heavy = names.index("weight") if "weight" in names else 2 if not names else -1
    ends = edge_columns(names) if names else [0, 1]
    edges = []
    for number, row in enumerate(rows[header:], 1 + header):
        try:
            weight = float(row[heavy]) if 0 <= heavy < len(row) else 1.0
            edges.append((row[ends[0]], row[ends[1]], weight, row[whose] if whose >= 0 else ""))
        except (IndexError, ValueError):
            raise ValueError(
                f"{path.name}, edge {number:,}: two names of nodes and perhaps a weight should stand there, "
                f"not {', '.join(row)[:60]!r}."
            ) from None
        if not math.isfinite(weight):
            raise ValueError(f"{path.name}, edge {number:,}: its weight is {weight}.")
    return edges, read_table(path.with_name(path.name.split(".")[0] + ".nodes.csv"))


def edge_columns(names: list[str]) -> list[int]:
    """Which columns, called `names`, are the two ends of an edge: by their names, else the first two left."""
    for source, target in (("source", "target"), ("from", "to"), ("src", "dst")):
        if source in names and target in names:
            return [names.index(source), names.index(target)]
    return [at for at, name in enumerate(names) if name not in ("graph", "weight")][:2]


def read_table(path: Path) -> list[dict[str, str]]:
    """The rows of a table with a header as {column: text}; none where there is no such file."""
    if not path.is_file():
        return []
    rows = read_rows(path, ",")
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise ValueError(f"{path.name}, row {number:,} has {len(row)} cells, not {len(rows[0])}.")
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def read_graphml(
    path: Path, delimiter: str = "", header: bool = False
) -> tuple[list[tuple[str, str, float, str]], list[dict[str, str]]]:
    """Edges and nodes of a GraphML file, as of a list of edges. Errors: `ValueError`, also for a DOCTYPE.

    Entities could swell a small file to more than memory holds, or name other files, so none is followed.
    """
    check_xml(path)
    try:
        import networkx
    except ImportError as error:
        raise ImportError("GraphML files are read with networkx: pip install networkx.") from error
    try:
        graph = networkx.read_graphml(path)
        edges = [
            (str(a), str(b), float(more.get("weight", 1.0)), "") for a, b, more in graph.edges(data=True)
        ]
        nodes = [
            {"id": str(one), **{k: str(v) for k, v in more.items()}} for one, more in graph.nodes(data=True)
        ]
    except Exception as error:  # networkx passes on whatever its parser stumbles over
        raise ValueError(
            f"{path.name} cannot be read as GraphML: "
            "it is XML, but a node, an edge or a value is not as it must be."
        ) from error
    return edges, nodes


def check_xml(path: Path) -> None:
    """Errors: `ValueError` with the line where a file is no whole XML, or for a DOCTYPE."""
    from xml.parsers import expat

    why = ""

    def refuse(*_: Any) -> None:
        nonlocal why
        why = f"{path.name} begins with a DOCTYPE, which GraphML does not need: remove it."
        raise ValueError(why)

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        with open(file_there(path), "rb") as file:
            parser.ParseFile(file)
    except (ValueError, LookupError, expat.ExpatError) as error:
        line = parser.CurrentLineNumber
        raise ValueError(why or f"{path.name} is not whole XML: line {line:,} cannot be read.") from error


def numbered(
    edges: list[tuple[str, str, float, str]], nodes: list[dict[str, str]]
) -> dict[tuple[str, str], int]:
    """A number for each node, by graph and name: those of the table first, then as edges name them."""
    key = next(iter(nodes[0])) if nodes else ""
    names = [(row.get("graph", ""), row[key]) for row in nodes]
    names += [(graph, end) for first, second, _, graph in edges for end in (first, second)]
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def adjacency(count: int, ends: Tensor, weights: Tensor, directed: bool) -> Tensor:
    """Weights of edges `ends` (2, E) as (count, count): row i holds those that lead to i, parallels added."""
    found = torch.zeros(count, count)
    found.index_put_((ends[1], ends[0]), weights, accumulate=True)
    if not directed:
        both = ends[0] != ends[1]  # a loop is one edge, not two
        found.index_put_((ends[0, both], ends[1, both]), weights[both], accumulate=True)
    return found


def node_features(nodes: list[dict[str, str]], features: tuple[str, ...], count: int, file: str) -> Tensor:
    """Columns of the table of nodes as (count, F). Errors: `ValueError` with the row of what is no number."""
    found = torch.zeros(count, len(features))
    if features and len(nodes) < count:
        raise ValueError(f"{file}: {count - len(nodes):,} nodes have edges but no row in the table of nodes.")
    for row, known in enumerate(nodes):
        for at, name in enumerate(features):
            try:
                found[row, at] = float(known[name])
            except (KeyError, ValueError, RuntimeError):  # too large for float32
                said = (
                    f'"{known[name][:60]}", which is no number to learn from' if name in known else "missing"
                )
                raise ValueError(f"{file}: {name} of node {row + 1:,} is {said}.") from None
    return found


def load_graph(
    folder: Path,
    device: str,
    *,
    file: str,
    read: Callable[..., Any],
    features: tuple[str, ...],
    target: str,
    classes: tuple[str, ...],
    directed: bool,
    examples: str,
    size: int,
    splitter: Callable[..., dict[str, Tensor]],
    delimiter: str = "",
    header: bool = False,
    by: str = "",
    **splitting: Any,
) -> dict[str, dict[str, Tensor]]:
    """A graph whose nodes are the examples, or that is the only one, or many graphs, `size` nodes at most.

    "nodes": {"features" (N, F + 1), "label" (N,)}, the degree last. "whole graph": one row in every split,
    {"nodes" (1, n, F + 1), "adjacency" (1, n, n), "mask" (1, n), "label" (1, n)}, the mask 1 for the nodes of
    the split. "graphs": {"nodes" (N, n, F + 1), "adjacency" (N, n, n), "mask" (N, n), "label" (N,)}, padded;
    the labels are in `NAME.graphs.csv`. Errors: `ValueError`, `OSError`.
    """
    numbers, table, nodes, ends, weights = read_graph(
        folder, file, read=read, features=features, directed=directed, delimiter=delimiter, header=header
    )
    count = len(numbers)
    if examples == "graphs":
        columns = padded_graphs(numbers, nodes, ends, weights, directed, size)
        if classes:
            columns["label"] = graph_labels(folder / file, names_of_graphs(numbers), classes)
    else:
        columns = {"features": nodes}
        if target:
            columns["label"] = class_numbers([row.get(target, "") for row in table], classes, count, file)
    n = len(next(iter(columns.values())))
    keys = columns.get("label") if by == "class" else None
    if by == "split":
        of = table if examples != "graphs" else rows_of_graphs(folder / file, names_of_graphs(numbers))
        keys = given_splits(of, n)
    inputs = [column for name, column in columns.items() if name != "label"]
    rows = split_rows(n, keys, splitter, splitting, inputs, columns.get("label"))
    if examples != "whole graph":
        return split_columns(columns, rows, device)
    whole = {"nodes": nodes[None], "adjacency": adjacency(count, ends, weights, directed)[None]}
    if target:
        whole["label"] = columns["label"][None]
    return {
        split: {
            **{name: column.to(device) for name, column in whole.items()},
            "mask": torch.zeros(1, count).index_fill_(1, at, 1.0).to(device),
        }
        for split, at in rows.items()
    }


def read_graph(
    folder: Path,
    file: str,
    *,
    read: Callable[..., Any],
    features: tuple[str, ...],
    directed: bool,
    delimiter: str = "",
    header: bool = False,
) -> tuple[dict[tuple[str, str], int], list[dict[str, str]], Tensor, Tensor, Tensor]:
    """Numbers of the nodes, their table, their features and degree (n, F + 1), edges (2, E) and weights (E,).

    Errors: `ValueError`, `OSError`.
    """
    edges, table = read(file_there(folder / file), delimiter, header)
    if not edges:
        raise ValueError(f"{file} has no edges.")
    numbers, nodes, ends, weights = graph_tensors(edges, table, features, directed, file)
    return numbers, table, nodes, ends, weights


def graph_tensors(
    edges: list[tuple[str, str, float, str]],
    table: list[dict[str, str]],
    features: tuple[str, ...],
    directed: bool,
    file: str,
) -> tuple[dict[tuple[str, str], int], Tensor, Tensor, Tensor]:
    """Numbers of the nodes, features and degree of each (n, F + 1), edges (2, E) and weights (E,)."""
    numbers = numbered(edges, table)
    count = len(numbers)
    ends = torch.tensor([[numbers[g, a], numbers[g, b]] for a, b, _, g in edges]).reshape(-1, 2).T
    weights = torch.tensor([weight for _, _, weight, _ in edges])
    degree = torch.zeros(count).index_add_(0, ends[1], torch.ones(len(edges)))
    degree = degree if directed else degree.index_add_(0, ends[0], torch.ones(len(edges)))
    nodes = torch.cat([node_features(table, features, count, file), degree[:, None]], 1)
    return numbers, nodes, ends, weights


def names_of_graphs(numbers: dict[tuple[str, str], int]) -> list[str]:
    """The graphs of a file, in the order of their first nodes."""
    return list(dict.fromkeys(graph for graph, _ in numbers))


def rows_of_graphs(path: Path, names: list[str]) -> list[dict[str, str]]:
    """What `NAME.graphs.csv` beside the file says of each graph, as {column: text}."""
    table = read_table(path.with_name(path.name.split(".")[0] + ".graphs.csv"))
    known = {row.get("graph", ""): row for row in table}
    return [known.get(name, {}) for name in names]


def graph_labels(path: Path, names: list[str], classes: tuple[str, ...]) -> Tensor:
    """The class of each graph, (N,). Errors: `ValueError` where one has none."""
    said = [row.get("label", "") for row in rows_of_graphs(path, names)]
    return class_numbers(said, classes, len(names), path.name)


def given_splits(rows: list[dict[str, str]], count: int) -> Tensor:
    """The split that the column of that name says, as (count,): 0, 1, 2, and -1 for none."""
    known = {"train": 0, "validation": 1, "val": 1, "test": 2}
    keys = torch.tensor([known.get(row.get("split", "").casefold(), -1) for row in rows], dtype=torch.int64)
    return torch.cat([keys, torch.full((count - len(keys),), -1)])


def class_numbers(said: list[str], classes: tuple[str, ...], count: int, file: str) -> Tensor:
    """Labels as numbers of classes. Errors: `ValueError` where one is lacking or unknown."""
    if len(said) < count:
        raise ValueError(f"{file}: {count - len(said):,} of {count:,} have no label.")
    strange = next((row for row, label in enumerate(said) if label not in classes), None)
    if strange is not None:
        raise ValueError(
            f"{file}: label {said[strange]!r} in row {strange + 1:,} is none of the classes known."
        )
    return torch.tensor([classes.index(label) for label in said])


def padded_graphs(
    numbers: dict[tuple[str, str], int],
    nodes: Tensor,
    ends: Tensor,
    weights: Tensor,
    directed: bool,
    size: int,
) -> dict[str, Tensor]:
    """Graphs of several sizes, padded: nodes (N, size, F), adjacency (N, size, size), mask (N, size).

    Errors: `ValueError` for a graph with more nodes than `size`.
    """
    names = names_of_graphs(numbers)
    at = {name: number for number, name in enumerate(names)}
    whose = torch.tensor([at[graph] for graph, _ in numbers])
    counts = torch.bincount(whose, minlength=len(names))
    if int(counts.max()) > size:
        largest = names[int(counts.argmax())]
        raise ValueError(
            f"Graph {largest!r} has {int(counts.max()):,} nodes, more than the {size:,} allowed."
        )
    order = whose.argsort(stable=True)
    place = torch.empty_like(whose)
    place[order] = torch.arange(len(whose)) - (counts.cumsum(0) - counts)[whose[order]]
    found = {"nodes": torch.zeros(len(names), size, nodes.shape[1]), "mask": torch.zeros(len(names), size)}
    found["nodes"][whose, place] = nodes
    found["mask"][whose, place] = 1.0
    matrix = torch.zeros(len(names), size, size)
    first, second = ends
    matrix.index_put_((whose[second], place[second], place[first]), weights, accumulate=True)
    if not directed:
        both = first != second  # a loop is one edge, not two
        first, second = first[both], second[both]
        matrix.index_put_((whose[first], place[first], place[second]), weights[both], accumulate=True)
    found["adjacency"] = matrix
    return found
