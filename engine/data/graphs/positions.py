"""Where nodes of a graph are drawn."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST_NODES = 300
MOST_GRAPHS = 12
MOST_READ = 8000  # nodes of a graph that is drawn at all


class GraphLook(NamedTuple):
    """Places (n, 2), edges (e, 2) by node, classes (n,) if there are any, and how many nodes there are."""

    places: NDArray[np.float64]
    edges: NDArray[np.int64]
    classes: NDArray[np.int64] | None
    nodes: int


def look_at_graph(
    adjacency: NDArray[Any], mask: NDArray[Any] | None = None, classes: NDArray[Any] | None = None
) -> GraphLook:
    """A graph (n, n) laid out by springs; of large ones the nodes with most edges. The same every time.

    `mask` (n,) leaves out nodes that fill up.
    """
    import networkx as nx

    joined = (adjacency != 0) | (adjacency.T != 0)
    there = np.flatnonzero(mask) if mask is not None and mask.any() else np.arange(len(adjacency))
    count = len(there)
    if count > MOST_NODES:
        order = np.argsort(-joined[np.ix_(there, there)].sum(1), kind="stable")
        there = np.sort(there[order[:MOST_NODES]])
    inner = np.triu(joined[np.ix_(there, there)], 1)
    edges = np.argwhere(inner).astype(np.int64)
    graph: Any = nx.Graph()
    graph.add_nodes_from(range(len(there)))
    graph.add_edges_from(edges.tolist())
    found = nx.spring_layout(graph, seed=0, iterations=40)
    places = np.array([found[at] for at in range(len(there))], np.float64).reshape(-1, 2)
    return GraphLook(places, edges, None if classes is None else classes[there].astype(np.int64), count)
