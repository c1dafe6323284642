"""Names for new nodes."""

from __future__ import annotations

from itertools import count

from engine.graph import Graph


def fresh_name(graph: Graph, base: str) -> str:
    """Return base1, base2, ...: the first that no node of the graph has."""
    taken = {node.name for node in graph.nodes.values()}
    return next(name for number in count(1) if (name := f"{base}{number}") not in taken)
