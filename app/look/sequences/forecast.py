"""A series, its prediction one step ahead, and how the network goes on alone."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.charts.chart import Chart, Curve, Entry, Frame
from app.charts.plot import number
from app.look.asked import head
from app.look.base import OneProbe, Subject, Table
from app.look.controls import choice, choose, stacked
from app.look.own import answer_units, answers_axis, follow_units
from app.look.registry import view_kind
from engine.feed.feed import Probe, Snapshot
from engine.shapes.heads import VALUES, input_columns

RESIDUALS_FROM = 190
SPLITS = (("validation", "validation"), ("test", "test"), ("training", "train"))
BEYOND = 0.35  # of the series' range: how far a forecast may leave it and still be drawn to scale


def forecasts(subject: Subject) -> bool:
    """Whether the node's answer is the value after a window of a series."""
    asked = head(subject)
    project, book = subject.as_trained
    if asked is None or book is None or asked.kind != VALUES:
        return False
    columns = input_columns(project, book, asked.prediction[0])
    return len(columns) == 1 and len(columns[0].shape) == 2 and columns[0].shape[1] == asked.size


@view_kind(
    "forecast",
    "Forecast",
    "The series, predicted one step ahead and running free on the network's own forecasts; residuals below.",
    "Sequences",
    forecasts,
    rank=5,
    leads=60,
)
class Forecast(OneProbe):
    """Three curves over time, and how far the two forecasts are off."""

    card_size = (440, 280)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.split = choice("forecastSplit", SPLITS, "Which part of the series", 104)
        self.split.activated.connect(self._ask_again)
        self.chart, self.residuals = Chart(), Chart()
        self.residuals.hide()
        self.chart.read = self._read
        follow_units(self)
        stacked(self, (self.chart, 5), (self.residuals, 3), spacing=2)

    @property
    def _probe(self) -> Probe:
        return Probe(self.subject.node_id, "forecast", (str(self.split.currentData()), 0))

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        facts, (truth, ahead, free) = snapshot.extra, self._values(snapshot).T
        own = answer_units(self.subject)
        name = facts["name"] if own is None else own.name
        steps = np.arange(1, len(truth) + 1, dtype=float) + facts["start"]
        ends = (float(steps[0]), float(steps[-1]))
        low, high = float(truth.min()), float(truth.max())
        room = BEYOND * ((high - low) or 1.0)
        reached = np.concatenate([truth, ahead, free]).clip(low - room, high + room)
        reached = reached[np.isfinite(reached)]
        span = float(reached.min()), float(reached.max())
        pad = 0.05 * ((span[1] - span[0]) or 1.0)
        self.chart.show_layers(
            Frame(
                ends,
                (span[0] - pad, span[1] + pad),
                "" if self._roomy else "step",
                answers_axis(name, self.subject, None) if own is None else name,
                legend=[
                    Entry("series", "faint"),
                    Entry("one step ahead", "accent"),
                    Entry("running free", "convolution", style=Qt.PenStyle.DashLine),
                ],
            ),
            [
                Curve(steps, truth, "faint", 4.0),
                Curve(steps, free, "convolution", 1.8, Qt.PenStyle.DashLine),
                Curve(steps, ahead, "accent", 1.8),
            ],
        )
        off, adrift = ahead - truth, free - truth
        reach = 1.1 * float(np.abs(off[np.isfinite(off)]).max(initial=0.0)) or 1.0
        most = max(reach, min(1.1 * float(np.nanmax(np.abs(adrift), initial=0.0)), 2 * room + (high - low)))
        self.residuals.show_layers(
            Frame(ends, (-most, most), "step", "residual"),
            [
                Curve(np.array(ends), np.zeros(2), "dim", 1.0),
                Curve(steps, adrift, "convolution", 1.4, Qt.PenStyle.DashLine),
                Curve(steps, off, "accent", 1.6),
            ],
        )
        errors = [number(float(np.sqrt(np.mean(part**2)))) for part in (off, adrift)]
        words = f"RMSE {errors[0]} one step ahead, {errors[1]} running free"
        shown = f"{len(truth):,} of {facts['of']:,} steps" if len(truth) < facts["of"] else ""
        self.set_note(" · ".join(part for part in (words, facts["split"], shown) if part))
        self._make_room()

    def _values(self, snapshot: Snapshot) -> np.ndarray:
        """The three curves `(n, 3)`, in the data's own units where they are known."""
        own = answer_units(self.subject)
        return snapshot.array.astype(float) if own is None else own.first(snapshot.array)

    def _read(self, x: float, y: float) -> str:
        if self._found is None:
            return ""
        first = self._found.extra["start"] + 1
        step = min(len(self._found.array) - 1, max(0, round(x) - first))
        truth, ahead, free = (number(float(value)) for value in self._values(self._found)[step])
        return f"step {step + first}\nseries {truth}\none step ahead {ahead}\nrunning free {free}"

    @property
    def _roomy(self) -> bool:
        return self.height() >= RESIDUALS_FROM

    def _make_room(self) -> None:
        self.residuals.setVisible(self._roomy and self._found is not None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        before = self.residuals.isHidden()
        self._make_room()
        if self._found is not None and self.residuals.isHidden() != before:
            self.draw({self._probe: self._found})

    def controls(self) -> QWidget | None:
        return self.in_row(self.split)

    def table(self) -> Table | None:
        if self._found is None:
            return None
        start = self._found.extra["start"] + 1
        rows = [(start + n, *values) for n, values in enumerate(self._values(self._found).tolist())]
        return ("step", "series", "one step ahead", "running free"), rows

    def state(self) -> dict[str, object]:
        return {"split": self.split.currentData()}

    def restore(self, state: Mapping[str, object]) -> None:
        choose(self.split, state.get("split"))
