"""Graphs: lists of edges and GraphML, of one graph, of many in a file, or of many in a folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.catalogue.identifiers import class_name
from engine.data.class_files import class_files
from engine.data.graphs.files import edge_columns, given_splits, read_graphml
from engine.data.lazy import Lazy
from engine.emit.sources.parts import Beside, class_lines, divided, divided_each
from engine.emit.sources.splitting import split_lines
from engine.emit.sources.straight import Function, Reading, Straight
from engine.emit.statements import Statement, quoted, tree

MAY_CARRY: tuple[Function, ...] = (Lazy, class_files, edge_columns, given_splits)
OWN = ("file", "read", "features", "target", "classes", "directed", "examples", "size", "packed", "by")
FORM = ("delimiter", "header")

CELLS = '''
def $name(path: Path, delimiter: str = ",") -> list[list[str]]:
    """The cells of a table; lines that begin with # or % are left out."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        lines = [line for line in file if line.strip() and line[0] not in "#%"]
    rows = csv.reader(lines, delimiter=delimiter) if delimiter else map(str.split, lines)
    return [[cell.strip() for cell in row] for row in rows]
'''
EDGE_LIST = '''
def $name(path: Path) -> tuple[list[tuple[str, str, float, str]], list[dict[str, str]]]:
    """Edges as (source, target, weight, graph), and what a table beside, if any, says of the nodes."""
    names, *rows = $cells(path, $delimiter)  #? header
    rows = $cells(path, $delimiter)  #? not header
    names = [name.casefold() for name in names]  #? header
    one, other = edge_columns(names)  #? header
    heavy, whose = (names.index(name) if name in names else -1 for name in ("weight", "graph"))  #? header
    edges = []
    for row in rows:
        weight = float(row[heavy]) if 0 <= heavy < len(row) else 1.0  #? header
        edges.append((row[one], row[other], weight, row[whose] if whose >= 0 else ""))  #? header
        edges.append((row[0], row[1], float(row[2]) if len(row) > 2 else 1.0, ""))  #? not header
    beside = path.with_name(path.name.split(".")[0] + ".nodes.csv")
    head, *nodes = $cells(beside) if beside.is_file() else [[]]
    return edges, [dict(zip(head, row, strict=True)) for row in nodes]
'''
GRAPHML = '''
def $name(path: Path) -> tuple[list[tuple[str, str, float, str]], list[dict[str, str]]]:
    """Edges as (source, target, weight, graph), and what is known of the nodes."""
    graph = networkx.read_graphml(path)
    edges = [(str(a), str(b), float(more.get("weight", 1.0)), "") for a, b, more in graph.edges(data=True)]
    nodes = [{"id": one, **more} for one, more in graph.nodes(data=True)]
    return edges, [{key: str(value) for key, value in row.items()} for row in nodes]
'''
PACKED = '''
class $name(Lazy):
    """The rows of each example, of which a batch has all, one example's after the other's.

    Where they are places among the nodes of an example, which has `sizes` of them, they count on.
    """

    ragged = True

    def __init__(self, parts: Sequence[Tensor], device: str, sizes: Tensor | None = None) -> None:
        super().__init__(len(parts), tuple(parts[0].shape[1:]), parts[0].dtype, device)
        self.parts, self.sizes = parts, sizes

    def read(self, rows: Tensor) -> Tensor:
        found = [self.parts[row] for row in rows.tolist()]
        if self.sizes is not None:
            before = self.sizes[rows].cumsum(0) - self.sizes[rows]
            found = [part + start for part, start in zip(found, before, strict=True)]
        return torch.cat(found)
