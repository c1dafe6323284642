"""How many rows were left out or come again because the user wanted it so, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.catalogue import Catalogue
from engine.data.loading.node import read_node
from engine.document.graph import Node

Splits = Mapping[str, Mapping[str, Any]]
REPEATS, BALANCE = "repeats", "balance"
LEFT_OUT = "left out"
TOGETHER = "in one split"


def row_notes(node: Node, catalogue: Catalogue, splits: Splits, behind: bool) -> tuple[str, ...]:
    """What was done about equal rows and rare classes; the data are read once more without it, to count.

    `behind` says that `splits` are as nodes behind the data pick their rows. Errors: those of `read_node`.
    """
    notes = []
    now = _counts(splits)
    plain = _without(node, BALANCE)
    if behind or _is_set(node, BALANCE):
        before = _counts(read_node(plain, catalogue))
        for split, count in now.items():
            less = before.get(split, count) - count
            if less > 0:
                notes.append(f"{_rows(less)} left out of {split}.")
            elif less < 0:
                notes.append(f"{_rows(-less, ' of rare classes')} drawn again in {split}.")
        now = before
    if node.params.get(REPEATS) == LEFT_OUT:
        every = _counts(read_node(_without(plain, REPEATS), catalogue))
        less = sum(every.values()) - sum(now.values())
        notes.append(f"{_rows(less)} left out, as their inputs repeat those of another row.")
    elif node.params.get(REPEATS) == TOGETHER:
        notes.append("Rows with equal inputs are in the same split.")
    return tuple(notes)


def asks_for_notes(node: Node) -> bool:
    """Whether rows are picked as the node says."""
    return _is_set(node, REPEATS) or _is_set(node, BALANCE)


def _is_set(node: Node, name: str) -> bool:
    return node.params.get(name, "as they are") not in ("as they are", "as they come")


def _without(node: Node, name: str) -> Node:
    return replace(node, params={key: value for key, value in node.params.items() if key != name})


def _counts(splits: Splits) -> dict[str, int]:
    return {split: len(next(iter(part.values()), ())) for split, part in splits.items()}


def _rows(count: int, which: str = "") -> str:
    return f"{count:,} row{which} is" if count == 1 else f"{count:,} rows{which} are"
