"""Runs a procedure of the network with values of the user's own, and steps through its states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.charts.arrays.image_rows import ImageRow, ImageRows
from app.charts.arrays.search_tree import Hypothesis, SearchTree
from app.charts.arrays.token_text import Token, TokenText
from app.charts.chart import Chart, Frame, Marks
from app.charts.plane import around, opened
from app.charts.series import Line, SeriesPlot
from app.look.base import OneProbe, Subject, Table
from app.look.controls import Steps, button, choice, offer
from app.look.energy.sampling import denoises
from app.look.offered import known_offers
from app.look.predictions.boxes import BoxTiles
from app.look.registry import view_kind
from app.widgets.fields import FieldRow
from app.widgets.labels import label
from engine.feed.feed import Probe, Snapshot
from engine.look.procedures import asked_for
from engine.procedures.declare import Offer

LOW = 240  # pixels below which what is said of the procedure and of a state leaves its room to these
NARROW = 460  # pixels below which the form stands above the states
FILM = 9  # states that are drawn side by side
MOST_LINES = 6
SAMPLES = "samples"  # what a procedure shows that makes examples
ROLES = ("accent", "convolution", "good", "warning", "bad", "dim")


def has_procedures(subject: Subject) -> bool:
    return bool(known_offers(subject))


def samples_points(subject: Subject) -> bool:
    """Whether examples are made out of noise that are no images, which have a view of their own."""
    return any(SAMPLES in one.procedure.shows for one in known_offers(subject)) and not any(
        denoises(Subject(subject.workspace, one)) for one in subject.workspace.document.project.graph.nodes
    )


@view_kind(
    "procedure",
    "Run a procedure",
    "Sampling, recall, writing, forecasts, attribution and more, with your own values, state by state.",
    "Generation",
    has_procedures,
    rank=60,
    whole=True,
    leads=25,
    leads_for=samples_points,
)
class RunProcedure(OneProbe):
    """A form for what the procedure takes on the left; on the right its states, with a slider."""

    card_size = (560, 320)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._values: dict[str, dict[str, Any]] = {}  # by procedure
        self._rows: list[FieldRow] = []
        self._about: QLabel | None = None
        self.which = choice("procedureName", (), "Which procedure", 176)
        self.again = button("procedureAgain", "Again", "Other draws: the next seed")
        self.which.activated.connect(self._choose)
        self.again.clicked.connect(self._once_more)
        self.form = QWidget()
        self._fields = QVBoxLayout(self.form)
        self._fields.setContentsMargins(0, 0, 8, 0)
        self._fields.setSpacing(4)
        self.form_area = QScrollArea()
        self.form_area.setWidget(self.form)
        self.form_area.setWidgetResizable(True)
        self.form_area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.steps = Steps("procedureState", "state", self)
        self.steps.moved.connect(self._moved)
        self.words = label("", "small", wrap=True)
        self.images, self.lines, self.text = ImageRows(), SeriesPlot(unit="state", legend=True), TokenText()
        self.stage = QStackedWidget()
        self.points, self.tree, self.boxes = Chart(), SearchTree(), BoxTiles()
        for one in (self.images, self.lines, self.text, self.points, self.tree, self.boxes):
            self.stage.addWidget(one)
        right = QVBoxLayout()
        right.setSpacing(4)
        right.addLayout(self.steps.layout)
        right.addWidget(self.stage, 1)
        right.addWidget(self.words)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(8)
        self._row.addWidget(self.form_area)
        self._row.addLayout(right, 1)
        self._offers: tuple[Offer, ...] = ()
        self._refresh()
        subject.workspace.inferred.connect(self._refresh)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The form stands beside the states, or above them where there is no room."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        narrow, low = self.width() < NARROW, self.height() < LOW
        down, across = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._row.setDirection(down if narrow else across)
        wide = self.form.minimumSizeHint().width() + self.form_area.verticalScrollBar().sizeHint().width()
        self.form_area.setMinimumWidth(0 if narrow else wide)
        self.form_area.setMaximumWidth(self.width() if narrow else wide)
        self.form_area.setMaximumHeight(self.height() * 2 // 5 if narrow else self.height())
        self.words.setWordWrap(not low)
        if self._about is not None:
            self._about.setVisible(not low)

    @property
    def offer(self) -> Offer | None:
        """The procedure that is chosen."""
        name = self.which.currentData()
        return next((one for one in self._offers if one.name == name), None)

    @property
    def _probe(self) -> Probe:
        chosen = self.offer
        detail = () if chosen is None else asked_for(chosen, self._values.get(chosen.name, {}), self._tries)
        return Probe("", "procedure", detail)

    def probes(self) -> frozenset[Probe]:
        return frozenset() if self.offer is None else frozenset({self._probe})

    def _refresh(self) -> None:
        """Offer what the network has now."""
        before = self.offer
        self._offers = known_offers(self.subject)
        offer(self.which, [(one.name.replace("_", " "), one.name) for one in self._offers])
        if before is None:  # what a network makes of noise is what it is for
            made = [at for at, one in enumerate(self._offers) if SAMPLES in one.procedure.shows]
            self.which.setCurrentIndex(made[0] if made else 0)
        if self.offer is not None and (before is None or self.offer.params != before.params):
            self._draw_form()
            self.needs_changed.emit()

    def _choose(self, _index: int) -> None:
        self._found = None
        self.steps.reset()
        self._draw_form()
        self.needs_changed.emit()

    def _draw_form(self) -> None:
        while (item := self._fields.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        chosen = self.offer
        if chosen is None:
            return
        kept = self._values.setdefault(chosen.name, {})
        self.which.setToolTip(chosen.procedure.doc())
        self._about = label(chosen.procedure.doc(), "small", wrap=True)
        self._fields.addWidget(self._about)
        self._rows = [FieldRow(spec) for spec in chosen.params]
        for field in self._rows:
            spec = field.spec
            field.show_value(kept.get(spec.name, spec.default))
            field.edited.connect(self._edited)
            self._fields.addWidget(field)
        self._fields.addStretch(1)
        self._hide_idle()
        self._fit()

    def _hide_idle(self) -> None:
        """Only the fields that say anything with the values of the others."""
        chosen = self.offer
        kept = {} if chosen is None else self._values[chosen.name]
        values = {field.spec.name: kept.get(field.spec.name, field.spec.default) for field in self._rows}
        for field in self._rows:
            when = field.spec.when
            field.setVisible(when is None or values.get(when[0]) in when[1])

    def _edited(self, name: str, value: object) -> None:
        chosen = self.offer
        if chosen is not None:
            self._values[chosen.name][name] = value
            self._hide_idle()
            self.needs_changed.emit()

    # -- states

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        self.steps.show(len(snapshot.array) - 1)
        self._show(snapshot)

    def _moved(self) -> None:
        if self._found is not None:
            self._show(self._found)

    def _show(self, snapshot: Snapshot) -> None:
        facts, at = snapshot.extra, self.steps.at
        self.words.setText(facts["words"][at][:300])
        if "tree" in facts:
            self.tree.show_tree([[Hypothesis(*one) for one in level] for level in facts["tree"]], at)
            self.words.setText(f"{facts['texts'][at]}  log-probability {facts['log_probabilities'][at]:.2f}")
            self.stage.setCurrentWidget(self.tree)
        elif "texts" in facts:
            shown = list(zip(facts["texts"], facts["tags"], strict=True))[: at + 1]
            self.text.show_tokens([Token(text, below=tag) for text, tag in shown])
            self.stage.setCurrentWidget(self.text)
        elif "found" in facts:
            self._draw_boxes(facts, at)
            self.stage.setCurrentWidget(self.boxes)
        elif facts["images"]:
            states = snapshot.array
            film = np.unique(np.linspace(0, len(states) - 1, FILM).round().astype(int))
            scale = (float(states.min()), float(states.max()))
            rows = [ImageRow("this state", states[at], scale)]
            if len(states) > 1:
                rows.append(ImageRow("all states", states[film, 0], scale))
            self.images.show_rows(rows)
            self.stage.setCurrentWidget(self.images)
        elif facts["key"] == SAMPLES and snapshot.array.shape[2] == 2:
            self._draw_points(snapshot, at)
            self.stage.setCurrentWidget(self.points)
        else:
            self._draw_lines(snapshot, at)
            self.stage.setCurrentWidget(self.lines)
        more = " · more states would follow" if facts["cut"] else ""
        self.set_note(f"{facts['key']} · seed {facts['seed']} · step {snapshot.step:,}{more}")

    def _draw_points(self, snapshot: Snapshot, at: int) -> None:
        """The examples of a state in the plane, whose edges stay where they are through all states."""
        across, up = (opened(around(snapshot.array[..., axis].ravel())) for axis in (0, 1))
        x, y = snapshot.array[at].T
        marks = Marks(x, y, "accent", "circle", 5.0)
        self.points.show_layers(Frame(across, up, "first number", "second number"), [marks])

    def _draw_boxes(self, facts: Mapping[str, Any], at: int) -> None:
        """The images, with the boxes that are found up to a state."""
        found = np.full((len(facts["inputs"]), at + 1, 6), -1, np.float32)
        for place, (row, *box) in enumerate(facts["found"][: at + 1]):
            found[int(row), place] = box
        self.boxes.captions = [f"{facts['split']} example {row + 1}" for row in facts["rows"]]
        none = np.zeros((len(found), 0, 5), np.float32)
        self.boxes.show_boxes(facts["inputs"], found, none, found[..., 0] >= 0)

    def _draw_lines(self, snapshot: Snapshot, at: int) -> None:
        """The numbers of the first example through the states, or of one state where there is only one."""
        values = snapshot.array[:, 0]
        if len(values) == 1 or values.shape[1] > MOST_LINES:
            self.lines.show_lines([Line(snapshot.extra["key"], values[at])])
            return
        shown = values[: at + 1].T if at else values.T
        one = snapshot.extra["key"] if len(shown) == 1 else ""
        parts = enumerate(zip(shown, ROLES, strict=False), 1)
        self.lines.show_lines([Line(one or f"number {index}", line, role) for index, (line, role) in parts])

    def controls(self) -> QWidget | None:
        return self.in_row(self.which, self.again)

    def table(self) -> Table | None:
        if self._found is None:
            return None
        facts = self._found.extra
        if "texts" in facts:
            return ("state", "text"), list(enumerate(facts["texts"], 1))
        if "found" in facts:
            heading = ("row", "class", "left", "top", "right", "bottom", "probability")
            return heading, [(int(row), int(kind), *rest) for row, kind, *rest in facts["found"].tolist()]
        flat = self._found.array.reshape(len(self._found.array), -1)
        rows = [(state + 1, number + 1, value) for (state, number), value in np.ndenumerate(flat)]
        return ("state", "number", facts["key"]), rows

    def state(self) -> dict[str, object]:
        return {"procedure": self.which.currentData(), "seed": self._tries}

    def restore(self, state: Mapping[str, object]) -> None:
        index = self.which.findData(state.get("procedure"))
        seed = state.get("seed")
        if isinstance(seed, int) and 0 < seed < 2**31:
            self._tries = seed
        if index >= 0:
            self.which.setCurrentIndex(index)
            self._choose(index)
