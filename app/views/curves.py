"""Curves that grow while a run goes on: loss, accuracy, learning rate against step, epoch or time.

Imports pyqtgraph, which takes a third of a second: import this module when the first curve is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, log10

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Signal
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QGraphicsItem, QWidget

from app.theme import Theme, current_theme, themes
from app.views.axes import Axis, duration
from app.views.picture import colour_of, number
from app.views.track import Track


@dataclass(frozen=True)
class Curve:
    """How a track is drawn: `style` is "raw" (thin), "smooth" (a mean), "line" or "points"; or `dashed`."""

    name: str
    track: Track
    style: str
    role: str  # of the theme
    dashed: bool = False


class Crosses(QGraphicsItem):
    """Marks at the upper edge where a value is not a finite number."""

    def __init__(self) -> None:
        super().__init__()
        self.places: list[float] = []  # in pixels of the parent
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemHasNoContents, False)
        self._colour = QColor()
        self._width = 1.0

    def place(self, places: list[float], width: float, colour: QColor) -> None:
        """Marks at these x, in pixels of a plot `width` wide."""
        if places != self.places or width != self._width or colour != self._colour:
            self.prepareGeometryChange()
            self.places, self._width, self._colour = places, width, colour
            self.update()

    def boundingRect(self) -> QRectF:
        return QRectF(0, 0, self._width, 12)

    def paint(self, painter: QPainter, option: object, widget: QWidget | None = None) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pg.mkPen(self._colour, width=1.5))
        for x in self.places:
            painter.drawLine(QPointF(x - 3, 3), QPointF(x + 3, 9))
            painter.drawLine(QPointF(x - 3, 9), QPointF(x + 3, 3))


def _pen(colour: QColor, dashed: bool) -> QPen:
    pen: QPen = pg.mkPen(colour, width=1.5 if dashed else 2)
    if dashed:
        pen.setDashPattern([4, 3])
    return pen


class CurvePlot(pg.PlotWidget):
    """Tracks on one pair of axes; the wheel zooms, dragging moves, a double click shows everything again."""

    read = Signal(str)  # what stands under the pointer; empty when it has left

    def __init__(self, parent: QWidget | None = None) -> None:
        self._left, self._bottom = Axis("left"), Axis("bottom")
        super().__init__(parent, background=None, axisItems={"left": self._left, "bottom": self._bottom})
        self._curves: tuple[Curve, ...] = ()
        self._lines: list[pg.PlotDataItem | pg.PlotCurveItem] = []
        self._drawn: list[tuple[object, ...] | None] = []
        self._axis = "epoch"
        self._log = True
        self._planned: float | None = None
        self._following = True
        self._ranged = False  # whether the y axis has been fitted since what is drawn changed
        self._crosses = Crosses()
        item = self.getPlotItem()
        item.setMenuEnabled(False)
        item.hideButtons()
        item.setContentsMargins(0, 4, 8, 0)
        item.layout.setContentsMargins(0, 0, 0, 0)
        box = item.getViewBox()
        box.disableAutoRange()
        box.setDefaultPadding(0)
        box.sigRangeChangedManually.connect(self._moved)
        box.sigResized.connect(self._resized)
        self._crosses.setParentItem(box)
        self._crosses.setZValue(10)
        self._left.setGrid(255)
        self._left.setZValue(-1)
        self._left.setStyle(tickAlpha=255)
        self._bottom.setStyle(tickAlpha=255)
        self.setFrameStyle(0)
        self.setAntialiasing(True)
        self.setMinimumSize(200, 90)
        self.setMouseTracking(True)
        self._dress(current_theme())
        themes.theme_changed.connect(self._dress)

    # -- what is shown ----------------------------------------------------------------------------

    def show_curves(self, curves: Sequence[Curve]) -> None:
        """Show these curves and no others, the last on top."""
        curves = tuple(curves)
        if curves == self._curves:
            return
        for line in self._lines:
            self.removeItem(line)
        self._curves = curves
        # The plain curve item costs a third of the item that also draws symbols.
        self._lines = [
            pg.PlotDataItem(connect="finite", antialias=True)
            if curve.style == "points"
            else pg.PlotCurveItem(connect="finite", antialias=curve.style != "raw")
            for curve in curves
        ]
        self._drawn = [None] * len(curves)
        for line in self._lines:
            self.addItem(line)
        self.follow()
        self._dress(current_theme())

    def set_axis(self, axis: str, planned: float | None = None) -> None:
        """Draw against "step", "epoch" or "seconds"; `planned` is where a run means to end."""
        self._planned = planned
        if axis != self._axis:
            self._axis = axis
            self.follow()
        mode = {"step": "whole", "seconds": "duration"}.get(axis, "linear")
        if self._bottom.mode != mode:
            self._bottom.mode = mode
            self._bottom.picture = None

    def set_log(self, log: bool) -> None:
        """Whether y is logarithmic."""
        if log != self._log:
            self._log = log
            self.follow()

    @property
    def following(self) -> bool:
        """Whether the axes fit themselves to the curves; False after the person has zoomed or moved."""
        return self._following

    def follow(self) -> None:
        """Fit the axes to the curves again from the next `refresh` on."""
        self._following = True
        self._ranged = False

    def drawn(self, index: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The points of a curve as they were last drawn, y in its own unit."""
        x, y = self._lines[index].getData()
        if x is None:
            return np.empty(0), np.empty(0)
        return x, 10.0**y if self._log else y

    def refresh(self) -> None:
        """Draw what the tracks hold now."""
        columns = max(32, int(self.getViewBox().width()))
        mode = "log" if self._log else "linear"
        if self._left.mode != mode:
            self._left.mode = mode
            self._left.picture = None
        for index, (curve, line) in enumerate(zip(self._curves, self._lines, strict=True)):
            state = (curve.track.changes, self._axis, self._log, columns)
            if self._drawn[index] == state:
                continue
            self._drawn[index] = state
            x, y = (
                curve.track.smoothed(self._axis, columns // 3)
                if curve.style == "smooth"
                else curve.track.outline(self._axis, columns if curve.style == "points" else columns // 2)
            )
            if self._log:
                with np.errstate(divide="ignore", invalid="ignore"):
                    y = np.where(y > 0, np.log10(y), np.nan)
            line.setData(x, y)
            if curve.style == "points":
                size = 6 if len(x) <= 30 else 4 if len(x) <= 100 else 1
                if line.opts["symbolSize"] != size:
                    line.setSymbolSize(size)
        if self._following:
            self.fit()
        self._mark_bad()

    def fit(self) -> None:
        """Axes that hold all points and the planned end of the run; they move in leaps."""
        tracks = [curve.track for curve in self._curves if len(curve.track)]
        spans = [track.span() for track in tracks]
        lows = [span[2] if self._log else span[0] for span in spans]
        lows = [low for low in lows if isfinite(low)]
        highs = [span[1] for span in spans if isfinite(span[1]) and (span[1] > 0 or not self._log)]
        low, high = (min(lows), max(highs)) if lows and highs else (0.01, 1.0)
        if self._log:
            low, high = log10(low), log10(max(low, high))
        pad = 0.06 * (high - low) or max(0.1, abs(high) * 0.1)
        end = max([track.end(self._axis) for track in tracks], default=0.0) or 1.0
        whole = self._planned is not None and end <= self._planned
        if whole and self._planned is not None:
            # The first steps of a long run would be a line at the edge: the axis doubles up to the plan.
            leaps = [self._planned / 2**power for power in (5, 4, 3, 2, 1, 0)]
            end = next(leap for leap in leaps if leap >= min(1.05 * end, self._planned))
        box = self.getViewBox()
        (left, right), (bottom, top) = box.viewRange()
        if left != 0.0 or (right != end if whole else not end <= right <= 1.3 * end):
            box.setXRange(0.0, end if whole else 1.15 * end, padding=0)
        fits = bottom <= low and high <= top and top - bottom <= 1.35 * (high - low) + 2 * pad
        if not fits or not self._ranged:
            self._ranged = True
            box.setYRange(low - pad, high + pad, padding=0)

    # -- looks ------------------------------------------------------------------------------------

    def _dress(self, theme: Theme) -> None:
        self._left.dress(theme)
        self._bottom.dress(theme)
        for curve, line in zip(self._curves, self._lines, strict=True):
            colour = colour_of(theme, curve.role)
            if curve.style == "raw":
                colour.setAlphaF(0.36)
                line.setPen(pg.mkPen(colour, width=1))
            else:
                line.setPen(_pen(colour, curve.dashed))
            if curve.style == "points":
                line.setSymbol("o")
                line.setSymbolSize(6)
                line.setSymbolBrush(colour)
                line.setSymbolPen(None)
        self._mark_bad()

    def _mark_bad(self) -> None:
        box = self.getViewBox()
        (low, high), _ = box.viewRange()
        width = box.width()
        places = [
            (x - low) / (high - low) * width
            for curve in self._curves
            if curve.style != "smooth"
            for x in curve.track.bad(self._axis)
            if low <= x <= high
        ]
        # Marks closer than three pixels are one mark: a run of NaN must not cost a cross a step.
        thinned: list[float] = []
        for place in sorted(places):
            if not thinned or place - thinned[-1] >= 3:
                thinned.append(place)
        self._crosses.place(thinned, width, current_theme().bad)

    @property
    def marks(self) -> list[float]:
        """Where values that are not finite are marked, in pixels."""
        return list(self._crosses.places)

    # -- pointer ----------------------------------------------------------------------------------

    def _moved(self, *_: object) -> None:
        self._following = False
        self._mark_bad()

    def _resized(self, *_: object) -> None:
        self._mark_bad()

    def mouseDoubleClickEvent(self, event: object) -> None:
        self.follow()
        self.refresh()

    def mouseMoveEvent(self, event: object) -> None:
        super().mouseMoveEvent(event)
        self.read.emit(self._reading(event.position()))

    def leaveEvent(self, event: object) -> None:
        super().leaveEvent(event)
        self.read.emit("")

    def _reading(self, position: QPointF) -> str:
        box = self.getViewBox()
        if not self._curves or not box.sceneBoundingRect().contains(position):
            return ""
        at = box.mapSceneToView(position).x()
        words = [
            {"step": f"step {at:,.0f}", "epoch": f"epoch {at:.2f}", "seconds": duration(round(at, 1))}[
                self._axis
            ]
        ]
        for curve, line in zip(self._curves, self._lines, strict=True):
            x, y = line.getData()
            if x is None or not len(x) or curve.style == "raw":
                continue
            index = int(np.clip(np.searchsorted(x, at), 0, len(x) - 1))
            if index and abs(x[index - 1] - at) < abs(x[index] - at):
                index -= 1
            if isfinite(y[index]):
                words.append(f"{curve.name} {number(10 ** y[index] if self._log else y[index])}")
        return " · ".join(words)
