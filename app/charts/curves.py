"""Curves that grow while a run goes on: loss, accuracy, learning rate against step, epoch or time.

Imports pyqtgraph, which takes a third of a second: import this module when the first curve is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isclose, isfinite, log10

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QPointF, QTimer, Signal
from PySide6.QtGui import QColor, QHelpEvent, QMouseEvent, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from app.charts.axes import Axis, duration
from app.charts.crosshair import Crosshair, Reading
from app.charts.marks import NEAR, Marks, Places, thinned
from app.charts.picture import colour_of, number
from app.charts.track import Track
from app.theme import Theme, current_theme, themes

NEWEST = 0.2  # of what is drawn: what y is fitted to when it follows the newest part
MARGIN = 0.25  # of the width of a view, drawn beside it so that moving shows no empty edge
BESIDE = 12  # pixels after its end within which a curve is still read


@dataclass(frozen=True)
class Curve:
    """How a track is drawn: `style` is "raw" (thin, faint), "smooth", "line" or "points"; or `dashed`."""

    name: str
    track: Track
    style: str
    role: str  # of the theme
    dashed: bool = False


def _pen(colour: QColor, dashed: bool) -> QPen:
    pen: QPen = pg.mkPen(colour, width=1.5 if dashed else 2)
    if dashed:
        pen.setDashPattern([4, 3])
    return pen


class CurvePlot(pg.PlotWidget):
    """Tracks on one pair of axes; the wheel zooms, dragging moves, a double click shows everything again."""

    noted = Signal(str)  # what there is to say of values that can't be drawn; empty where nothing is

    def __init__(self, parent: QWidget | None = None) -> None:
        self._left, self._bottom = Axis("left"), Axis("bottom")
        super().__init__(parent, background=None, axisItems={"left": self._left, "bottom": self._bottom})
        self._curves: tuple[Curve, ...] = ()
        self._lines: list[pg.PlotDataItem | pg.PlotCurveItem] = []
        self._drawn: list[tuple[object, ...] | None] = []
        self._stretch = (-inf, inf)
        self._axis = "epoch"
        self._log = True
        self._weight: float | None = None
        self._newest = False
        self._planned: float | None = None
        self._following = True
        self._ranged = False  # whether the y axis has been fitted since what is drawn changed
        self._note = ""
        self._pointer = QPointF()
        self._marks, self._crosshair = Marks(), Crosshair()
        self._level = pg.InfiniteLine(angle=0, movable=False)
        self._level_at: float | None = None
        item = self.getPlotItem()
        item.setMenuEnabled(False)
        item.hideButtons()
        item.setContentsMargins(0, 4, 16, 0)
        item.layout.setContentsMargins(0, 0, 0, 0)
        box = item.getViewBox()
        box.disableAutoRange()
        box.setDefaultPadding(0)
        box.sigRangeChangedManually.connect(self._moved)
        box.sigXRangeChanged.connect(self._seen_changed)
        box.sigResized.connect(self._resized)
        self._marks.setParentItem(box)
        self._marks.setZValue(10)
        self._crosshair.setParentItem(box)
        self._level.setVisible(False)
        box.addItem(self._level, ignoreBounds=True)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(0)
        self._later.timeout.connect(self.refresh)
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

    def set_smoothing(self, weight: float | None) -> None:
        """How curves of style "smooth" are: a centred mean (None), a moving average, or not at all (0)."""
        self._weight = weight

    def set_newest(self, newest: bool) -> None:
        """Whether y is fitted to the newest fifth of the curves in place of the whole."""
        if newest != self._newest:
            self._newest = newest
            self.follow()

    def set_level(self, value: float | None) -> None:
        """Mark a value of y with a broken line across the plot; None for none."""
        self._level_at = value

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
        mode = "log" if self._log else "linear"
        if self._left.mode != mode:
            self._left.mode = mode
            self._left.picture = None
        shown = self._level_at is not None and (self._level_at > 0 or not self._log)
        if shown and self._level_at is not None:
            self._level.setValue(log10(self._level_at) if self._log else self._level_at)
        self._level.setVisible(shown)
        if self._following:
            self.fit()
        low, high = self._stretch = self._seen()
        columns = max(32, int(self.getViewBox().width()))
        if not self._following:
            columns = int(columns * (1 + 2 * MARGIN))
        for index, (curve, line) in enumerate(zip(self._curves, self._lines, strict=True)):
            weight = self._weight if curve.style == "smooth" else 0.0
            state = (curve.track.changes, self._axis, self._log, columns, low, high, weight)
            if self._drawn[index] == state:
                continue
            self._drawn[index] = state
            if weight is None:
                x, y = curve.track.smoothed(self._axis, columns // 3)
            elif weight:
                x, y = curve.track.averaged(weight, self._axis, columns // 3, low, high)
            else:
                x, y = curve.track.outline(
                    self._axis, columns if curve.style == "points" else columns // 2, low, high
                )
            if self._log:
                with np.errstate(divide="ignore", invalid="ignore"):
                    y = np.where(y > 0, np.log10(y), np.nan)
            line.setData(x, y)
            if curve.style == "points":
                size = 6 if len(x) <= 30 else 4 if len(x) <= 100 else 1
                if line.opts["symbolSize"] != size:
                    line.setSymbolSize(size)
        self._mark()
        self._say_what_is_left_out()
        if self._crosshair.isVisible():  # what it reads has moved
            self._read_at(self._pointer)

    def _seen(self) -> tuple[float, float]:
        """The stretch of x to draw: all of it, or the view with a margin on each side."""
        if self._following:
            return -inf, inf
        low, high = self.getViewBox().viewRange()[0]
        wide = high - low
        drawn_low, drawn_high = self._stretch
        right_size = isclose(drawn_high - drawn_low, (1 + 2 * MARGIN) * wide, rel_tol=0.01)
        if right_size and drawn_low <= low and high <= drawn_high:
            return self._stretch
        return low - MARGIN * wide, high + MARGIN * wide

    def fit(self) -> None:
        """Axes that hold all points and the planned end of the run; they move in leaps."""
        tracks = [curve.track for curve in self._curves if len(curve.track)]
        end = max([track.end(self._axis) for track in tracks], default=0.0) or 1.0
        newest = (1 - NEWEST) * end if self._newest else -inf
        spans = [track.span(self._axis, newest) for track in tracks if track.end(self._axis) >= newest]
        lows = [span[2] if self._log else span[0] for span in spans]
        lows = [low for low in lows if isfinite(low)]
        highs = [span[1] for span in spans if isfinite(span[1]) and (span[1] > 0 or not self._log)]
        if self._level.isVisible() and self._level_at is not None and lows and highs:
            lows.append(self._level_at)
            highs.append(self._level_at)
        low, high = (min(lows), max(highs)) if lows and highs else (0.01, 1.0)
        if self._log:
            low, high = log10(low), log10(max(low, high))
        pad = 0.06 * (high - low) or max(0.1, abs(high) * 0.1)
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
        level = pg.mkPen(theme.warning, width=1.2)
        level.setDashPattern([5, 4])
        self._level.setPen(level)
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
        self._mark()

    def _mark(self) -> None:
        """Mark what has no place on the axes."""
        box = self.getViewBox()
        low, high = box.viewRange()[0]
        width = box.width()
        bad: list[float] = []
        under: list[float] = []
        seams: list[float] = []
        for curve in self._curves:
            if curve.style == "smooth":
                continue
            track = curve.track
            bad += track.bad(self._axis, low, high).tolist()
            under += track.under(self._axis, low, high).tolist() if self._log else []
            seams += track.seams(self._axis)
        places = (
            thinned([(x - low) / (high - low) * width for x in found if low <= x <= high])
            for found in (bad, under, seams)
        )
        self._marks.place(Places(*places), width, box.height(), current_theme())

    def _say_what_is_left_out(self) -> None:
        counts = [curve.track.counts() for curve in self._curves if curve.style != "smooth"]
        bad, under = sum(count[0] for count in counts), sum(count[1] for count in counts)
        words = []
        if bad:
            words.append(f"{bad:,} not finite ×")
        if under and self._log:
            words.append(f"{under:,} ≤ 0 ▾")
        note = " · ".join(words)
        if note != self._note:
            self._note = note
            self.noted.emit(note)

    @property
    def note(self) -> str:
        """What there is to say of values that can't be drawn."""
        return self._note

    @property
    def marks(self) -> Places:
        """What is marked at the edges, in pixels."""
        return self._marks.places

    # -- pointer ----------------------------------------------------------------------------------

    def _moved(self, *_: object) -> None:
        self._following = False

    def _seen_changed(self, *_: object) -> None:
        if not self._following:
            self._later.start()

    def _resized(self, *_: object) -> None:
        self._later.start()

    def mouseDoubleClickEvent(self, event: object) -> None:
        self.follow()
        self.refresh()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self._pointer = event.position()
        self._read_at(self._pointer)

    def leaveEvent(self, event: object) -> None:
        super().leaveEvent(event)
        self._crosshair.hide()

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            text = self.told_at(event.pos())
            if text:
                QToolTip.showText(event.globalPos(), text, self)
            else:
                QToolTip.hideText()
            return True
        return bool(super().viewportEvent(event))

    @property
    def reading(self) -> str:
        """The values under the pointer in one line; empty while it is elsewhere."""
        return self._crosshair.words if self._crosshair.isVisible() else ""

    def told_at(self, position: QPoint) -> str:
        """What the mark at a place of the widget means; empty where there is none."""
        box = self.getViewBox()
        place = box.mapFromScene(self.mapToScene(position))
        found = self._marks.at(place.x(), place.y())
        if found is None:
            return ""
        kind, x = found
        low, high = box.viewRange()[0]
        scale = (high - low) / max(1.0, box.width())
        left, right = low + (x - NEAR) * scale, low + (x + NEAR) * scale
        if kind == "seams":
            return "The run went on from here: what it did after this the first time is not drawn."
        words = []
        for curve in self._curves:
            if curve.style == "smooth":
                continue
            if kind == "bad" and (sick := curve.track.sick(self._axis, left, right)) is not None:
                what = number(sick.value) if sick.value is not None else "not finite"
                more = f", and {sick.many - 1:,} more near it" if sick.many > 1 else ""
                words.append(f"{curve.name}: {what} at step {sick.step:,.0f}{more}")
            elif kind == "under" and len(curve.track.under(self._axis, left, right)):
                lowest = curve.track.span(self._axis, left, right)[0]
                words.append(f"{curve.name}: {number(lowest)} has no place on a logarithmic scale")
        return "\n".join(words)

    def _read_at(self, position: QPointF) -> None:
        box = self.getViewBox()
        if not self._curves or not box.sceneBoundingRect().contains(position):
            self._crosshair.hide()
            return
        (low, high), (bottom, top) = box.viewRange()
        at = box.mapSceneToView(position).x()
        beside = BESIDE * (high - low) / max(1.0, box.width())
        width, height = box.width(), box.height()
        rows = []
        lone = not any(curve.style == "smooth" for curve in self._curves)
        for curve, line in zip(self._curves, self._lines, strict=True):
            if (curve.style == "raw" and not lone) or at > curve.track.end(self._axis) + beside:
                continue
            x, y = line.getData() if curve.style == "smooth" else (None, None)
            found = _nearest(x, y, at)
            if found is None:
                near = curve.track.near(self._axis, at)
                if near is None:
                    continue
                found = near[0], _log10(near[1]) if self._log else near[1]
            x, y = found
            point = ((x - low) / (high - low) * width, (top - y) / (top - bottom) * height)
            seen = isfinite(y) and 0 <= point[0] <= width and 0 <= point[1] <= height
            value = number(10.0**y if self._log else y) if isfinite(y) else self._unseen(curve, x)
            colour = colour_of(current_theme(), curve.role)
            rows.append(Reading(curve.name, colour, value, curve.dashed, point if seen else None))
        title = {"step": f"step {at:,.0f}", "epoch": f"epoch {at:.2f}", "seconds": duration(round(at, 1))}
        place = (at - low) / (high - low) * width, box.mapFromScene(self.mapToScene(position.toPoint())).y()
        self._crosshair.read(place, title[self._axis], rows, (width, height))

    def _unseen(self, curve: Curve, x: float) -> str:
        near = curve.track.near(self._axis, x)
        return number(near[1]) if near is not None and isfinite(near[1]) else "not finite"


def _nearest(
    x: NDArray[np.float64] | None, y: NDArray[np.float64] | None, at: float
) -> tuple[float, float] | None:
    if x is None or y is None or not len(x):
        return None
    index = int(np.clip(np.searchsorted(x, at), 0, len(x) - 1))
    if index and abs(x[index - 1] - at) < abs(x[index] - at):
        index -= 1
    return float(x[index]), float(y[index])


def _log10(value: float) -> float:
    return log10(value) if value > 0 else np.nan
