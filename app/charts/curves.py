"""Curves that grow while a run goes on: loss, accuracy, learning rate against step, epoch or time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isclose, isfinite, log10

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from app.charts import chart
from app.charts.axes import FARTHEST, duration, moved, robust_span, zoomed
from app.charts.crosshair import Crosshair, Reading
from app.charts.marks import NEAR, Places, mark_at, paint_marks, thinned
from app.charts.plot import colour_of, number
from app.charts.track import Track
from app.theme import Theme, current_theme

NEWEST = 0.2  # of what is drawn: what y is fitted to when it follows the newest part
MARGIN = 0.25  # of the width of a view, drawn beside it so that moving shows no empty edge
BESIDE = 12  # pixels after its end within which a curve is still read
ZOOM = 1.02 ** (1 / 8)  # for each eighth of a degree that the wheel turns
AXES = {"step": "whole", "seconds": "duration", "epoch": "whole"}
NAMES = {"step": "step", "seconds": "time", "epoch": "epoch"}


@dataclass(frozen=True)
class Curve:
    """How a track is drawn: `style` is "raw" (thin, faint), "smooth", "line" or "points"; or `dashed`."""

    name: str
    track: Track
    style: str
    role: str  # of the theme
    dashed: bool = False


class CurvePlot(chart.Chart):
    """Tracks on one pair of axes; the wheel zooms, dragging moves, a double click shows everything again."""

    noted = Signal(str)  # what there is to say of values that can't be drawn; empty where nothing is

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._curves: tuple[Curve, ...] = ()
        self._points: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []
        self._drawn: list[tuple[object, ...] | None] = []
        self._shown: object = None
        self._stretch = (-inf, inf)
        self._axis = "epoch"
        self._log = True
        self._weight: float | None = None
        self._newest = False
        self._planned: float | None = None
        self._following = True
        self._spanned: tuple[object, tuple[float, float]] | None = None  # what y spans, and of which extremes
        self._ranged = False  # whether the y axis has been fitted since what is drawn changed
        self._note = ""
        self._pointer = QPointF()
        self._gripped: QPointF | None = None
        self._marks, self._crosshair = Places(), Crosshair()
        self._level: float | None = None
        self.setMinimumSize(200, 90)
        self.setMouseTracking(True)

    # -- what is shown ----------------------------------------------------------------------------

    def show_curves(self, curves: Sequence[Curve]) -> None:
        """Show these curves and no others, the last on top."""
        curves = tuple(curves)
        if curves == self._curves:
            return
        self._curves = curves
        self._points = [(np.empty(0), np.empty(0))] * len(curves)
        self._drawn = [None] * len(curves)
        self.follow()

    def set_axis(self, axis: str, planned: float | None = None) -> None:
        """Draw against "step", "epoch" or "seconds"; `planned` is where a run means to end."""
        self._planned = planned
        if axis != self._axis:
            self._axis = axis
            self.follow()

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
        self._level = value

    @property
    def following(self) -> bool:
        """Whether the axes fit themselves to the curves; False after the user has zoomed or moved."""
        return self._following

    def follow(self) -> None:
        """Fit the axes to the curves again from the next `refresh` on."""
        self._following = True
        self._ranged = False

    def show_stretch(self, x: tuple[float, float], y: tuple[float, float] | None = None) -> None:
        """Show this stretch of the axes, y as a log axis has it, until `follow`."""
        if x[1] > x[0] and (y is None or y[1] > y[0]):
            self._following = False
            self._set_range(x, y)
            self.refresh()

    def drawn(self, index: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The points of a curve as they were last drawn, y in its own unit."""
        x, y = self._points[index]
        return x, 10.0**y if self._log else y

    def refresh(self) -> None:
        """Draw what the tracks hold now."""
        if self._following:
            self.fit()
        low, high = self._stretch = self._seen()
        columns = max(32, int(self.area().width()))
        if not self._following:
            columns = int(columns * (1 + 2 * MARGIN))
        for index, curve in enumerate(self._curves):
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
            self._points[index] = x, y
        self._mark()
        self._say_what_is_left_out()
        scales = AXES[self._axis], "log" if self._log else "linear"
        frame = replace(self.frame_shown, x_name=NAMES[self._axis], x_scale=scales[0], y_scale=scales[1])
        shown = (frame, tuple(self._drawn), self._marks, self._level)
        if shown != self._shown:
            self._shown = shown
            self.show_layers(frame, self._layers_of(frame))
        if self._crosshair.visible:  # what it reads has moved
            self._read_at(self._pointer)

    def _layers_of(self, frame: chart.Frame) -> list[chart.Layer]:
        dashes = Qt.PenStyle.DashLine
        layers: list[chart.Layer] = []
        if (level := self._level_seen()) is not None:
            layers.append(chart.Curve(np.array(frame.x), np.full(2, level), "warning", 1.2, dashes))
        for curve, (x, y) in zip(self._curves, self._points, strict=True):
            width, style = (1.5, dashes) if curve.dashed else (2.0, Qt.PenStyle.SolidLine)
            layers.append(chart.Curve(x, y, curve.role, width, style, curve.style == "raw"))
            if curve.style == "points":
                size = 6 if len(x) <= 30 else 4 if len(x) <= 100 else 1
                layers.append(chart.Marks(x, y, curve.role, size=size))
        return layers

    def _level_seen(self) -> float | None:
        """Where the level stands on the y axis; None where it has no place."""
        if self._level is None or (self._log and self._level <= 0):
            return None
        return log10(self._level) if self._log else self._level

    def _seen(self) -> tuple[float, float]:
        """The stretch of x to draw: all of it, or the view with a margin on each side."""
        if self._following:
            return -inf, inf
        low, high = self.frame_shown.x
        wide = high - low
        drawn_low, drawn_high = self._stretch
        right_size = isclose(drawn_high - drawn_low, (1 + 2 * MARGIN) * wide, rel_tol=0.01)
        if right_size and drawn_low <= low and high <= drawn_high:
            return self._stretch
        return low - MARGIN * wide, high + MARGIN * wide

    def fit(self) -> None:
        """Axes that hold all points and the planned end of the run; they move in leaps."""
        (_, end), (low, high), planned = self._whole()
        pad = 0.06 * (high - low) or max(0.1, abs(high) * 0.1)
        (left, right), (bottom, top) = self.frame_shown.x, self.frame_shown.y
        if left != 0.0 or (right != end if planned else not end <= right <= 1.3 * end):
            self._set_range((0.0, end if planned else 1.15 * end))
        fits = bottom <= low and high <= top and top - bottom <= 1.35 * (high - low) + 2 * pad
        if not fits or not self._ranged:
            self._ranged = True
            self._set_range(y=(low - pad, high + pad))

    def _whole(self) -> tuple[tuple[float, float], tuple[float, float], bool]:
        """What x and y span, y as its axis has it, and whether x goes to the planned end or a part of it."""
        tracks = [curve.track for curve in self._curves if len(curve.track)]
        end = max([track.end(self._axis) for track in tracks], default=0.0) or 1.0
        low, high = self._span_of(tracks, (1 - NEWEST) * end if self._newest else -inf)
        if self._log:
            low, high = (log10(min(max(value, 1 / FARTHEST), FARTHEST)) for value in (low, max(low, high)))
        planned = self._planned is not None and end <= self._planned
        if planned and self._planned is not None:
            # The first steps of a long run would be a line at the edge: the axis doubles up to the plan.
            leaps = [self._planned / 2**power for power in (5, 4, 3, 2, 1, 0)]
            end = next(leap for leap in leaps if leap >= min(1.05 * end, self._planned))
        return (0.0, end), (low, high), planned

    def _span_of(self, tracks: list[Track], newest: float) -> tuple[float, float]:
        """The values that y has to hold; on a linear axis without those that would flatten all others."""
        tracks = [track for track in tracks if track.end(self._axis) >= newest]
        spans = [track.span(self._axis, newest) for track in tracks]
        known = self._log, self._level, tuple(spans)
        if self._spanned is not None and self._spanned[0] == known:
            return self._spanned[1]
        lows = [span[2] if self._log else span[0] for span in spans]
        lows = [low for low in lows if isfinite(low)]
        highs = [span[1] for span in spans if isfinite(span[1]) and (span[1] > 0 or not self._log)]
        if not self._log and lows and highs:
            robust = robust_span(np.concatenate([track.extremes(self._axis, newest) for track in tracks]))
            lows, highs = ([robust[0]], [robust[1]]) if robust is not None else (lows, highs)
        if self._level is not None and self._level_seen() is not None and lows and highs:
            lows.append(self._level)
            highs.append(self._level)
        found = (min(lows), max(highs)) if lows and highs else (0.01, 1.0)
        self._spanned = known, found
        return found

    def _set_range(self, x: tuple[float, float] | None = None, y: tuple[float, float] | None = None) -> None:
        frame = self.frame_shown
        self._frame = replace(frame, x=x or frame.x, y=y or frame.y)

    def decorate(self, painter: QPainter, theme: Theme) -> None:
        area = self.area()
        painter.translate(area.topLeft())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_marks(painter, theme, self._marks, area.height())
        if self._crosshair.visible:
            self._crosshair.paint(painter, theme)

    def _mark(self) -> None:
        """Mark what has no place on the axes."""
        low, high = self.frame_shown.x
        width = self.area().width()
        bottom, top = self.frame_shown.y
        bad: list[float] = []
        under: list[float] = []
        seams: list[float] = []
        over: list[float] = []
        for curve, (x, y) in zip(self._curves, self._points, strict=True):
            if curve.style == "smooth":
                continue
            if self._following and not self._log:
                over += x[y > top].tolist()
                under += x[y < bottom].tolist()
            track = curve.track
            bad += track.bad(self._axis, low, high).tolist()
            under += track.under(self._axis, low, high).tolist() if self._log else []
            seams += track.seams(self._axis)
        self._marks = Places(
            *(
                thinned([(x - low) / (high - low) * width for x in found if low <= x <= high])
                for found in (bad, under, seams, over)
            )
        )

    def _say_what_is_left_out(self) -> None:
        counts = [curve.track.counts() for curve in self._curves if curve.style != "smooth"]
        bad, under = sum(count[0] for count in counts), sum(count[1] for count in counts)
        words = []
        if bad:
            words.append(f"{bad:,} not finite ×")
        if under and self._log:
            words.append(f"{under:,} ≤ 0 ▾")
        if self._marks.over or (self._marks.under and not self._log):
            words.append("far beyond the axis ▴▾")
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
        return self._marks

    # -- pointer ----------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.refresh()

    def wheelEvent(self, event: QWheelEvent) -> None:
        here = self.to_values(event.position())
        if here is None:
            event.ignore()
            return
        factor = ZOOM ** -event.angleDelta().y()
        frame, whole = self.frame_shown, self._whole()
        self.show_stretch(
            zoomed(frame.x, here[0], factor, whole[0]), zoomed(frame.y, here[1], factor, _opened(whole[1]))
        )

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.area().contains(event.position()):
            self._gripped = event.position()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._gripped = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.follow()
        self.refresh()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._pointer = event.position()
        if self._gripped is not None:
            area, frame = self.area(), self.frame_shown
            way, whole = self._gripped - self._pointer, self._whole()
            across = way.x() * (frame.x[1] - frame.x[0]) / area.width()
            up = -way.y() * (frame.y[1] - frame.y[0]) / area.height()
            self._gripped = self._pointer
            self.show_stretch(moved(frame.x, across, whole[0]), moved(frame.y, up, _opened(whole[1])))
        self._read_at(self._pointer)

    def leaveEvent(self, event: QEvent) -> None:
        self._crosshair.visible = False
        self.update()

    @property
    def reading(self) -> str:
        """The values under the pointer in one line; empty while it is elsewhere."""
        return self._crosshair.words if self._crosshair.visible else ""

    def describe(self, at: QPoint) -> str:
        """What the mark at a place of the widget means; empty where there is none."""
        area = self.area()
        place = QPointF(at) - area.topLeft()
        found = mark_at(self._marks, place.x(), place.y(), area.height())
        if found is None:
            return ""
        kind, x = found
        low, high = self.frame_shown.x
        scale = (high - low) / area.width()
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
            elif kind == "under" and self._log and len(curve.track.under(self._axis, left, right)):
                lowest = curve.track.span(self._axis, left, right)[0]
                words.append(f"{curve.name}: {number(lowest)} has no place on a logarithmic scale")
            elif kind in ("over", "under"):
                value = curve.track.span(self._axis, left, right)[kind == "over"]
                bottom, top = self.frame_shown.y
                if isfinite(value) and not bottom <= value <= top:
                    words.append(f"{curve.name}: {number(value)} lies far beyond the others")
        return "\n".join(words)

    def _read_at(self, position: QPointF) -> None:
        self.update()
        area, here = self.area(), self.to_values(position)
        self._crosshair.visible = bool(self._curves) and here is not None
        if not self._curves or here is None:
            return
        at, (low, high), (bottom, top) = here[0], self.frame_shown.x, self.frame_shown.y
        width, height = area.width(), area.height()
        beside = BESIDE * (high - low) / width
        rows = []
        lone = not any(curve.style == "smooth" for curve in self._curves)
        for curve, points in zip(self._curves, self._points, strict=True):
            if (curve.style == "raw" and not lone) or at > curve.track.end(self._axis) + beside:
                continue
            found = _nearest(*points, at) if curve.style == "smooth" else None
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
        place = position - area.topLeft()
        self._crosshair.read((place.x(), place.y()), title[self._axis], rows, (width, height))

    def _unseen(self, curve: Curve, x: float) -> str:
        near = curve.track.near(self._axis, x)
        return number(near[1]) if near is not None and isfinite(near[1]) else "not finite"


def _nearest(x: NDArray[np.float64], y: NDArray[np.float64], at: float) -> tuple[float, float] | None:
    if not len(x):
        return None
    index = int(np.clip(np.searchsorted(x, at), 0, len(x) - 1))
    if index and abs(x[index - 1] - at) < abs(x[index] - at):
        index -= 1
    return float(x[index]), float(y[index])


def _opened(span: tuple[float, float]) -> tuple[float, float]:
    """A span that a level line, too, can be zoomed about in."""
    half = max((span[1] - span[0]) / 2, 0.05 * abs(span[1]), 0.05)
    middle = (span[0] + span[1]) / 2
    return middle - half, middle + half


def _log10(value: float) -> float:
    return log10(value) if value > 0 else np.nan
