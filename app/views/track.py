"""One curve in bounded memory: as fine as the screen can show, and no spike is ever lost.

Points are kept one by one until `CAPACITY` buckets are full; then neighbours are joined two by two. A bucket
knows its smallest and largest value, which came first, and the mean; so a run of a million steps costs the
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
        ("smooth", np.float64),  # running mean after the last point
        ("bad", np.int64),  # points that are NaN or infinite
        ("size", np.int64),
    ]
)

AXES = ("step", "epoch", "seconds")


class Track:
    """The points of one series, as they are drawn.

    `window` is the time constant of the running mean, in points. Steps that do not grow replace what stood
    from there on, so that a resumed run never draws backwards.
    """

    def __init__(self, window: float = 50.0) -> None:
        self._rows = np.zeros(CAPACITY, BUCKET)
        self._count = 0
        self._per_bucket = 1
        self._keep = np.exp(-1.0 / max(window, 1e-3))
        self._mean = 0.0  # running mean before bias correction, and the weight it has gathered
        self._weight = 0.0
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
        smooth = self._smooth(values)
        start = 0
        while start < len(values):
            start += self._add(places[start:], values[start:], smooth[start:])

    def _cut(self, step: float) -> None:
        rows = self._rows[: self._count]
        if self._count and rows["last"][-1, 0] >= step:
            self._count = int(np.searchsorted(rows["last"][:, 0], step))
            if self._count:
                self._mean, self._weight = float(rows["smooth"][self._count - 1]), 1.0
                self._last_seconds = float(rows["last"][self._count - 1, 2])
                self._clock_shift = 0.0
            else:
                self._mean = self._weight = self._last_seconds = self._clock_shift = 0.0

    def _smooth(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The running mean after each value; a value that is not finite leaves it as it was."""
        keep, mean, weight = self._keep, self._mean, self._weight
        smooth = np.empty(len(values))
        for index, value in enumerate(values.tolist()):
            if value - value == 0.0:  # finite
                mean = keep * mean + (1.0 - keep) * value
                weight = keep * weight + (1.0 - keep)
            smooth[index] = mean / weight if weight else np.nan
        self._mean, self._weight = mean, weight
        return smooth

    def _add(
        self, places: NDArray[np.float64], values: NDArray[np.float64], smooth: NDArray[np.float64]
    ) -> int:
        """Put as many points as there is room for into buckets; returns how many."""
        rows, per = self._rows, self._per_bucket
        if self._count and rows["size"][self._count - 1] < per:
            room = per - int(rows["size"][self._count - 1])
            taken = min(room, len(values))
            self._count -= 1
            self._join(
                rows[self._count : self._count + 1],
                _buckets(places[:taken], values[:taken], smooth[:taken], taken),
            )
            return taken
        if self._count == CAPACITY:
            self._halve()
            return self._add(places, values, smooth)
        taken = min(len(values), (CAPACITY - self._count) * per)
        made = _buckets(places[:taken], values[:taken], smooth[:taken], per)
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
        """The running mean as points `(x, y)`, at most about `columns` of them, the last one always."""
        rows = self._rows[: self._count]
        if not len(rows):
            return np.empty(0), np.empty(0)
        every = max(1, len(rows) // max(columns, 1))
        picked = np.arange(len(rows) - 1, -1, -every)[::-1]
        return _growing(rows["last"][picked, AXES.index(axis)], rows["smooth"][picked])

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
    made["first"], made["last"], made["smooth"] = (
        rows["first"][starts],
        rows["last"][ends],
        rows["smooth"][ends],
    )
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


def _buckets(
    places: NDArray[np.float64], values: NDArray[np.float64], smooth: NDArray[np.float64], per: int
) -> NDArray[np.void]:
    """Buckets of `per` points each; the last may hold fewer."""
    count = -(-len(values) // per)
    made = np.zeros(count, BUCKET)
    starts = np.arange(count) * per
    ends = np.minimum(starts + per, len(values)) - 1
    made["first"], made["last"], made["smooth"] = places[starts], places[ends], smooth[ends]
    made["size"] = ends - starts + 1
    finite = np.isfinite(values)
    made["bad"] = np.add.reduceat(~finite, starts)
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
    made["first"], made["last"], made["smooth"] = left["first"], right["last"], right["smooth"]
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
