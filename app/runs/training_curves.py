"""The left part of the training panel: curves of the run against step, epoch or time."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QStackedLayout, QVBoxLayout, QWidget

from app.charts.curve_options import CurveOptions
from app.charts.curves import Curve, CurvePlot
from app.charts.legend import Legend
from app.charts.run_curves import RunCurves, quantity, words
from app.look.base import Subject
from app.look.own import scaled_words
from app.widgets.labels import ElidedLabel, label
from app.widgets.segments import Segments
from app.workspace.open_document import TrainableDocument
from app.workspace.own_units import OwnUnitsFinder
from app.workspace.plan_parts import objective_series
from app.workspace.watching import Live, Probes

REDRAW_MS = 250
AXES = (
    ("step", "step", "Draw against the number of batches trained"),
    ("epoch", "epoch", "Draw against passes over the training data"),
    ("seconds", "time", "Draw against the time spent training"),
)
SCALES = (("log", "log", "Logarithmic scale"), ("linear", "linear", "Linear scale"))
ROOM_FOR_LEGEND = 190  # pixels of height that leave a line for it alone
_GAP = 10
# Colours for the objectives of a plan; validation has that of convolutions.
_PLAYERS = ("accent", "dense", "attention", "activation", "recurrent")


class TrainingCurves(QWidget):
    """Loss, metrics or learning rate: train raw and smoothed, validation with points."""

    export_asked = Signal()

    def __init__(self, workspace: TrainableDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("trainingCurves")
        self._workspace = workspace
        self.curves = RunCurves()
        self.plot = CurvePlot()
        self.plot.setObjectName("curvePlot")
        self._scale_of: dict[str, str] = {}
        self._offered: object = None  # quantities
        self._quantity = Segments([("loss", "Loss", "Loss")], bold=True)
        self._quantity.setObjectName("curveQuantity")
        self._legend = Legend()
        self._low_legend = Legend()  # stands in where many quantities leave no room above
        self._own_legend = Legend()  # a line of its own for the many objectives of a plan
        self._own_legend.hide()
        self._scale = Segments(SCALES)
        self._scale.setObjectName("curveScale")
        self._axis = Segments(AXES)
        self._axis.setObjectName("curveAxis")
        self._axis.choose("epoch")
        self._options = CurveOptions()
        self._options.setObjectName("curveOptions")
        self._note = ElidedLabel("", "small")
        self._note.setObjectName("curveNote")
        self._export = QPushButton("CSV")
        self._export.setObjectName("exportMetrics")
        self._export.setProperty("kind", "quiet")
        self._export.setToolTip("Save the numbers of this run as a CSV file")
        self._export.clicked.connect(self.export_asked)
        self._empty = EmptyTraining(workspace)
        OwnUnitsFinder.of(workspace).found.connect(self._units_found)
        self._stack = QStackedLayout()
        self._stack.addWidget(self._empty)
        self._body = QWidget()
        self._stack.addWidget(self._body)
        self._lay_out()
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addLayout(self._stack)
        self._quantity.chosen.connect(self._quantity_chosen)
        self._scale.chosen.connect(self._scale_chosen)
        self._axis.chosen.connect(self._redraw_now)
        self._options.changed.connect(self._options_changed)
        self.plot.noted.connect(self._note.setText)
        self._live = Live(workspace, self, self._probes, self.refresh, REDRAW_MS)
        self._more = QTimer(self)  # a long run is taken in bit by bit, so that the window stays awake
        self._more.setSingleShot(True)
        self._more.setInterval(0)
        self._more.timeout.connect(self._live.ask)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(0, 0, 0, 0)
        head.setSpacing(_GAP)
        head.addWidget(self._quantity)
        head.addWidget(self._legend, 1)
        head.addWidget(self._export)
        foot = QHBoxLayout()
        foot.setContentsMargins(0, 0, 0, 0)
        foot.setSpacing(10)
        foot.addWidget(self._scale)
        foot.addWidget(self._options)
        foot.addWidget(self._low_legend)
        foot.addWidget(self._note, 1)
        foot.addWidget(self._axis)
        column = QVBoxLayout(self._body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addLayout(head)
        column.addWidget(self._own_legend)
        column.addWidget(self.plot, 1)
        column.addLayout(foot)

    # -- drawing ----------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Take in what is new and draw it."""
        trainer = self._workspace.trainer
        if trainer is None:
            return
        self.curves.objectives = frozenset(objective_series(self._workspace.document.project))
        begun = self.curves.catch_up(trainer.feed)
        if self.curves.behind:
            self._more.start()
        has_curves = bool(self.curves.tracks)
        self._stack.setCurrentIndex(int(has_curves))
        if not has_curves:
            self._empty.refresh()
            return
        self._offer_quantities()
        self._choose_curves()
        axis = self._axis.key
        planned = {
            "epoch": trainer.progress.epochs,
            "step": trainer.progress.epochs * trainer.progress.steps_per_epoch,
        }
        self.plot.set_axis(axis, planned.get(axis) or None)
        if begun:
            self.plot.follow()
        self.plot.refresh()

    def _units_found(self) -> None:
        self._offered = None

    def _offer_quantities(self) -> None:
        found = self.curves.quantities()
        if found != self._offered:
            self._offered, units = found, scaled_words(Subject(self._workspace))
            tips = {name: f"Show the {words(name)}" for name in found}
            for name in found:
                if units and name != "lr" and "accuracy" not in name:
                    tips[name] += f". {units}"
            self._quantity.set_options([(name, _title(name), tips[name]) for name in found])
        self._quantity.set_room(self._body.width() - self._export.sizeHint().width() - 2 * _GAP)

    def _choose_curves(self) -> None:
        shown = self._quantity.key
        scale = self._scale_of.get(shown) or self._fitting_scale(shown)
        self._scale.choose(scale)
        curves, entries = [], []
        players = 0
        names = self.curves.of(shown)
        whole = any(name.startswith("val_") for name in names)
        for name in names:
            track = self.curves.tracks[name]
            if name.startswith("val_"):
                curves.append(Curve("validation", track, "points", "convolution"))
                entries.append(("validation", "convolution", True))
            elif name.startswith("train_"):
                role = _PLAYERS[players % len(_PLAYERS)]
                told = "train" if quantity(name) == shown else words(quantity(name))
                raw = Curve(told, track, "raw", role)
                curves[2 * players : 2 * players] = [raw, Curve(told, track, "smooth", role)]
                entries.insert(players, (told, role, False))
                players += 1
            elif name.startswith("batch_"):
                if not whole:  # it stands for the split until that has been evaluated
                    curves.append(Curve("one validation batch", track, "points", "dim"))
                    entries.append(("one batch", "dim", True))
            else:
                curves.append(Curve(words(quantity(name)), track, "line", "accent"))
        self._show_legend(entries)
        self.plot.set_smoothing(self._options.weight)
        self.plot.set_newest(self._options.newest)
        self.plot.show_curves(curves)
        self.plot.set_log(scale == "log")

    def _fitting_scale(self, shown: str) -> str:
        """Logarithmic for losses, unless many lie below zero, as those of a likelihood may."""
        if "loss" not in shown:
            return "linear"
        tracks = [self.curves.tracks[name] for name in self.curves.of(shown)]
        below = sum(track.counts()[1] for track in tracks)
        return "linear" if below * 10 > sum(len(track) for track in tracks) else "log"

    def _show_legend(self, entries: list[tuple[str, str, bool]]) -> None:
        for legend in (self._low_legend, self._own_legend):
            legend.show_entries(entries)
        wanted, room = self._low_legend.sizeHint().width(), self._body.width()
        above = (
            self._quantity.sizeHint().width() + wanted + self._export.sizeHint().width() + 2 * _GAP <= room
        )
        beside = (self._scale, self._options, self._axis)
        below = sum(one.sizeHint().width() for one in beside) + wanted + 4 * _GAP <= room
        self._axis.set_room(
            room - self._scale.sizeHint().width() - self._options.sizeHint().width() - 4 * _GAP
        )
        own = not above and not below and len(entries) > 1
        if own and self._body.height() < ROOM_FOR_LEGEND:  # the curves need the line more than the quantities
            self._quantity.set_room(room - wanted - self._export.sizeHint().width() - 2 * _GAP)
            above, own = True, False
        self._legend.show_entries(entries if above else ())
        self._low_legend.setVisible(not above and below)
        self._own_legend.setVisible(own)

    def _quantity_chosen(self, key: str) -> None:
        self._redraw_now(key)

    def _scale_chosen(self, scale: str) -> None:
        self._scale_of[self._quantity.key] = scale
        self._redraw_now(scale)

    def _redraw_now(self, key: str) -> None:
        self._live.pace.now()

    def _options_changed(self) -> None:
        self._live.pace.now()

    def _probes(self) -> Probes:
        return frozenset()


