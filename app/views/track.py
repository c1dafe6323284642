"""One curve in bounded memory: as fine as the screen can show, and no spike is ever lost.

Points are kept one by one until `CAPACITY` buckets are full; then neighbours are joined two by two. A bucket
knows its smallest and largest value, which came first, and the sum; so a run of a million steps costs the
screen no more than one of ten thousand.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

CAPACITY = 8192

BUCKET = np.dtype(
    [
        ("first", np.float64, 3),  # step, epoch, seconds of the first point
        ("last", np.float64, 3),
        ("low", np.float64),
        ("high", np.float64),
        ("low_first", np.bool_),
        ("total", np.float64),  # sum of the finite values
        ("bad", np.int64),  # points that are NaN or infinite
        ("size", np.int64),
    ]
)

AXES = ("step", "epoch", "seconds")


class Track:
    """The points of one series, as they are drawn.

    Steps that do not grow replace what stood from there on, so that a resumed run never draws backwards.
    """

    def __init__(self) -> None:
        self._rows = np.zeros(CAPACITY, BUCKET)
        self._count = 0
        self._per_bucket = 1
        self._clock_shift = 0.0
        self._last_seconds = 0.0
        self.changes = 0  # grows with every point taken in

    def __len__(self) -> int:
        return self._count

    @property
    def points(self) -> int:
        """How many points have come in."""
        return int(self._rows["size"][: self._count].sum())

    def extend(self, points: NDArray[np.void]) -> None:
        """Take new points: a structured array with fields step, epoch, seconds, value."""
        if not len(points):
            return
        steps = points["step"].astype(np.float64)
        back = np.flatnonzero(np.diff(steps) <= 0)
        if len(back):  # a branch inside one read
            self.extend(points[: back[0] + 1])
            self.extend(points[back[0] + 1 :])
            return
        self.changes += 1
        self._cut(float(steps[0]))
        seconds = points["seconds"] + self._clock_shift
        if seconds[0] < self._last_seconds:  # a resumed run whose clock began again
            self._clock_shift += self._last_seconds - float(seconds[0])
            seconds = points["seconds"] + self._clock_shift
        self._last_seconds = float(seconds[-1])
        places = np.column_stack((steps, points["epoch"], seconds))
        values = points["value"]
        start = 0
        while start < len(values):
            start += self._add(places[start:], values[start:])

    def _cut(self, step: float) -> None:
        rows = self._rows[: self._count]
        if self._count and rows["last"][-1, 0] >= step:
            self._count = int(np.searchsorted(rows["last"][:, 0], step))
            if self._count:
                self._last_seconds = float(rows["last"][self._count - 1, 2])
                self._clock_shift = 0.0
            else:
                self._last_seconds = self._clock_shift = 0.0

    def _add(self, places: NDArray[np.float64], values: NDArray[np.float64]) -> int:
        """Put as many points as there is room for into buckets; returns how many."""
        rows, per = self._rows, self._per_bucket
        if self._count and rows["size"][self._count - 1] < per:
            taken = min(per - int(rows["size"][self._count - 1]), len(values))
            self._count -= 1
            self._join(rows[self._count : self._count + 1], _buckets(places[:taken], values[:taken], taken))
            return taken
        if self._count == CAPACITY:
            self._halve()
            return self._add(places, values)
        taken = min(len(values), (CAPACITY - self._count) * per)
        made = _buckets(places[:taken], values[:taken], per)
        rows[self._count : self._count + len(made)] = made
        self._count += len(made)
        return taken

    def _join(self, old: NDArray[np.void], new: NDArray[np.void]) -> None:
        self._rows[self._count : self._count + 1] = _joined(old, new)
        self._count += 1

    def _halve(self) -> None:
        rows = self._rows[: self._count]
        half = _joined(rows[0::2], rows[1::2])
        self._rows[: len(half)] = half
        self._count = len(half)
        self._per_bucket *= 2

    # -- reading ----------------------------------------------------------------------------------

    def outline(self, axis: str, columns: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Points `(x, y)` to draw: every one while there is room, else the extremes of each screen column.

        `axis` is "step", "epoch" or "seconds". x grows strictly; NaN in y is a gap.
        """
        rows = self._rows[: self._count]
        at = AXES.index(axis)
        group = -(-len(rows) // max(columns, 1))
        if group > 1:
            rows = _grouped(rows, group)
        x = np.empty((len(rows), 2))
        y = np.empty((len(rows), 2))
        x[:, 0], x[:, 1] = rows["first"][:, at], rows["last"][:, at]
        y[:, 0] = np.where(rows["low_first"], rows["low"], rows["high"])
        y[:, 1] = np.where(rows["low_first"], rows["high"], rows["low"])
        wanted = np.ones((len(rows), 2), bool)
        wanted[:, 1] = rows["size"] > 1
        flat_x, flat_y = x[wanted], y[wanted]
        return _growing(flat_x, flat_y)

    def smoothed(self, axis: str, columns: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The mean over a sixteenth of the run about each place, as at most about `columns` points `(x, y)`.

        The window is centred, so that the line does not lag behind a falling loss, and at the ends it is cut.
        """
        rows = self._rows[: self._count]
        count = len(rows)
        if not count:
            return np.empty(0), np.empty(0)
        half = max(1, count // 32)
        picked = np.arange(count - 1, -1, -max(1, count // max(columns, 1)))[::-1]
        totals = np.concatenate(([0.0], np.cumsum(rows["total"])))
        sizes = np.concatenate(([0], np.cumsum(rows["size"] - rows["bad"])))
        low, high = np.maximum(picked - half, 0), np.minimum(picked + half + 1, count)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = (totals[high] - totals[low]) / (sizes[high] - sizes[low])
        return _growing(rows["last"][picked, AXES.index(axis)], means)

    def bad(self, axis: str) -> NDArray[np.float64]:
        """Where points are NaN or infinite, as x."""
        rows = self._rows[: self._count]
        return rows["last"][rows["bad"] > 0, AXES.index(axis)].copy()

    def end(self, axis: str) -> float:
        """x of the last point; 0 when there is none."""
        return float(self._rows["last"][self._count - 1, AXES.index(axis)]) if self._count else 0.0

    def span(self) -> tuple[float, float, float]:
        """Smallest and largest finite value, and the smallest above zero; NaN where there is none."""
        rows = self._rows[: self._count]
        if not len(rows):
            return (np.nan, np.nan, np.nan)
        low, high = float(np.fmin.reduce(rows["low"])), float(np.fmax.reduce(rows["high"]))
        if low > 0 or not high > 0:
            return low, high, low if low > 0 else np.nan
        lows = rows["low"][rows["low"] > 0]
        highs = rows["high"][rows["high"] > 0]
        return low, high, float(min(lows.min(initial=np.inf), highs.min()))


def _growing(
    x: NDArray[np.float64], y: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The points whose x lies beyond all x before them."""
    if len(x) < 2:
        return x, y
    grows = np.empty(len(x), bool)
    grows[0] = True
    np.greater(x[1:], np.maximum.accumulate(x)[:-1], out=grows[1:])
    return (x, y) if grows.all() else (x[grows], y[grows])


def _grouped(rows: NDArray[np.void], group: int) -> NDArray[np.void]:
    """Each `group` neighbouring buckets as one; the last may have fewer."""
    starts = np.arange(0, len(rows), group)
    ends = np.minimum(starts + group, len(rows)) - 1
    made = np.zeros(len(starts), BUCKET)
    made["first"], made["last"] = rows["first"][starts], rows["last"][ends]
    made["total"] = np.add.reduceat(rows["total"], starts)
    made["low"] = np.fmin.reduceat(rows["low"], starts)
    made["high"] = np.fmax.reduceat(rows["high"], starts)
    made["bad"] = np.add.reduceat(rows["bad"], starts)
    made["size"] = np.add.reduceat(rows["size"], starts)
    shape = (len(starts), group)
    low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
    low.ravel()[: len(rows)], high.ravel()[: len(rows)] = rows["low"], rows["high"]
    low_at, high_at = np.nan_to_num(low, nan=np.inf).argmin(1), np.nan_to_num(high, nan=-np.inf).argmax(1)
    within = rows["low_first"][np.minimum(starts + low_at, len(rows) - 1)]
    made["low_first"] = (low_at < high_at) | ((low_at == high_at) & within)
    return made


def _buckets(places: NDArray[np.float64], values: NDArray[np.float64], per: int) -> NDArray[np.void]:
    """Buckets of `per` points each; the last may hold fewer."""
    count = -(-len(values) // per)
    made = np.zeros(count, BUCKET)
    starts = np.arange(count) * per
    ends = np.minimum(starts + per, len(values)) - 1
    made["first"], made["last"] = places[starts], places[ends]
    made["size"] = ends - starts + 1
    finite = np.isfinite(values)
    made["bad"] = np.add.reduceat(~finite, starts)
    made["total"] = np.add.reduceat(np.where(finite, values, 0.0), starts)
    if per == 1:
        made["low"] = made["high"] = np.where(finite, values, np.nan)
        made["low_first"] = True
        return made
    padded = np.full(count * per, np.nan)
    padded[: len(values)] = np.where(finite, values, np.nan)
    grid = padded.reshape(count, per)
    low = np.where(np.isnan(grid), np.inf, grid)
    high = np.where(np.isnan(grid), -np.inf, grid)
    empty = made["bad"] == made["size"]
    made["low"] = np.where(empty, np.nan, low.min(axis=1))
    made["high"] = np.where(empty, np.nan, high.max(axis=1))
    made["low_first"] = low.argmin(axis=1) <= high.argmax(axis=1)
    return made


def _joined(left: NDArray[np.void], right: NDArray[np.void]) -> NDArray[np.void]:
    """Each bucket of `left` with its neighbour in `right`, which comes later."""
    made = np.zeros(len(left), BUCKET)
    made["first"], made["last"], made["total"] = left["first"], right["last"], left["total"] + right["total"]
    made["low"] = np.fmin(left["low"], right["low"])
    made["high"] = np.fmax(left["high"], right["high"])
    left_has_low = ~(right["low"] < left["low"]) & np.isfinite(left["low"])
    left_has_high = ~(right["high"] > left["high"]) & np.isfinite(left["high"])
    made["low_first"] = np.where(
        left_has_low == left_has_high,
        np.where(left_has_low, left["low_first"], right["low_first"]),
        left_has_low,
    )
    made["bad"] = left["bad"] + right["bad"]
    made["size"] = left["size"] + right["size"]
    return made
