"""What was recorded after each epoch, as columns of numbers: a tiny network trains hundreds of thousands.

The newest are in memory, those before them in files that go with the run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.feed.series import Rows

Record = dict[str, int | float]

_WHOLE = ("epoch", "step")  # what is counted, not measured
_CELL = np.dtype([("known", np.bool_), ("value", np.float64)])
MOST_IN_MEMORY = 2**12  # cells of a column, 36 KiB
_AT_ONCE = 2**11  # records that are made at a time where many are asked for


class Lowest(NamedTuple):
    """The smallest value of a column's first records, so many of them; the first where it is there twice."""

    records: int = 0
    at: int = -1
    value: float = math.inf
    finite: bool = True  # whether all are


class Epochs:
    """Records in a row, each a dictionary when it is asked for, with the values that it came with."""

    def __init__(self, records: Iterable[Mapping[str, int | float]] = ()) -> None:
        self._size = 0
        self._columns: dict[str, Rows] = {}
        self._lowest: dict[tuple[str, int], Lowest] = {}
        for record in records:
            self.append(record)

    def append(self, record: Mapping[str, int | float]) -> None:
        """Add the record of one more epoch."""
        for name in record:
            if name not in self._columns:
                column = self._columns[name] = Rows(_CELL, MOST_IN_MEMORY)
                column.extend(np.zeros(self._size, _CELL))
        for name, column in self._columns.items():
            column.add((name in record, record.get(name, 0.0)))
        self._size += 1

    def cut(self, count: int) -> None:
        """Keep so many of the first records."""
        if count < self._size:
            self._size = count
            self._lowest.clear()
            for column in self._columns.values():
                column.keep(count)

    def column(self, name: str, start: int = 0, end: int | None = None) -> NDArray[np.float64]:
        """One value of the records from `start` up to `end`, not a number where a record lacks it.

        Negative numbers count from the last record.
        """
        start, end, _ = slice(start, end).indices(self._size)
        if name not in self._columns:
            return np.full(max(0, end - start), np.nan)
        cells = self._columns[name].read(start, end)
        return np.where(cells["known"], cells["value"], np.nan)

    def lowest(self, name: str, but: int = 0) -> Lowest:
        """The smallest value of all records but the last ones; only those that came since are read."""
        end = max(0, self._size - but)
        found = self._lowest.get((name, but), Lowest())
        for start in range(found.records, end, _AT_ONCE):
            values = self.column(name, start, min(end, start + _AT_ONCE))
            finite = found.finite and bool(np.isfinite(values).all())
            at, value = found.at, found.value
            least = float(np.fmin.reduce(values))
            if least < value or (at < 0 and not math.isnan(least)):
                at, value = start + int(np.argmax(values == least)), least
            found = Lowest(start + len(values), at, value, finite)
        self._lowest[name, but] = found
        return found

    def since(self, start: int) -> Iterator[Record]:
        """The records from one on."""
        for first in range(start, self._size, _AT_ONCE):
            yield from self._records(first, min(self._size, first + _AT_ONCE))

    def _records(self, start: int, end: int) -> Iterator[Record]:
        columns = {name: column.read(start, end).tolist() for name, column in self._columns.items()}
        for cells in zip(*columns.values(), strict=True):
            yield {
                name: int(value) if name in _WHOLE else value
                for name, (known, value) in zip(columns, cells, strict=True)
                if known
            }

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: int) -> Record:
        at = index + self._size if index < 0 else index
        if not 0 <= at < self._size:
            raise IndexError(index)
        return next(self._records(at, at + 1))

    def __iter__(self) -> Iterator[Record]:
        return self.since(0)
