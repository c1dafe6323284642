"""Growing rows of a run, such as a curve: the newest in memory, all before in a file that goes with the run.

A tiny network takes hundreds of thousands of steps in minutes, and a window that watches it has its own,
coarser copy: what is hardly ever read again needs no memory.
"""

from __future__ import annotations

import logging
import tempfile
import threading
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

log = logging.getLogger(__name__)

POINT = np.dtype([("step", np.int64), ("epoch", np.float64), ("seconds", np.float64), ("value", np.float64)])

_FIRST_ROOM = 4096
MOST_IN_MEMORY = 2**15  # points, 1 MiB; the older half goes to the file when there are as many
_AT_ONCE = 2**14  # points that are taken in before the room is looked at again


class _Newest(NamedTuple):
    """The rows in memory; the first of them is number `base` of the series."""

    base: int
    rows: NDArray[Any]


class Rows:
    """Rows of one `form`, written by one thread, read by any; at the most `most` of them are in memory.

    An append takes no lock: a row is written before the count that makes it visible, and a full buffer is
    replaced by another that begins later, never moved.
    """

    __slots__ = ("_file", "_file_lock", "_form", "_most", "_newest", "_size")

    def __init__(self, form: np.dtype[Any], most: int) -> None:
        self._form, self._most = form, most
        self._newest = _Newest(0, np.empty(min(_FIRST_ROOM, most), form))
        self._size = 0
        self._file: IO[bytes] | None = None
        self._file_lock = threading.Lock()

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, row: tuple[float, ...]) -> None:
        size = self._size
        base, rows = self._newest
        if size - base == len(rows):
            self._make_room(1)
            base, rows = self._newest
        rows[size - base] = row
        self._size = size + 1

    def extend(self, points: NDArray[Any]) -> None:
        """Append many rows, such as the history of a run that is continued."""
        for start in range(0, len(points), _AT_ONCE):
            part = points[start : start + _AT_ONCE]
            if self._size - self._newest.base + len(part) > len(self._newest.rows):
                self._make_room(len(part))
            base, rows = self._newest
            rows[self._size - base : self._size - base + len(part)] = part
            self._size += len(part)

    def keep(self, size: int) -> None:
        """Drop all but so many of the first rows."""
        if size < self._newest.base:
            kept = self._written(max(0, size - self._most // 2), size)
            room = np.empty(self._most, self._form)
            room[: len(kept)] = kept
            self._size = size
            self._newest = _Newest(size - len(kept), room)
        else:
            self._size = min(self._size, size)

    def read(self, start: int = 0, end: int | None = None) -> NDArray[Any]:
        """A copy of the rows from `start` on, up to `end`."""
        size = self._size  # before the buffer: any later buffer and the file hold at least these rows
        base, rows = self._newest
        end = size if end is None else min(end, size)
        if start >= base:
            return rows[start - base : max(start, end) - base].copy()
        return np.concatenate((self._written(start, min(end, base)), rows[: max(0, end - base)]))

    def __len__(self) -> int:
        return self._size

    def _make_room(self, count: int) -> None:
        """Give the newest rows room for `count` more: twice the room at first, later that of the oldest."""
        base, rows = self._newest
        held = rows[: self._size - base]
        room = max(2 * len(rows), len(held) + count)
        half = len(held) // 2
        if room > self._most and self._write(base, held[:half]):
            base, held = base + half, held[half:]
            room = max(self._most, len(held) + count)
        grown = np.empty(room, self._form)
        grown[: len(held)] = held
        self._newest = _Newest(base, grown)

    def _write(self, base: int, rows: NDArray[Any]) -> bool:
        """Put rows into the file, the first of them as number `base`; False where it takes none."""
        try:
            with self._file_lock:
                if self._file is None:
                    self._file = tempfile.TemporaryFile(prefix="neuroloom-curve-")  # noqa: SIM115
                self._file.seek(base * self._form.itemsize)
                self._file.write(rows.tobytes())
                self._file.flush()
        except OSError as error:  # a full disk: then they stay in memory
            log.info("the points of a curve stay in memory: %s", error)
            return False
        return True

    def _written(self, start: int, end: int) -> NDArray[Any]:
        """Rows that are in the file."""
        if end <= start or self._file is None:
            return np.empty(0, self._form)
        with self._file_lock:
            self._file.seek(start * self._form.itemsize)
            return np.frombuffer(self._file.read((end - start) * self._form.itemsize), self._form)


class Series(Rows):
    """One curve of `POINT` rows, at rising steps."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(POINT, MOST_IN_MEMORY)

    def append(self, step: int, epoch: float, seconds: float, value: float) -> None:
        self.add((step, epoch, seconds, value))

    def cut(self, step: int) -> None:
        """Drop the points of later steps."""
        base, rows = self._newest
        held = rows["step"][: self._size - base]
        earlier = base and (not len(held) or held[0] > step)
        steps = self._written(0, base)["step"] if earlier else held
        self.keep((0 if earlier else base) + int(np.searchsorted(steps, step, side="right")))
