"""Graphs with what a network predicts: of each node, or of each graph as a whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.catalogue import Data
from engine.catalogue.traits import FileForm
from engine.data.graphs.positions import MOST_GRAPHS, MOST_READ, GraphLook, look_at_graph
from engine.data.loading.node import loader_of
from engine.document.graph import Node
from engine.errors import NeuroloomError
from engine.feed.feed import Probe
from engine.look.asking import array, ask_rows, class_names, probabilities, rows_of, spread_over, with_signs
from engine.look.registry import Taken, probe_kind
from engine.look.sight import Look
from engine.shapes.heads import CLASSES, UNCOUNTED, VALUES, Head

ADJACENCY, EDGES, SIZES = "adjacency", "edges", "sizes"
_KEPT = "graphs: places"


@probe_kind("graphs", every=1.0, apart=True)
def graphs(look: Look, probe: Probe) -> Taken | None:
    """The class `(p,)` that is predicted at every node drawn; that of its graph, where graphs are classified.

    `places` `(p, 2)` are side by side for several graphs, `sizes` `(g,)` how many nodes of each are drawn,
    `edges` `(e, 2)` numbered through all of them and `joined` `(g,)` how many of them each graph has. `right`
    `(p,)` is -100 where it isn't known. `each` is "node" or "graph", `rows` the numbers of the examples that
    are graphs, `names` what classes are called. `hits` are predicted right of `looked_at`.
    """
    head = look.head(probe.node_id)
    if head is None or head.kind == VALUES:
        raise NeuroloomError("Nothing here answers with classes.", node_id=probe.node_id)
    columns = look.data.get(look.split, {})
    if head.places:
        return _nodes_of_whole(look, head)
    if ADJACENCY in columns or (EDGES in columns and SIZES in columns):
        return _graphs(look, head)
    return _nodes(look, head)


def graph_source(look: Look, head: Head) -> Node | None:
    """The data node of a graph in a file; None where the answers aren't about one."""
    project, book = look.program.project, look.program.book
    for node_id in project.graph.order():
        kind = book.types.get(node_id)
        if isinstance(kind, Data) and getattr(kind, "reads", None) is FileForm.GRAPH:
            one_file = all(column.rows == "" for column in kind.columns())
            if one_file and head.column in {column.name for column in kind.columns()}:
                return project.graph.node(node_id)
    return None


