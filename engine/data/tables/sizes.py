"""How much memory it takes to read a table as a whole. Needs no torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

MEMORY = 1024  # MiB that reading a table may take, unless the user says otherwise


def bytes_to_read(rows: int, table: Sequence[Sequence[Any]], features: int) -> int:
    """About how many bytes: cells as they are parted, those used as numbers, twice, and the features."""
    used: int = sum(row[2] != "ignore" for row in table)
    return rows * (16 * len(table) + 16 * used + 4 * features)


def features_of(table: Sequence[Sequence[Any]]) -> int:
    """How many numbers the inputs become: one each, and one for each class of a category."""
    return sum(len(row) - 3 if row[1] == "category" else 1 for row in table if row[2] == "input")
