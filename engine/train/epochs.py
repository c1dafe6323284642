"""What was recorded after each epoch, as columns of numbers: a tiny network trains hundreds of thousands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

Record = dict[str, int | float]

_WHOLE = ("epoch", "step")  # what is counted, not measured
_FIRST_ROOM = 64


class Epochs:
    """Records in a row, each a dictionary when it is asked for, with the values that it came with."""

    def __init__(self, records: Iterable[Mapping[str, int | float]] = ()) -> None:
        self._size = 0
        self._room = _FIRST_ROOM
        self._values: dict[str, NDArray[np.float64]] = {}
        self._known: dict[str, NDArray[np.bool_]] = {}
        for record in records:
            self.append(record)

    def append(self, record: Mapping[str, int | float]) -> None:
        """Add the record of one more epoch."""
        if self._size == self._room:
            self._room *= 2
            for name, values in self._values.items():
                self._values[name] = np.resize(values, self._room)
                self._known[name] = np.resize(self._known[name], self._room)
        for name, value in record.items():
            if name not in self._values:
                self._values[name] = np.full(self._room, np.nan)
                self._known[name] = np.zeros(self._room, bool)
            self._values[name][self._size] = value
        for name, known in self._known.items():
            known[self._size] = name in record
        self._size += 1

    def cut(self, count: int) -> None:
        """Keep so many of the first records."""
        self._size = min(self._size, count)

    def column(self, name: str) -> NDArray[np.float64]:
        """One value of all records `(epochs,)`, not a number where a record lacks it; to be read only."""
        if name not in self._values:
            return np.full(self._size, np.nan)
        return np.where(self._known[name][: self._size], self._values[name][: self._size], np.nan)

    def since(self, start: int) -> list[Record]:
        """The records from one on."""
        return [self[index] for index in range(start, self._size)]

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: int) -> Record:
        at = index + self._size if index < 0 else index
        if not 0 <= at < self._size:
            raise IndexError(index)
        return {
            name: int(values[at]) if name in _WHOLE else float(values[at])
            for name, values in self._values.items()
            if self._known[name][at]
        }

    def __iter__(self) -> Iterator[Record]:
        return (self[index] for index in range(self._size))
