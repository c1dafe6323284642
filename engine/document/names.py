"""Names for new nodes, and names of series in words."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import count

from engine.document.graph import Graph

_COUNTED = re.compile(r"(.*?)([0-9]{1,9})(\)?)", re.DOTALL)  # more digits are a key, of which the last count


def names_of(graph: Graph) -> set[str]:
    """Return the names that the nodes of a graph have."""
    return {node.name for node in graph.nodes.values()}


def fresh_name(graph: Graph, base: str) -> str:
    """Return base1, base2, ...: the first that no node of the graph has."""
    return numbered(base, names_of(graph))


def numbered(base: str, taken: Collection[str]) -> str:
    """Return base1, base2, ...: the first that isn't taken."""
    return next(name for number in count(1) if (name := f"{base}{number}") not in taken)


def free_name(wanted: str, taken: Collection[str]) -> str:
    """Return the name if it is free, else counted on: conv1, conv2; Conv (1), Conv (2); relu, relu1."""
    if wanted not in taken:
        return wanted
    found = _COUNTED.fullmatch(wanted)
    if found is None:
        return numbered(wanted, taken)
    head, number, tail = found.groups()
    counted = (f"{head}{n:0{len(number)}}{tail}" for n in count(int(number) + 1))
    return next(name for name in counted if name not in taken)


def spoken(series: str) -> str:
    """A series' name in words: `val_accuracy` is "validation accuracy"."""
    parts = {"val_": "validation ", "train_": "training ", "test_": "test ", "batch_": "batch "}
    for prefix, word in parts.items():
        if series.startswith(prefix):
            return word + series.removeprefix(prefix).replace("_", " ")
    return {"lr": "learning rate"}.get(series, series.replace("_", " "))
