"""Graphs of any size side by side in a batch, without filling up. Portable: exports carry this source.

A batch of graphs is one graph whose adjacency matrix has theirs along its diagonal, so that nothing leads
from one to another; it is kept as a list of edges.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.data.graphs.files import given_splits, graph_labels, names_of_graphs, read_graph, rows_of_graphs
from engine.data.lazy import Lazy
from engine.data.splits import split_columns, split_rows


class Packed(Lazy):
    """Rows (R, *size) of which each example has some, `counts` (N,) of them, one example after the other.

    What is asked for is a batch of examples (n,) and comes as all their rows, (Σ counts, *size). Where the
    rows are places among the rows of another column, `within` (N,) says how many of those an example has, and
    the places count on from one example of the batch to the next.
    """

    ragged = True

    def __init__(self, rows: Tensor, counts: Tensor, device: str, within: Tensor | None = None) -> None:
        super().__init__(len(counts), tuple(rows.shape[1:]), rows.dtype, device)
        self.rows, self.counts, self.within = rows, counts, within
        self.firsts = counts.cumsum(0) - counts

    def read(self, rows: Tensor) -> Tensor:
        counts = self.counts[rows]
        begin = counts.cumsum(0) - counts
        place = torch.arange(int(counts.sum())) - begin.repeat_interleave(counts)
        found = self.rows[self.firsts[rows].repeat_interleave(counts) + place]
        if self.within is None:
            return found
        held = self.within[rows]
        offsets = (held.cumsum(0) - held).repeat_interleave(counts)
        return found + offsets.reshape(-1, *[1] * (found.dim() - 1))

    def numel(self) -> int:
        return int(self.counts[self.picked].sum()) * self.shape[1:].numel()

    def marks(self) -> Tensor:
        """For each example the bytes of its rows, as numbers (N, 2): those of equal examples are equal."""
        import hashlib

        found = []
        for row in self.picked.tolist():
            first = int(self.firsts[row])
            part = self.rows[first : first + int(self.counts[row])].contiguous().numpy()
            found.append(hashlib.blake2b(part.tobytes(), digest_size=16).digest())
        return torch.frombuffer(bytearray(b"".join(found)), dtype=torch.int64).reshape(-1, 2)


def packed_graphs(
    numbers: dict[tuple[str, str], int],
    nodes: Tensor,
    ends: Tensor,
    weights: Tensor,
    directed: bool,
    device: str,
) -> dict[str, Any]:
    """Graphs as columns of examples: "sizes" (N,), "nodes" (n, F), "edges" (e, 2) and "weights" (e,).

    An edge is a node and the one it leads to; edges that lead both ways are there twice.
    """
    names = names_of_graphs(numbers)
    at = {name: number for number, name in enumerate(names)}
    whose = torch.tensor([at[graph] for graph, _ in numbers])
    sizes = torch.bincount(whose, minlength=len(names))
    order = whose.argsort(stable=True)
    place = torch.empty_like(whose)
    place[order] = torch.arange(len(whose)) - (sizes.cumsum(0) - sizes)[whose[order]]
    if not directed:
        back = ends[0] != ends[1]  # a loop is one edge, not two
        ends = torch.cat([ends, ends[:, back].flip(0)], 1)
        weights = torch.cat([weights, weights[back]])
    by_graph = whose[ends[0]].argsort(stable=True)
    counts = torch.bincount(whose[ends[0]], minlength=len(names))
    return {
        "sizes": sizes,
        "nodes": Packed(nodes[order], sizes, device),
        "edges": Packed(place[ends].T[by_graph], counts, device, within=sizes),
        "weights": Packed(weights[by_graph], counts, device),
    }


def load_graph_batches(
    folder: Path,
    device: str,
    *,
    file: str,
    read: Callable[..., Any],
    features: tuple[str, ...],
    classes: tuple[str, ...],
    directed: bool,
    splitter: Callable[..., dict[str, Tensor]],
    by: str = "",
    **more: Any,
) -> dict[str, dict[str, Any]]:
    """Graphs as {split: {"sizes", "label" (N,), "nodes", "edges", "weights"}}, side by side in each batch.

    `more` is how the file is read and split. The labels are in `NAME.graphs.csv`. Errors: `ValueError`,
    `OSError`.
    """
    form = {name: more.pop(name) for name in ("delimiter", "header") if name in more}
    numbers, _, nodes, ends, weights = read_graph(
        folder, file, read=read, features=features, directed=directed, **form
    )
    columns = packed_graphs(numbers, nodes, ends, weights, directed, device)
    if classes:
        label = graph_labels(folder / file, names_of_graphs(numbers), classes)
        columns = {"sizes": columns.pop("sizes"), "label": label, **columns}
    inputs = [columns[name].marks() for name in ("nodes", "edges", "weights")]
    keys = columns["label"] if by == "class" else None
    if by == "split":
        keys = given_splits(rows_of_graphs(folder / file, names_of_graphs(numbers)), len(columns["sizes"]))
    rows = split_rows(len(columns["sizes"]), keys, splitter, more, inputs, columns.get("label"))
    return split_columns(columns, rows, device)
