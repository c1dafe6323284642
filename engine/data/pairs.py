"""Rows of several files that belong together. Portable: exports carry this source."""

from __future__ import annotations

from typing import Any


def check_pairs(
    one: dict[str, dict[str, Any]], other: dict[str, dict[str, Any]], name: str, other_name: str
) -> None:
    """Errors: `ValueError` where two data sets, by their names, have not as many rows in each split."""
    for split in (found for found in one if found in other):
        counts = [len(next(iter(found[split].values()))) for found in (one, other)]
        if counts[0] != counts[1]:
            raise ValueError(
                f"{name or 'One data node'} has {counts[0]:,} rows for {split} and "
                f"{other_name or 'the other'} {counts[1]:,}: rows that belong together are as many in both."
            )
