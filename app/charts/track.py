"""One curve: its points against step, epoch or time, smoothed or not, as they are drawn."""

from __future__ import annotations

from math import inf, isfinite
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.charts.pyramid import POINT, Pyramid, grouped
from app.charts.smoothing import MovingAverage

AXES = ("step", "epoch", "seconds")
FINE = 8192  # rows that are looked at for one plot of a curve
HOLE = 10.0  # times the usual distance between points: some are missing
_FEWEST = 8  # points from which there is a usual distance

Drawing = tuple[NDArray[np.float64], NDArray[np.float64]]


class Sick(NamedTuple):
    """Points that are not finite in one stretch: how many; step and value of the first, where it is kept."""

    many: int
    step: float
    value: float | None


class Track:
    """The points of one series.

    Steps that do not grow replace what stood from there on, so that a resumed run never draws backwards; the
    places where that happened are its `seams`.
    """

    def __init__(self) -> None:
        self._points = Pyramid()
        self._smooth: tuple[MovingAverage, Pyramid] | None = None
        self._clock_shift = 0.0
        self._last_seconds = 0.0
        self._seams: list[tuple[float, float, float]] = []
        self.changes = 0  # grows with every point taken in

    def __len__(self) -> int:
        return len(self._points)

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
        made = np.empty(len(points), POINT)
        made["place"] = np.column_stack((steps, points["epoch"], seconds))
        made["value"] = points["value"]
        self._points.extend(made)
        if self._smooth is not None:
            _smooth_on(*self._smooth, made)

    def _cut(self, step: float) -> None:
        last = self._points.last()
        if last is None or last["place"][0, 0] < step:
            return
        self._points.cut(step)
        self._smooth = None
        self._clock_shift = self._last_seconds = 0.0
        last = self._points.last()
        self._seams = [seam for seam in self._seams if seam[0] < step]
        if last is not None:
            self._last_seconds = float(last["place"][0, 2])
            self._seams.append(tuple(last["place"][0].tolist()))

    # -- reading ----------------------------------------------------------------------------------

    def outline(self, axis: str, columns: int, low: float = -inf, high: float = inf) -> Drawing:
        """Points `(x, y)` to draw: every one while there is room, else the extremes of each screen column.

        `axis` is "step", "epoch" or "seconds", `low` to `high` the stretch of it that is seen. x grows
        strictly; NaN in y is a gap.
        """
        at = AXES.index(axis)
        index, rows = self._points.within(at, low, high, max(FINE, columns))
        group = _round_up(-(-len(rows) // max(columns, 1)))
        if group > 1:
            rows = grouped(rows, group, index % group)
        x = np.empty((len(rows), 2))
        y = np.empty((len(rows), 2))
        x[:, 0], x[:, 1] = rows["first"][:, at], rows["last"][:, at]
        y[:, 0] = np.where(rows["low_first"], rows["low"], rows["high"])
        y[:, 1] = np.where(rows["low_first"], rows["high"], rows["low"])
        wanted = np.ones((len(rows), 2), bool)
        wanted[:, 1] = rows["size"] > 1
        flat_x, flat_y = _with_holes(x, y, wanted, rows)
        return _growing(flat_x, flat_y)

    def smoothed(self, axis: str, columns: int) -> Drawing:
        """The mean over a sixteenth of the run about each place, as at most about `columns` points `(x, y)`.

        The window is centred, so that the line does not lag behind a falling loss, and at the ends it is cut.
        """
        rows = self._points.whole(FINE)
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

    def averaged(
        self, weight: float, axis: str, columns: int, low: float = -inf, high: float = inf
    ) -> Drawing:
        """The exponential moving average of this weight, as at most about `columns` points `(x, y)`."""
        if self._smooth is None or self._smooth[0].weight != weight:
            self._smooth = MovingAverage(weight), Pyramid()
            oldest, points = self._points.kept()
            if oldest:
                earlier = self._points.before(oldest)
                _smooth_buckets(*self._smooth, earlier)
            _smooth_on(*self._smooth, points)
        at = AXES.index(axis)
        _, rows = self._smooth[1].within(at, low, high, FINE)
        rows = rows[:: -max(1, -(-len(rows) // max(columns, 1)))][::-1]
        with np.errstate(invalid="ignore"):
            means = rows["total"] / (rows["size"] - rows["bad"])
        return _growing(rows["last"][:, at], means)

    def near(self, axis: str, x: float) -> tuple[float, float] | None:
        """Place and value of the point nearest to `x`, a mean where single points are no longer kept."""
        at = AXES.index(axis)
        _, rows = self._points.within(at, x, x, 8)
        if not len(rows):
            return None
        middles = (rows["first"][:, at] + rows["last"][:, at]) / 2
        row = rows[int(np.abs(middles - x).argmin())]
        finite = int(row["size"] - row["bad"])
        return float(row["last"][at]), float(row["total"]) / finite if finite else np.nan

    def bad(self, axis: str, low: float = -inf, high: float = inf) -> NDArray[np.float64]:
        """Where points are NaN or infinite, as x."""
        at = AXES.index(axis)
        _, rows = self._points.within(at, low, high, FINE)
        found: NDArray[np.float64] = rows["last"][rows["bad"] > 0, at].copy()
        return found

    def under(self, axis: str, low: float = -inf, high: float = inf) -> NDArray[np.float64]:
        """Where points are zero or below, as x: they have no place on a logarithmic scale."""
        at = AXES.index(axis)
        _, rows = self._points.within(at, low, high, FINE)
        found: NDArray[np.float64] = rows["last"][rows["under"] > 0, at].copy()
        return found

    def sick(self, axis: str, low: float, high: float) -> Sick | None:
        """What is not finite from `low` to `high`; None where all is well."""
        at = AXES.index(axis)
        points = self._points.points(at, low, high)
        points = points[~np.isfinite(points["value"])]
        if len(points):
            return Sick(len(points), float(points["place"][0, 0]), float(points["value"][0]))
        _, rows = self._points.within(at, low, high, FINE)
        rows = rows[(rows["bad"] > 0) & (rows["last"][:, at] >= low) & (rows["first"][:, at] <= high)]
        return Sick(int(rows["bad"].sum()), float(rows["first"][0, 0]), None) if len(rows) else None

    def counts(self) -> tuple[int, int]:
        """How many points are not finite, and how many are zero or below."""
        rows = self._points.whole(FINE)
        return int(rows["bad"].sum()), int(rows["under"].sum())

    def seams(self, axis: str) -> list[float]:
        """The last places before the run went on from an earlier step, as x."""
        return [seam[AXES.index(axis)] for seam in self._seams]

    def end(self, axis: str) -> float:
        """x of the last point; 0 when there is none."""
        last = self._points.last()
        return float(last["place"][0, AXES.index(axis)]) if last is not None else 0.0

    def extremes(self, axis: str, low: float = -inf) -> NDArray[np.float64]:
        """Smallest and largest finite values of the stretches from `low` on; NaN where there is none."""
        _, rows = self._points.within(AXES.index(axis), low, inf, FINE)
        return np.concatenate([rows["low"], rows["high"]])

    def span(self, axis: str = "step", low: float = -inf, high: float = inf) -> tuple[float, float, float]:
        """Smallest and largest finite value, and the smallest above zero; NaN where there is none."""
        _, rows = self._points.within(AXES.index(axis), low, high, FINE)
        if not len(rows):
            return (np.nan, np.nan, np.nan)
        least = float(rows["least"].min())
        lowest, highest = np.fmin.reduce(rows["low"]), np.fmax.reduce(rows["high"])
        return float(lowest), float(highest), least if isfinite(least) else np.nan


def _smooth_on(average: MovingAverage, into: Pyramid, points: NDArray[np.void]) -> None:
    made = points.copy()
    made["value"] = average.extend(points["value"])
    into.extend(made)


def _smooth_buckets(average: MovingAverage, into: Pyramid, rows: NDArray[np.void]) -> None:
    """Go on over stretches of which only the means are known."""
    made = np.empty(len(rows), POINT)
    made["place"] = rows["last"]
    for index, row in enumerate(rows):
        if finite := int(row["size"] - row["bad"]):
            average.skip(float(row["total"]) / finite, finite)
        made["value"][index] = average.value
    into.extend(made)


def _with_holes(
    x: NDArray[np.float64], y: NDArray[np.float64], wanted: NDArray[np.bool_], rows: NDArray[np.void]
) -> Drawing:
    """The points in one line, with a gap where steps are missing between two of them."""
    first, last = rows["first"][:, 0], rows["last"][:, 0]
    between = first[1:] - last[:-1]
    if len(rows) < _FEWEST:
        return x[wanted], y[wanted]
    after = np.zeros(len(rows), bool)
    after[:-1] = _holes(between)
    inside = _holes(last - first) & wanted[:, 1]
    if not (after.any() or inside.any()):
        return x[wanted], y[wanted]
    # Columns: first point, gap within, last point, gap behind.
    all_x, all_y = np.full((len(rows), 4), np.nan), np.full((len(rows), 4), np.nan)
    all_x[:, 0], all_x[:, 2], all_y[:, 0], all_y[:, 2] = x[:, 0], x[:, 1], y[:, 0], y[:, 1]
    all_x[:, 1] = x.mean(1)
    ends = np.where(wanted[:, 1], x[:, 1], x[:, 0])
    all_x[:-1, 3] = (ends[:-1] + x[1:, 0]) / 2
    kept = np.column_stack((wanted[:, 0], inside, wanted[:, 1], after))
    return all_x[kept], all_y[kept]


def _growing(x: NDArray[np.float64], y: NDArray[np.float64]) -> Drawing:
    """The points whose x lies beyond all x before them."""
    if len(x) < 2:
        return x, y
    grows = np.empty(len(x), bool)
    grows[0] = True
    np.greater(x[1:], np.maximum.accumulate(x)[:-1], out=grows[1:])
    return (x, y) if grows.all() else (x[grows], y[grows])


def _holes(distances: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Distances far longer than usual and than their neighbours: a run that merely got faster has none."""
    padded = np.pad(distances, 1, constant_values=0.0)
    usual = np.maximum(np.maximum(padded[:-2], padded[2:]), np.median(distances))
    found: NDArray[np.bool_] = distances > HOLE * usual
    return found


def _round_up(group: int) -> int:
    """1, 2, 3, 4, 6, 8, 12, 16 ...: few sizes, so that columns stay as they are while the view moves."""
    power = 1 << (max(1, group) - 1).bit_length()
    return 3 * power // 4 if power >= 4 and 3 * power // 4 >= group else power
