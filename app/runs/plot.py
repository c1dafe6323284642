"""The curves of several runs over each other, beside the table that they are ticked in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from app.charts.curve_options import CurveOptions
from app.charts.curves import Curve, CurvePlot
from app.charts.legend import Legend
from app.charts.run_curves import quantity, words
from app.charts.track import Track
from app.runs.names import told_apart
from app.runs.stored_curves import CurveReader, Rows, quantities, take_in, tracks_of
from app.widgets.background import Background
from app.widgets.labels import ElidedLabel, label
from app.widgets.segments import Segments
from engine.errors import NeuroloomError, TrainingError, reason_of
from engine.runs.index import RunRecord
from engine.runs.records import DAMAGE, RUNNING

AXES = (
    ("step", "step", "Draw against the number of batches trained"),
    ("epoch", "epoch", "Draw against passes over the training data"),
    ("seconds", "time", "Draw against the time spent training"),
)
SCALES = (("log", "log", "Logarithmic scale"), ("linear", "linear", "Linear scale"))
SPLITS = (
    ("both", "both", "Training dashed, validation whole"),
    ("val", "validation", "Values on the validation data"),
    ("train", "train", "Values on the training data"),
)
Found = Rows | dict[str, Track] | str  # new points, whole tracks, or why they can't be read
NOTHING = "Tick runs to lay their curves over each other, or select one to see its own."


@dataclass(frozen=True)
class Drawn:
    """One run to draw, and the role of its colour in the theme."""

    record: RunRecord
    role: str
    name: str = ""  # what it is called in the table


class RunsPlot(QWidget):
    """Reads the curves of the runs it is to draw; those of a run that still trains, again and again."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("runsPlot")
        self.plot = CurvePlot()
        self.plot.setObjectName("runsCurves")
        self._drawn: tuple[Drawn, ...] = ()
        self._tracks: dict[str, dict[str, Track]] = {}
        self._errors: dict[str, str] = {}
        self._readers: dict[str, CurveReader] = {}
        self._stamps: dict[str, RunRecord] = {}  # what a run looked like when its curves were last read
        self._background = Background("run-curves", self)
        self._background.finished.connect(self._read)
        self._quantity = Segments([("loss", "Loss", "Loss")], bold=True)
        self._quantity.setObjectName("runsQuantity")
        self._split = Segments(SPLITS)
        self._split.setObjectName("runsSplit")
        self._scale = Segments(SCALES)
        self._axis = Segments(AXES)
        self._axis.setObjectName("runsAxis")
        self._axis.choose("epoch")
        self._legend = Legend()
        self._options = CurveOptions()
        self._options.setObjectName("runsOptions")
        self._note = ElidedLabel("", "small")
        self._note.setObjectName("runsNote")
        self._message = label(NOTHING, "empty", wrap=True)
        self._message.setObjectName("runsPlotMessage")
        self._message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._scale_of: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._lay_out()
        for segments in (self._quantity, self._split, self._axis):
            segments.chosen.connect(self._chosen)
        self._scale.chosen.connect(self._scale_chosen)
        self._options.changed.connect(self._options_changed)
        self.plot.noted.connect(self._note.setText)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(0, 0, 0, 0)
        head.addWidget(self._quantity)
        head.addStretch(1)
        head.addWidget(self._split)
        foot = QHBoxLayout()
        foot.setContentsMargins(0, 0, 0, 0)
        foot.setSpacing(8)
        foot.addWidget(self._scale)
        foot.addWidget(self._options)
        foot.addWidget(self._note, 1)
        foot.addWidget(self._axis)
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addLayout(head)
        column.addWidget(self._legend)
        column.addWidget(self.plot, 1)
        column.addLayout(foot)
        beside = QHBoxLayout(self)
        beside.setContentsMargins(12, 0, 0, 0)
        self._stack = QStackedLayout()
        beside.addLayout(self._stack)
        self._stack.addWidget(self._message)
        self._stack.addWidget(body)

    # -- reading ----------------------------------------------------------------------------------

    def show_runs(self, drawn: tuple[Drawn, ...]) -> None:
        """Draw these runs and no others."""
        if drawn == self._drawn:
            return
        follow = [one.record.name for one in drawn] != [one.record.name for one in self._drawn]
        self._drawn = drawn
        self._ask()
        self.redraw(follow)

    def look(self) -> None:
        """Read on in runs that are still trained."""
        if any(one.record.state == RUNNING for one in self._drawn):
            self._ask(live=True)

    def close_reader(self) -> None:
        """Wait for a file that is being read."""
        self._background.close()

    def _ask(self, live: bool = False) -> None:
        if self._background.busy:
            return
        stale = [
            one.record
            for one in self._drawn
            if (live and one.record.state == RUNNING) or self._stamps.get(one.record.name) != one.record
        ]
        if not stale:
            return
        jobs = []
        for record in stale:
            self._stamps[record.name] = record
            reader = self._readers.get(record.name)
            if reader is None or reader.folder != record.folder:
                reader = self._readers[record.name] = CurveReader(record.folder)
            jobs.append((record.name, reader))
        self._background.ask(partial(_read_all, jobs))

    def _read(self, found: dict[str, Found] | None, error: NeuroloomError | None) -> None:
        for name, rows in (found or {}).items():
            if isinstance(rows, str):
                self._errors[name] = rows
            else:
                self._errors.pop(name, None)
                take_in(self._tracks.setdefault(name, {}), rows)
        if error is not None:
            self._errors |= {one.record.name: reason_of(error) for one in self._drawn}
        self._ask()
        self.redraw()

    # -- drawing ----------------------------------------------------------------------------------

    def redraw(self, follow: bool = False) -> None:
        """Draw what has been read."""
        shown = [one for one in self._drawn if self._tracks.get(one.record.name)]
        if not shown:
            self._message.setText(self._why_empty())
            self._stack.setCurrentIndex(0)
            return
        self._stack.setCurrentIndex(1)
        found = quantities([self._tracks[one.record.name] for one in shown])
        self._quantity.set_options([(name, _title(name), f"Show the {words(name)}") for name in found])
        self._quantity.set_room(max(80, self.width() - self._split.sizeHint().width() - 12))
        beside = self._scale.sizeHint().width() + self._options.sizeHint().width()
        self._axis.set_room(max(80, self.width() - 12 - beside - 4 * 8))
        key = self._quantity.key
        scale = self._scale_of.get(key, "log" if "loss" in key else "linear")
        self._scale.choose(scale)
        called = {one.record.name: one.name or one.record.title for one in shown}
        self._names = told_apart([one.record for one in shown], called)
        self._draw(shown, key, scale == "log")
        self._legend.show_entries([(self._names[one.record.name], one.role, False) for one in shown])
        if follow:
            self.plot.follow()
        self.plot.refresh()

    def _draw(self, shown: list[Drawn], wanted: str, log: bool) -> None:
        curves = []
        for one in shown:
            for series, track in self._tracks[one.record.name].items():
                if quantity(series) != wanted or series.startswith("test_"):
                    continue
                train = series.startswith("train_")
                if self._split.key not in ("both", "train" if train else "val") and "_" in series:
                    continue
                name = f"{self._names[one.record.name]}{', train' if train else ''}"
                curves.append(Curve(name, track, "smooth" if train else "points", one.role, dashed=train))
        self.plot.set_smoothing(self._options.weight)
        self.plot.set_newest(self._options.newest)
        self.plot.show_curves(curves)
        self.plot.set_log(log)
        axis = self._axis.key
        ends = [one.record.epochs for one in shown if one.record.state == RUNNING]
        tracks = [curve.track.end(axis) for curve in curves]
        self.plot.set_axis(axis, max([*tracks, *(ends if axis == "epoch" else ())], default=0) or None)

    def _why_empty(self) -> str:
        if not self._drawn:
            return NOTHING
        errors = [self._errors[one.record.name] for one in self._drawn if one.record.name in self._errors]
        if errors:
            return errors[0]
        if self._background.busy:
            return "Reading the curves …"
        record = self._drawn[0].record
        if record.state == RUNNING:
            return f"“{record.title}” has only just begun: its first points come with the next save."
        why = f" {record.error}" if record.error else ""
        return f"“{record.title}” ended before its first batch was saved, so it has no curves.{why}"

    def _chosen(self, key: str) -> None:
        self.redraw(follow=True)

    def _options_changed(self) -> None:
        self.redraw(follow=True)

    def _scale_chosen(self, scale: str) -> None:
        if self._scale_of.get(self._quantity.key) != scale:
            self._scale_of[self._quantity.key] = scale
            self.redraw()


def _read_all(jobs: list[tuple[str, CurveReader]]) -> dict[str, Found]:
    found: dict[str, Found] = {}
    for name, reader in jobs:
        try:
            found[name] = reader.read() if reader.begun else tracks_of(reader.read())
        except TrainingError as error:
            found[name] = reason_of(error)
        except DAMAGE as error:
            found[name] = f"The curves of {name} cannot be read: {reason_of(error)}."
    return found


def _title(name: str) -> str:
    text = words(name)
    return text[:1].upper() + text[1:]
