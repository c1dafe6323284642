"""Rows of the data that the trainer holds, as arrays, for the window to show and to alter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

LOOKED_AT = 2000  # rows from which ranges are taken

Row = dict[str, NDArray[Any]]


class Rows:
    """One split, read only: that which is held out, else the training rows."""

    def __init__(self, data: Mapping[str, Mapping[str, Any]] | None) -> None:
        splits = data or {}
        held_out = splits.get("validation") or {}
        self.split = "validation" if any(len(column) for column in held_out.values()) else "train"
        self._columns = splits.get(self.split) or {}
        self._train = splits.get("train") or self._columns
        self._ranges: dict[str, tuple[NDArray[Any], NDArray[Any]]] = {}

    @property
    def count(self) -> int:
        """How many there are."""
        return next((len(column) for column in self._columns.values()), 0)

    def row(self, index: int) -> Row:
        """One row of every column."""
        every = self._columns.items()  # of several streams of data, a shorter one goes round
        return {name: column[index % max(1, len(column))].detach().cpu().numpy() for name, column in every}

    def span(self, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """The smallest and the largest of each number of a column, over its first 2,000 training rows."""
        if name not in self._ranges:
            values = self._train[name][:LOOKED_AT].detach().cpu().numpy()
            self._ranges[name] = (values.min(axis=0), values.max(axis=0))
        return self._ranges[name]

    def reach(self, name: str) -> tuple[float, float]:
        """The same over all numbers of the column: black and white of an image."""
        low, high = self.span(name)
        return float(low.min()), float(high.max())