def _classes(look: Look, head: Head, rows: list[int], split: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """What is predicted for rows of a split, and what is right."""
    found = ask_rows(look, head, rows, split)
    signs = head.kind != CLASSES and with_signs(look, head)
    sure = probabilities(head, found.scores, signs=signs)
    return array(sure.argmax(1)).astype(np.int16), array(found.right).reshape(-1).astype(np.int16)


def _taken(
    head: Head,
    looks: list[GraphLook],
    predicted: NDArray[Any],
    right: NDArray[Any],
    facts: Mapping[str, Any],
) -> Taken:
    starts = np.cumsum([0, *(len(one.places) for one in looks)])
    edges = [one.edges + start for one, start in zip(looks, starts, strict=False)]
    known: dict[str, Any] = {
        "places": np.concatenate([one.places for one in looks]).astype(np.float32),
        "sizes": np.array([len(one.places) for one in looks]),
        "edges": np.concatenate(edges).astype(np.int32).reshape(-1, 2),
        "joined": np.array([len(one.edges) for one in looks]),
        "right": right,
        "names": class_names(head),
    }
    return predicted.astype(np.int16), {**known, **facts}


# -- one graph, whose nodes are rows


def _nodes(look: Look, head: Head) -> Taken | None:
    found, held = _graph_of_file(look, head)
    shown = np.asarray(found.classes)  # the numbers of the nodes that are drawn
    count = int(max([shown.max(initial=0), *(int(at.max(initial=0)) for at in held.values())])) + 1
    predicted, right = (np.full(count, UNCOUNTED, np.int16) for _ in range(2))
    for split, nodes in held.items():
        if look.rows(split) != len(nodes):
            raise NeuroloomError("The rows of this graph were picked in another way.")
        predicted[nodes], right[nodes] = _classes(look, head, list(range(len(nodes))), split)
    looked = held[look.split]
    facts = {"each": "node", "rows": (), "hits": int((predicted == right)[looked].sum())}
    facts |= {"looked_at": len(looked), "split": look.split}
    return _taken(head, [found], predicted[shown], right[shown], facts)


def _graph_of_file(look: Look, head: Head) -> tuple[GraphLook, dict[str, NDArray[np.int64]]]:
    """The graph that is one file, laid out once for a run, and which of its rows each split holds."""
    from engine.data.graphs.files import adjacency, numbered

    if _KEPT in look.memory:
        kept: tuple[GraphLook, dict[str, NDArray[np.int64]]] = look.memory[_KEPT]
        return kept
    source = graph_source(look, head)
    if source is None:
        raise NeuroloomError("The data are no graph.")
    load, folder, options = loader_of(source, look.program.book.catalogue)
    try:
        form = options.get("delimiter", ""), options.get("header", False)
        joined, nodes = options["read"](folder / options["file"], *form)
        numbers = numbered(joined, nodes)
        if len(numbers) > MOST_READ:
            raise NeuroloomError(f"A graph of {len(numbers):,} nodes is too large to be drawn.")
        held = rows_of_nodes(load, folder, options)
    except (OSError, ValueError) as error:
        raise NeuroloomError(f"The graph can't be read again: {error}") from error
    ends = [[numbers[graph, one], numbers[graph, other]] for one, other, _, graph in joined]
    ends_of = torch.tensor(ends).reshape(-1, 2).T
    matrix = adjacency(len(numbers), ends_of, torch.ones(len(ends)), True).numpy()
    found = look.memory[_KEPT] = (look_at_graph(matrix, classes=np.arange(len(numbers))), held)
    return found


def rows_of_nodes(
    load: Callable[..., Any], folder: Path, options: Mapping[str, Any]
) -> dict[str, NDArray[np.int64]]:
    """Which rows of a file the loader `load` puts into each split, in their order."""
    kept: dict[str, Tensor] = {}

    def noting(split: Callable[..., dict[str, Tensor]]) -> Callable[..., dict[str, Tensor]]:
        def noted(*given: Any, **named: Any) -> dict[str, Tensor]:
            kept.clear()
            kept.update(split(*given, **named))
            return kept

        return noted

    ways = {name: noting(options[name]) for name in ("splitter", "repeats") if options.get(name)}
    load(folder, "cpu", **{**options, **ways})
    return {split: at.numpy().astype(np.int64) for split, at in kept.items()}


# -- graphs that are examples


def _nodes_of_whole(look: Look, head: Head) -> Taken | None:
    """Its matrix of edges is among the data only where a layer asks for it; else the file is read."""
    batch = rows_of(look, [look.example])
    values = look.values({head.prediction[0], head.target[0]}, batch)
    scores = values.get(head.prediction[0], {}).get(head.prediction[1])
    right = values.get(head.target[0], {}).get(head.target[1])
    if scores is None or right is None or right.dim() != 2:
        raise NeuroloomError("Nothing here gives each node of a graph a class.")
    if ADJACENCY in batch:
        if _KEPT not in look.memory:
            matrix = array(batch[ADJACENCY][0])
            look.memory[_KEPT] = (look_at_graph(matrix, classes=np.arange(len(matrix))), {})
        found, _ = look.memory[_KEPT]
    else:
        found, _ = _graph_of_file(look, head)
    shown = np.asarray(found.classes)
    predicted, known = array(head.by_class(scores).argmax(1))[0], array(right)[0].astype(np.int16)
    mask = batch.get("mask")
    masked = mask is not None and mask.shape == right.shape
    counted = array(mask)[0] != 0 if mask is not None and masked else known != UNCOUNTED
    facts = {"each": "node", "rows": (), "hits": int(((predicted == known) & counted).sum())}
    facts |= {"looked_at": int(counted.sum()), "split": look.split if masked else ""}
    return _taken(head, [found], predicted[shown], known[shown], facts)


def _graphs(look: Look, head: Head) -> Taken | None:
    if not look.rows():
        return None
    chosen = dict.fromkeys([look.example, *spread_over(look.rows(), MOST_GRAPHS)])
    rows = list(chosen)[:MOST_GRAPHS]
    placed = look.memory.setdefault(_KEPT, {})
    looks = []
    for row in rows:
        if (look.split, row) not in placed:
            placed[look.split, row] = look_at_graph(_matrix(look, row))
        looks.append(placed[look.split, row])
    predicted, right = _classes(look, head, rows, look.split)
    sizes = [len(one.places) for one in looks]
    hits = int((predicted == right).sum())
    facts = {"each": "graph", "rows": tuple(rows), "hits": hits, "looked_at": len(rows), "split": look.split}
    return _taken(head, looks, np.repeat(predicted, sizes), np.repeat(right, sizes), facts)


def _matrix(look: Look, row: int) -> NDArray[Any]:
    """Which nodes of an example are joined `(n, n)`."""
    columns = look.data[look.split]
    if ADJACENCY in columns:
        joined, mask = array(columns[ADJACENCY][row]), columns.get("mask")
        there = np.arange(len(joined)) if mask is None else np.flatnonzero(array(mask[row]))
        return joined[np.ix_(there, there)]
    ends, count = array(columns[EDGES][row]).astype(np.int64), int(columns[SIZES][row])
    if count > MOST_READ:
        raise NeuroloomError(f"A graph of {count:,} nodes is too large to be drawn.")
    matrix = np.zeros((count, count), np.float32)
    matrix[ends[:, 0], ends[:, 1]] = 1
    return matrix
