"""Lines over a common index: a time series, or what a model predicts beside what is right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget

from app.charts.chart import Chart, Curve, Entry, Frame, Layer, beyond
from app.charts.plane import around, opened
from app.charts.plot import number

MOST_COLUMNS = 1024  # stretches of a long series: of each, the extremes are drawn


class Line(NamedTuple):
    """One line: `values` (n,), its name, and the theme's role of its colour."""

    name: str
    values: NDArray[np.floating]
    role: str = "accent"


def extremes(values: NDArray[np.floating], columns: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """At most two points a column, the smallest and the largest in the order they come; no spike is lost.

    Returns index and value. A column without a finite value gives NaN.
    """
    count = len(values)
    if count <= 2 * columns:
        return np.arange(count, dtype=np.float64), np.asarray(values, dtype=np.float64)
    starts = (np.arange(columns) * count) // columns
    clean = np.where(np.isfinite(values), values, np.nan).astype(np.float64)
    index = np.empty((columns, 2))
    for column, (start, end) in enumerate(zip(starts, [*starts[1:], count], strict=True)):
        part = clean[start:end]
        if np.isnan(part).all():
            index[column] = start
        else:
            index[column] = sorted((start + int(np.nanargmin(part)), start + int(np.nanargmax(part))))
    at = index.ravel()
    return at, clean[at.astype(int)]


class SeriesPlot(Chart):
    """Lines `(n,)` over their index; the first index is `start`, `unit` says what the index counts."""

    def __init__(self, parent: QWidget | None = None, *, unit: str = "row", legend: bool = False) -> None:
        super().__init__(parent)
        self._lines: tuple[Line, ...] = ()
        self._start = 0
        self._unit, self._named = unit, legend
        self.read = self._read

    def show_lines(self, lines: Sequence[Line], start: int = 0, unit: str = "") -> None:
        """Show other lines; the last lies on top. With a `unit` the index counts that from now on."""
        self._unit = unit or self._unit
        self._lines = tuple(lines)
        self._start = start
        count = max((len(line.values) for line in lines), default=0)
        span = around(np.concatenate([line.values for line in lines])) if lines else (0.0, 1.0)
        layers: list[Layer] = []
        for line in lines:
            at, values = extremes(line.values, MOST_COLUMNS)
            layers.append(Curve(at + start, values, line.role, 1.4))
            layers += beyond(at + start, values, span)
        legend = [Entry(line.name, line.role) for line in lines] if self._named else []
        across = opened((float(start), float(start + max(count, 1) - 1)))
        self.show_layers(Frame(across, opened(span), self._unit, x_scale="whole", legend=legend), layers)

    @property
    def lines(self) -> tuple[Line, ...]:
        """What is on screen."""
        return self._lines

    def _read(self, x: float, _y: float) -> str:
        index = round(x) - self._start
        words = [f"{self._unit} {self._start + index:,}"]
        words += [
            f"{line.name}: {number(float(line.values[index]))}"
            for line in self._lines
            if 0 <= index < len(line.values)
        ]
        return "\n".join(words)

    def sizeHint(self) -> QSize:
        return QSize(320, 140)