'''
READ = """
<classes>
try:
    edges, table = $read(folder / $file)  #? one
    files = class_files(folder, (".graphml", ".edges", ".edgelist"))  #? not one
    edges, table = [], list[dict[str, str]]()  #? not one
    for path, _, _ in files:  #? not one
        name = path.relative_to(folder).as_posix()
        found, nodes_of_file = $read(path)
        edges += [(a, b, weight, name) for a, b, weight, _ in found]
        table += [{**row, "graph": name} for row in nodes_of_file]
    names = [(row.get("graph", ""), next(iter(row.values()))) for row in table]
    names += [(graph, end) for a, b, _, graph in edges for end in (a, b)]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    known = torch.tensor([[float(row[name]) for name in ($features)] for row in table])  #? features
    if len(table) != len(numbers):  #? told
        raise ValueError("some nodes have no row in the table")  #? told
    labels = torch.tensor([classes.index(row[$target]) for row in table])  #? target
    graphs = list(dict.fromkeys(graph for graph, _ in numbers))  #? many
    <of_graphs>
    ends = torch.tensor([[numbers[graph, a], numbers[graph, b]] for a, b, _, graph in edges]).T
    weights = torch.tensor([weight for _, _, weight, _ in edges])  #? weighted
    degree = torch.bincount($counted, minlength=len(numbers)).float()
except $errors as error:$why
    raise SystemExit(f"What is in {folder} is not as it was: {error}") from error
nodes = torch.cat([known, degree[:, None]], 1)  #? features
nodes = degree[:, None]  #? not features
"""
LABELS_BESIDE = """
said = {row["graph"]: row for row in $table}
labels = torch.tensor([classes.index(said[graph]["label"]) for graph in graphs])  #? classes
"""
LABELS_OF_FILES = """
said = {path.relative_to(folder).as_posix(): (named, split) for path, named, split in files}
labels = torch.tensor([classes.index(said[graph][0]) for graph in graphs])  #? classes
"""
PLACES = """
at_graph = {graph: number for number, graph in enumerate(graphs)}
whose = torch.tensor([at_graph[graph] for graph, _ in numbers])
sizes = torch.bincount(whose)
order = whose.argsort(stable=True)
place = torch.empty_like(whose)
place[order] = torch.arange(len(whose)) - (sizes.cumsum(0) - sizes)[whose[order]]
"""
SIDE_BY_SIDE = """
back = ends[0] != ends[1]  # edges lead both ways, but a loop is one  #? not directed
ends = torch.cat([ends, ends[:, back].flip(0)], 1)  #? not directed
weights = torch.cat([weights, weights[back]])  #? weigh_back
by_graph = whose[ends[0]].argsort(stable=True)
counts = torch.bincount(whose[ends[0]], minlength=len(graphs)).tolist()
rows_of_nodes = $packed(nodes[order].split(sizes.tolist()), device)
rows_of_edges = $packed(place[ends].T[by_graph].split(counts), device, sizes)
rows_of_weights = $packed(weights[by_graph].split(counts), device)  #? weighted
"""
PADDED = """
if int(sizes.max()) > $size:
    raise SystemExit(f"A graph has {int(sizes.max())} nodes, more than the $size that the largest had.")
padded = torch.zeros(len(graphs), $size, nodes.shape[1])
padded[whose, place] = nodes
mask = torch.zeros(len(graphs), $size)
mask[whose, place] = 1.0
matrix = torch.zeros(len(graphs), $size, $size)
a, b = ends
matrix.index_put_((whose[b], place[b], place[a]), weights, accumulate=True)
back = a != b  # edges lead both ways, but a loop is one  #? not directed
a, b = a[back], b[back]  #? not directed
matrix.index_put_((whose[a], place[a], place[b]), weights[back], accumulate=True)  #? not directed
"""
WHOLE = """
matrix = torch.zeros(len(numbers), len(numbers))
matrix.index_put_((ends[1], ends[0]), weights, accumulate=True)
back = ends[0] != ends[1]  # edges lead both ways, but a loop is one  #? not directed
matrix.index_put_((ends[0, back], ends[1, back]), weights[back], accumulate=True)  #? not directed
"""


def write_graph(reading: Reading) -> Straight | None:
    """One graph, whose nodes are the examples or which comes whole; or many graphs in a file, padded."""
    how = reading.options
    if how["examples"] == "graphs":
        return _many(reading, packed=False)
    if "balance" in how and not how["target"]:
        return None  # the application says why not
    whole = how["examples"] == "whole graph"
    beside = Beside(reading.outside)
    lines, carries = _read(how, beside, weighted=whole and "adjacency" in reading.wanted)
    keys = {"class": "labels", "split": "given_splits(table, len(numbers))"}.get(how.get("by", ""), "None")
    carries += [given_splits] if how.get("by") == "split" else []
    split, called = split_lines(_splitting(how), "len(numbers)", keys, ["nodes"], "labels")
    lines += split
    if not whole:
        values = {"features": "nodes", "label": "labels"}
        gathered, value = divided({name: values[name] for name in reading.wanted})
        return Straight([*lines, gathered], value, [*carries, *called], beside.parts)
    if "adjacency" in reading.wanted:
        lines += tree(WHOLE, directed=how["directed"])
    values = {
        "nodes": "nodes[None].to(device)",
        "adjacency": "matrix[None].to(device)",
        "label": "labels[None].to(device)",
        "mask": "torch.zeros(1, len(nodes)).index_fill_(1, at, 1.0).to(device)",
    }
    divided_lines, value = divided_each({name: values[name] for name in reading.wanted})
    return Straight([*lines, *divided_lines], value, [*carries, *called], beside.parts)


def write_batches(reading: Reading) -> Straight | None:
    """Many graphs in a file, side by side in a batch."""
    return _many(reading, packed=True)


def write_folder(reading: Reading) -> Straight | None:
    """Many graphs in a folder, a file each."""
    return _many(reading, packed=reading.options["packed"])


def _many(reading: Reading, packed: bool) -> Straight | None:
    how = reading.options
    if "balance" in how and not how["classes"]:
        return None  # the application says why not
    by, one = how.get("by", ""), "file" in how
    beside = Beside(reading.outside)
    weighted = not packed or "weights" in reading.wanted or "repeats" in how
    lines, carries = _read(how, beside, weighted=weighted, many=True)
    lines += tree(PLACES)
    if packed:
        made = beside.add(PACKED, "rows of examples", class_name)
        weigh_back = weighted and not how["directed"]
        given = {"directed": how["directed"], "weighted": weighted, "weigh_back": weigh_back}
        lines += tree(SIDE_BY_SIDE, packed=made, **given)
        carries.append(Lazy)
        inputs = ["rows_of_nodes", "rows_of_edges", "rows_of_weights"]
        values = {
            "sizes": "sizes[at].to(device)",
            "nodes": "rows_of_nodes.at(at)",
            "edges": "rows_of_edges.at(at)",
            "weights": "rows_of_weights.at(at)",
        }
    else:
        lines += tree(PADDED, directed=how["directed"], size=how["size"])
        inputs = ["padded", "mask", "matrix"]
        values = {
            "nodes": "padded[at].to(device)",
            "mask": "mask[at].to(device)",
            "adjacency": "matrix[at].to(device)",
        }
    values["label"] = "labels[at].to(device)"
    keys = "labels" if by == "class" else "None"
    if by == "split" and one:
        carries.append(given_splits)
        keys = "given_splits([said.get(graph, {}) for graph in graphs], len(graphs))"
    elif by == "split":
        parts = '{"validation": 1, "test": 2}'
        keys = f"torch.tensor([{parts}.get(said[graph][1], 0) for graph in graphs])"
    split, called = split_lines(_splitting(how), "len(graphs)", keys, inputs, "labels")
    divided_lines, value = divided_each({name: values[name] for name in reading.wanted})
    return Straight([*lines, *split, *divided_lines], value, [*carries, *called], beside.parts)


def _splitting(how: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in how.items() if name not in (*OWN, *FORM)}


def _read(
    how: Mapping[str, Any], beside: Beside, weighted: bool, many: bool = False
) -> tuple[list[Statement], list[Function]]:
    """Lines that make `numbers` of nodes, `nodes`, `ends`, `weights`, and `labels` and `graphs` if asked."""
    carries: list[Function] = []
    one, xml, by = "file" in how, how["read"] is read_graphml, how.get("by", "")
    header = how.get("header", False)
    cells = "" if xml and not (many and one) else beside.add(CELLS, "cells of")
    if xml:
        read = beside.add(GRAPHML, "graph in")
    else:
        read = beside.add(
            EDGE_LIST,
            "graph in",
            cells=cells,
            delimiter=quoted(how.get("delimiter", "")),
            header=header,
        )
        carries += [edge_columns] if header else []
    target = how.get("target", "") if not many else ""
    of_graphs: list[Statement] = []
    if many and one and (how["classes"] or by == "split"):
        stem = quoted(how["file"].split(".")[0] + ".graphs.csv")
        head = f"head, *said_rows = {cells}(folder / {stem})"
        of_graphs = [Statement(head)]
        table = "(dict(zip(head, row, strict=True)) for row in said_rows)"
        of_graphs += tree(LABELS_BESIDE, table=table, classes=bool(how["classes"]))
    elif many and not one:
        of_graphs = tree(LABELS_OF_FILES, classes=bool(how["classes"]))
        carries.append(class_files)
    features = ", ".join(map(quoted, how["features"]))
    lines = tree(
        READ,
        classes=class_lines(how["classes"]) if target or (many and how["classes"]) else [],
        one=one,
        file=quoted(how["file"]) if one else "",
        read=read,
        features=features + ("," if len(how["features"]) == 1 else ""),
        target=quoted(target) if target else "",
        told=bool(features or target),
        many=many,
        of_graphs=of_graphs,
        weighted=weighted,
        counted="ends[1]" if how["directed"] else "ends.flatten()",
        errors="Exception" if xml else "(OSError, LookupError, ValueError, csv.Error)",
        why="  # readers of XML fail in many ways" if xml else "",
    )
    return lines, carries