def _title(name: str) -> str:
    text = words(name)
    return text[:1].upper() + text[1:]


class EmptyTraining(QWidget):
    """What stands there before the first run: what will come, and the step that brings it."""

    def __init__(self, workspace: TrainableDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._words = label("", "empty", wrap=True)
        self._words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._train = QPushButton("Train")
        self._train.setObjectName("trainFromEmpty")
        self._train.setProperty("kind", "small")
        self._train.clicked.connect(self._train_clicked)
        column = QVBoxLayout(self)
        column.addStretch(1)
        column.addWidget(self._words)
        column.addSpacing(8)
        column.addWidget(self._train, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)
        workspace.inferred.connect(self.refresh)
        workspace.engine_ready.connect(self.refresh)
        workspace.state_changed.connect(self._state_changed)
        self.refresh()

    def refresh(self) -> None:
        """Say what keeps the curves away."""
        errors = self._workspace.errors()
        ready = self._workspace.trainer is not None and not errors
        text = "Press Train to watch the loss fall: one point a batch, validation after each epoch."
        if self._workspace.trainer is None:
            text = self._workspace.engine_error or "The engine is starting; the loss curve will appear here."
        elif not self._workspace.document.project.graph.nodes:
            text = "Add data, layers and a loss to the canvas; their loss curve will appear here."
            ready = False
        elif errors:
            text = f"Before training: {errors[0].message}"
        elif self._workspace.training:
            text = "Reading the data; the first point comes with the first batch."
            ready = False
        if text != self._words.text():
            self._words.setText(text)
        self._train.setVisible(ready)

    def _state_changed(self, state: str) -> None:
        self.refresh()

    def _train_clicked(self) -> None:
        self._workspace.train()
