"""A histogram with the numbers under it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from app.charts.plot import Plot, colour_of, number, percent
from app.charts.tick_marks import paint_across, place
from app.theme import Theme
from engine.feed.feed import Snapshot


@dataclass(frozen=True)
class Distribution:
    """Counts `(bins,)` between edges `(bins + 1,)`, and what is worth knowing of the values behind them."""

    counts: NDArray[np.floating]
    edges: NDArray[np.floating]
    mean: float
    std: float
    smallest: float
    largest: float
    zeros: float  # fraction of values that are exactly zero, 0 to 1
    not_finite: int = 0

    @staticmethod
    def of_snapshot(snapshot: Snapshot) -> Distribution:
        """The distribution that a probe of weights, gradients or outputs has counted."""
        facts = snapshot.extra
        return Distribution(
            np.asarray(snapshot.array, dtype=np.float64),
            np.asarray(facts["edges"]),
            float(facts["mean"]),
            float(facts["std"]),
            float(facts["min"]),
            float(facts["max"]),
            float(facts["zeros"]),
            round(float(facts["not_finite"]) * float(facts["count"])),
        )

    @staticmethod
    def of(values: NDArray[np.floating], bins: int = 48) -> Distribution | None:
        """The distribution of any array; None when it has no finite value."""
        flat = np.asarray(values, dtype=np.float64).ravel()
        finite = flat[np.isfinite(flat)]
        if not finite.size:
            return None
        counts, edges = np.histogram(finite, bins=bins)
        return Distribution(
            counts.astype(np.float64),
            edges,
            float(finite.mean()),
            float(finite.std()),
            float(finite.min()),
            float(finite.max()),
            float((finite == 0).mean()),
            int(flat.size - finite.size),
        )

    def sentence(self) -> str:
        """The numbers in one line."""
        if self.mean != self.mean:
            return "no value is finite"
        text = f"mean {number(self.mean)} · std {number(self.std)} · zeros {percent(self.zeros)}"
        return text + (f" · {self.not_finite:,} not finite" if self.not_finite else "")


class Histogram(Plot):
    """Bars of one distribution; a thin line marks zero."""

    def __init__(self, parent: QWidget | None = None, *, role: str = "accent") -> None:
        super().__init__(parent)
        self._role = role
        self._shown: Distribution | None = None

    def show_distribution(self, shown: Distribution) -> None:
        """Show another distribution."""
        self._shown = shown
        self._message = ""
        self.changed()

    @property
    def distribution(self) -> Distribution | None:
        """What is on screen."""
        return self._shown

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        shown = self._shown
        if shown is None or not len(shown.counts):
            return
        low, high = float(shown.edges[0]), float(shown.edges[-1])
        area = self._area()
        top = float(shown.counts.max()) or 1.0
        step = area.width() / len(shown.counts)
        colour = colour_of(theme, self._role)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        bars = []
        for index, count in enumerate(shown.counts.tolist()):
            if count > 0:
                tall = max(1.0, area.height() * count / top)
                left = round(area.left() + index * step)
                right = round(area.left() + (index + 1) * step)
                bars.append(QRectF(left, area.bottom() - tall, max(1, right - left - (step > 4)), tall))
        painter.drawRects(bars)
        painter.setPen(theme.line)
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        if low < 0 < high:
            zero = int(place(0.0, (low, high), area.left(), area.width()))
            painter.setPen(theme.faint)
            painter.drawLine(QPoint(zero, int(area.top())), QPoint(zero, int(area.bottom())))
        paint_across(painter, theme, area, "linear", (low, high), (0.0, self.width()))

    def describe(self, at: QPoint) -> str:
        shown = self._shown
        area = self._area()
        if shown is None or not area.contains(at):
            return ""
        index = min(len(shown.counts) - 1, int((at.x() - area.left()) / area.width() * len(shown.counts)))
        total = float(shown.counts.sum()) or 1.0
        fraction = float(shown.counts[index]) / total
        low, high = float(shown.edges[index]), float(shown.edges[index + 1])
        text = f"{number(low)} to {number(high)}: {percent(fraction)} of values"
        return f"{text}\nsmallest {number(shown.smallest)} · largest {number(shown.largest)}"

    def sizeHint(self) -> QSize:
        return QSize(200, 96)

    def _area(self) -> QRectF:
        return QRectF(0, 2, self.width(), max(4, self.height() - 20))
