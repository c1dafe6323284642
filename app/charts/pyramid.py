"""A growing series at several resolutions: as fine as the screen can show, and no spike is ever lost.

Level 0 holds the points. A row of level k sums up 16^k of them in a bucket: their extremes and which came
first, their sum, how many are not finite. Rows are added as points come, so looking at any stretch of a
million points costs as much as looking at a few thousand. A level that is full lets go of its oldest half,
which stays in the coarser ones: memory grows with the logarithm of a run's length.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from math import inf

import numpy as np
from numpy.typing import NDArray

FACTOR = 16
MOST_POINTS = 2**20
MOST_BUCKETS = 2**16
_AT_ONCE = 2**17  # points that are taken in before full levels are looked at again
_FEW = 256  # a level with no more rows than this needs no coarser one
_FIRST_ROOM = 64

POINT = np.dtype([("place", np.float64, 3), ("value", np.float64)])  # place: step, epoch, seconds
BUCKET = np.dtype(
    [
        ("first", np.float64, 3),  # place of the first point
        ("last", np.float64, 3),
        ("low", np.float64),
        ("high", np.float64),
        ("least", np.float64),  # the smallest value above zero; infinite where there is none
        ("low_first", np.bool_),
        ("total", np.float64),  # sum of the finite values
        ("bad", np.int64),  # points that are NaN or infinite
        ("under", np.int64),  # finite points that are zero or below
        ("size", np.int64),
    ]
)


class Level:
    """The rows of one level, of which the oldest `base` are gone."""

    def __init__(self, dtype: np.dtype[np.void], most: int) -> None:
        self._room = np.empty(_FIRST_ROOM, dtype)
        self._most = most
        self.base = 0
        self.size = 0

    @property
    def rows(self) -> NDArray[np.void]:
        """A view of the rows that are kept."""
        return self._room[: self.size]

    @property
    def end(self) -> int:
        """The index after the newest row, counted from the beginning of the series."""
        return self.base + self.size

    def replace(self, index: int, rows: NDArray[np.void]) -> None:
        """Put rows in the place of what stands from `index` on."""
        size = index - self.base + len(rows)
        if size > len(self._room):
            grown = np.empty(max(2 * len(self._room), size), self._room.dtype)
            grown[: self.size] = self.rows
            self._room = grown
        self._room[index - self.base : size] = rows
        self.size = size

    def let_go(self) -> None:
        """Forget the oldest half where there are too many rows."""
        if self.size > self._most:
            gone = self.size - self._most // 2
            gone += -(self.base + gone) % FACTOR  # buckets of the next level begin here
            kept = self.rows[gone:].copy()
            self._room[: len(kept)] = kept
            self.base += gone
            self.size = len(kept)

    def cut(self, end: int) -> None:
        """Forget the rows from `end` on."""
        if end < self.base:
            self.base, self.size = end, 0
        self.size = min(self.size, end - self.base)


class Pyramid:
    """The points of one series; places grow from point to point."""

    def __init__(self) -> None:
        self._levels = [Level(POINT, MOST_POINTS)]

    def __len__(self) -> int:
        return self._levels[0].end

    def extend(self, points: NDArray[np.void]) -> None:
        """Add points `POINT` whose places lie beyond all before."""
        for start in range(0, len(points), _AT_ONCE):
            first = len(self)
            self._levels[0].replace(first, points[start : start + _AT_ONCE])
            self._sum_up(first)
            for level in self._levels:
                level.let_go()

    def _sum_up(self, first: int, above: int = 0) -> None:
        """Renew the buckets over level `above` that hold its row `first` and all after it."""
        below = self._levels[above]
        for number in range(above + 1, len(self._levels) + 1):
            if number == len(self._levels):
                if below.end <= _FEW:
                    return
                self._levels.append(Level(BUCKET, MOST_BUCKETS))
                first = 0
            first //= FACTOR
            fresh = below.rows[first * FACTOR - below.base :]
            level = self._levels[number]
            level.replace(first, bucketed(fresh, FACTOR) if number == 1 else grouped(fresh, FACTOR))
            below = level

    def cut(self, step: float) -> None:
        """Forget the points from a step on; of stretches that are kept in buckets alone, whole buckets."""
        number = next((n for n, level in enumerate(self._levels) if _reaches(level, step)), None)
        if number is None:
            self._levels = [Level(POINT, MOST_POINTS)]
            return
        level = self._levels[number]
        name = "place" if number == 0 else "last"
        end = level.base + bisect_left(level.rows[name][:, 0], step)
        for n, other in enumerate(self._levels):
            other.cut(-(-end * FACTOR**number // FACTOR**n))
        if end > level.base:
            self._sum_up(end - 1, number)

    # -- reading ----------------------------------------------------------------------------------

    def last(self) -> NDArray[np.void] | None:
        """The newest point, None where there is none."""
        level = self._levels[0]
        return level.rows[-1:] if level.size else None

    def kept(self) -> tuple[int, NDArray[np.void]]:
        """The index of the oldest point that is kept one by one, and the points from there on."""
        level = self._levels[0]
        return level.base, level.rows

    def before(self, index: int) -> NDArray[np.void]:
        """Buckets over the points before `index`, from the finest level that reaches to the beginning."""
        for number, level in enumerate(self._levels[1:], 1):
            if level.base == 0:
                return level.rows[: index // FACTOR**number]
        return np.empty(0, BUCKET)

    def whole(self, most: int) -> NDArray[np.void]:
        """The whole series as at most about `most` buckets, single points where there are so few."""
        return self.within(0, -inf, inf, most)[1]

    def within(self, at: int, low: float, high: float, most: int) -> tuple[int, NDArray[np.void]]:
        """Index of the first and buckets over `low` to `high` of place `at`, with a neighbour on each side.

        They come from the finest level that holds them in at most `most` rows, else from the coarsest.
        """
        for number, level in enumerate(self._levels):
            rows = level.rows
            first, last = ("place", "place") if number == 0 else ("first", "last")
            coarsest = number == len(self._levels) - 1
            if level.base and not coarsest and not (level.size and rows[first][0, at] <= low):
                continue
            start = max(0, bisect_left(rows[last][:, at], low) - 1) if low > -inf else 0
            end = min(len(rows), bisect_right(rows[first][:, at], high) + 1) if high < inf else len(rows)
            if end - start <= most or coarsest:
                found = rows[start:end]
                return level.base + start, bucketed(found, 1) if number == 0 else found
        return 0, np.empty(0, BUCKET)

    def points(self, at: int, low: float, high: float) -> NDArray[np.void]:
        """The points from `low` to `high` of place `at`, as far as they are kept one by one."""
        rows = self._levels[0].rows
        places = rows["place"][:, at]
        return rows[bisect_left(places, low) : bisect_right(places, high)]


def _reaches(level: Level, step: float) -> bool:
    """Whether the row that a step belongs to is kept."""
    if level.base == 0:
        return True
    name = "place" if level.rows.dtype == POINT else "first"
    return bool(level.size) and bool(level.rows[name][0, 0] < step)


def bucketed(points: NDArray[np.void], per: int) -> NDArray[np.void]:
    """Buckets of `per` points each; the last may hold fewer."""
    count = -(-len(points) // per)
    made = np.zeros(count, BUCKET)
    if not count:
        return made
    values = points["value"]
    starts = np.arange(count) * per
    ends = np.minimum(starts + per, len(values)) - 1
    made["first"], made["last"] = points["place"][starts], points["place"][ends]
    made["size"] = ends - starts + 1
    finite = np.isfinite(values)
    positive = finite & (values > 0)
    made["bad"] = np.add.reduceat(~finite, starts, dtype=np.int64)
    made["under"] = np.add.reduceat(finite & ~positive, starts, dtype=np.int64)
    made["total"] = np.add.reduceat(np.where(finite, values, 0.0), starts)
    made["least"] = np.minimum.reduceat(np.where(positive, values, inf), starts)
    if per == 1:
        made["low"] = made["high"] = np.where(finite, values, np.nan)
        made["low_first"] = True
        return made
    low, high = np.full((count, per), inf), np.full((count, per), -inf)
    low.ravel()[: len(values)], high.ravel()[: len(values)] = (
        np.where(finite, values, inf),
        np.where(finite, values, -inf),
    )
    _extremes(made, low, high)
    made["low_first"] = low.argmin(1) <= high.argmax(1)
    return made


def grouped(rows: NDArray[np.void], group: int, skip: int = 0) -> NDArray[np.void]:
    """Each `group` neighbouring buckets as one; the last may have fewer, and the first lacks `skip`."""
    starts = np.maximum(np.arange(-skip, len(rows), group), 0)
    ends = np.append(starts[1:], len(rows)) - 1
    made = np.zeros(len(starts), BUCKET)
    if not len(rows):
        return made
    made["first"], made["last"] = rows["first"][starts], rows["last"][ends]
    for name in ("total", "bad", "under", "size"):
        made[name] = np.add.reduceat(rows[name], starts)
    made["least"] = np.minimum.reduceat(rows["least"], starts)
    low, high = np.full((len(starts), group), inf), np.full((len(starts), group), -inf)
    low.ravel()[skip : skip + len(rows)] = np.nan_to_num(rows["low"], nan=inf)
    high.ravel()[skip : skip + len(rows)] = np.nan_to_num(rows["high"], nan=-inf)
    _extremes(made, low, high)
    low_at, high_at = low.argmin(1), high.argmax(1)
    within = rows["low_first"][np.clip(np.arange(len(starts)) * group - skip + low_at, 0, len(rows) - 1)]
    made["low_first"] = (low_at < high_at) | ((low_at == high_at) & within)
    return made


def _extremes(made: NDArray[np.void], low: NDArray[np.float64], high: NDArray[np.float64]) -> None:
    empty = made["bad"] == made["size"]
    made["low"] = np.where(empty, np.nan, low.min(1))
    made["high"] = np.where(empty, np.nan, high.max(1))
