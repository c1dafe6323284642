"""Names for new nodes, and names of series in words."""

from __future__ import annotations

from collections.abc import Collection
from itertools import count

from engine.document.graph import Graph


def names_of(graph: Graph) -> set[str]:
    """Return the names that the nodes of a graph have."""
    return {node.name for node in graph.nodes.values()}


def fresh_name(graph: Graph, base: str) -> str:
    """Return base1, base2, ...: the first that no node of the graph has."""
    return numbered(base, names_of(graph))


def numbered(base: str, taken: Collection[str]) -> str:
    """Return base1, base2, ...: the first that isn't taken."""
    return next(name for number in count(1) if (name := f"{base}{number}") not in taken)


def spoken(series: str) -> str:
    """A series' name in words: `val_accuracy` is "validation accuracy"."""
    for prefix, word in (("val_", "validation "), ("train_", "training "), ("test_", "test ")):
        if series.startswith(prefix):
            return word + series.removeprefix(prefix).replace("_", " ")
    return {"lr": "learning rate"}.get(series, series.replace("_", " "))
