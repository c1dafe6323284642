"""Accuracy against how far an adversary may move the inputs, of this run and of others beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QProgressBar, QWidget

from app.charts.chart import Chart, Curve, Entry, Frame, Layer, Marks, Words
from app.charts.plot import number, percent
from app.look.base import OneProbe, Subject, Table
from app.look.controls import button, choice, choose, stacked
from app.look.offered import known_offers
from app.look.registry import view_kind
from app.look.shown import split_words
from engine.feed.feed import Probe, Snapshot
from engine.procedures.attack import Attack
from engine.procedures.declare import Offer

ROWS = (64, 256, 1024)
SPANS = (5, 10, 20, 30, 50, 100)  # hundredths of what the inputs span
STEPS = (1, 10, 20, 50)
MOST = 5  # measurements in one chart
LOOKS = (
    ("accent", "circle"),
    ("convolution", "square"),
    ("good", "triangle"),
    ("attention", "diamond"),
    ("dim", "down"),
)
ASK = "Measure attacks the network at growing ε and counts the answers that stay right."


class Measured(NamedTuple):
    """One curve: the run, the step, and (ε, accuracy) in order; ε = 0 is the accuracy on clean examples."""

    run: str
    step: int
    points: tuple[tuple[float, float], ...]

    @property
    def name(self) -> str:
        return f"{self.run} · step {self.step:,}" if self.run else f"step {self.step:,}"


def attacked(subject: Subject) -> Offer | None:
    """The attack on the answers that the node gives or is told, None where there is none."""
    project, _ = subject.as_trained
    if subject.node_id not in project.graph.nodes:
        return None
    near = {subject.node_id, *(link.source for link in project.graph.incoming(subject.node_id))}
    offers = (one for one in known_offers(subject) if one.procedure is Attack)
    return next((one for one in offers if one.bound.node_id in near), None)


def can_be_attacked(subject: Subject) -> bool:
    """Whether the node's answers are classes of inputs that an adversary can move."""
    return attacked(subject) is not None


@view_kind(
    "robustness",
    "Accuracy under attack",
    "How many answers stay right while an adversary moves each number of the input by up to ε.",
    "Answers",
    can_be_attacked,
    rank=48,
)
class Robustness(OneProbe):
    """Measured when asked for, point by point. Earlier measurements stay, also those of other runs."""

    card_size = (420, 300)
    at_rest = True

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._tries = 0
        self._offer = attacked(subject)
        self._measured: list[Measured] = []  # the newest last
        self.rows = choice(
            "attackRows", [(f"{one:,} examples", one) for one in ROWS], "How many examples are attacked", 136
        )
        spans = [(f"ε up to {one} %", one) for one in SPANS]
        self.span = choice("attackSpan", spans, "The largest ε, as a part of what the inputs span", 136)
        steps = [("1 step (FGSM)" if one == 1 else f"{one} steps (PGD)", one) for one in STEPS]
        self.steps = choice("attackSteps", steps, "Steps of the search for the worst input", 148)
        choose(self.rows, 256)
        choose(self.span, 30)
        choose(self.steps, 20)
        self.start = button("attackMeasure", "Measure", ASK)
        self.stop = button("attackCancel", "Cancel", "Stop here and keep what was measured so far")
        self.clear = button("attackClear", "Clear", "Remove the earlier measurements")
        self.start.clicked.connect(self._once_more)
        self.stop.clicked.connect(self._cancel)
        self.clear.clicked.connect(self._clear)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.chart = Chart()
        self.chart.alone = True
        self.chart.read = self._read
        stacked(self, self.bar, self.chart)
        self.chart.say(ASK)
        self._asking(False)
        subject.workspace.inferred.connect(self._refresh)

    # -- asking

    @property
    def _probe(self) -> Probe:
        name = self._offer.name if self._offer is not None else ""
        chosen = (int(box.currentData()) for box in (self.rows, self.span, self.steps))
        return Probe("", "robustness", (name, *chosen, self._tries))

    def probes(self) -> frozenset[Probe]:
        return frozenset({self._wanted} if self._wanted is not None else ())

    def _refresh(self) -> None:
        before, self._offer = self._offer, attacked(self.subject)
        if before != self._offer:
            self._asking(False)
            self.needs_changed.emit()

    def _once_more(self) -> None:
        self._tries += 1
        self._asking(True)
        if not self._measured:
            self.chart.say("The network is being attacked.")
        self.needs_changed.emit()

    def _cancel(self) -> None:
        if self._found is not None and self._found.extra.get("total", 0) > len(self._found.array):
            self._take(self._found)
        elif not self._measured:
            self.chart.say(ASK)
        self._asking(False)
        self.needs_changed.emit()

    def _asking(self, on: bool) -> None:
        """Whether a measurement is under way: `_wanted` is what it is asked by."""
        self._wanted = self._probe if on else None
        self._found = None
        self.start.setVisible(not on)
        self.stop.setVisible(on)
        for box in (self.rows, self.span, self.steps):
            box.setEnabled(not on)
        self.bar.setValue(0)
        kept = self.bar.sizePolicy()
        kept.setRetainSizeWhenHidden(True)
        self.bar.setSizePolicy(kept)
        self.bar.setVisible(on)
        self._offer_clear()

    # -- what was measured

    def draw(self, found: Mapping[Probe, Snapshot]) -> None:
        snapshot = found.get(self._wanted) if self._wanted is not None else None
        if snapshot is not None:
            self._found = snapshot
            self.draw_snapshot(snapshot)

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        facts, done = snapshot.extra, len(snapshot.array)
        self.bar.setRange(0, facts["total"])
        self.bar.setValue(done)
        if done == facts["total"]:
            self._take(snapshot)
            self._asking(False)
            self.needs_changed.emit()
        else:
            self._show([*self._measured, self._of(snapshot)], facts)
            self.set_note(f"{done} of {facts['total']} values of ε")

    def _of(self, snapshot: Snapshot) -> Measured:
        trainer = self.subject.workspace.trainer
        folder = trainer.folder if trainer is not None else None
        points = tuple((float(reach), float(accuracy)) for reach, accuracy in snapshot.array)
        return Measured(folder.name if folder is not None else "", snapshot.step, points)

    def _take(self, snapshot: Snapshot) -> None:
        """Keep a measurement, in place of one of the same run and step."""
        made, facts = self._of(snapshot), snapshot.extra
        others = [one for one in self._measured if (one.run, one.step) != (made.run, made.step)]
        self._measured = [*others, made][-MOST:]
        self._show(self._measured, facts)
        search = "FGSM" if facts["steps"] == 1 else f"PGD, {facts['steps']} steps"
        self.set_note(f"{search} · {facts['rows']:,} {split_words(facts)} examples · step {made.step:,}")

    def _clear(self) -> None:
        self._measured = self._measured[-1:]
        self._show(self._measured, {})
        self._offer_clear()

    def _offer_clear(self) -> None:
        self.clear.setVisible(len(self._measured) > 1 and self._wanted is None)

    def _show(self, measured: list[Measured], facts: Mapping[str, Any]) -> None:
        if not measured:
            return
        layers: list[Layer] = []
        legend = []
        trained = float(facts.get("trained", 0.0))
        farthest = max(one.points[-1][0] for one in measured)
        farthest = max(farthest, max((reach for one in measured for reach, _ in one.points)), trained) or 1.0
        if trained:
            line = np.array([trained, trained]), np.array([0.0, 1.0])
            layers.append(Curve(*line, "faint", 1.0, Qt.PenStyle.DotLine))
            legend.append(Entry(f"trained with ε = {number(trained)}", "faint", style=Qt.PenStyle.DotLine))
        for one, (role, shape) in reversed(list(zip(reversed(measured), LOOKS, strict=False))):
            x, y = np.array(one.points).T
            newest = one is measured[-1]
            layers += [Curve(x, y, role, 2.2 if newest else 1.4), Marks(x, y, role, shape, 7)]
            legend.append(Entry(one.name, role, shape))
        clean = measured[-1].points[0][1]
        level = np.array([0.0, farthest]), np.array([clean, clean])
        layers.insert(0, Curve(*level, "accent", 1.0, Qt.PenStyle.DashLine))
        layers.append(Words(0.84 * farthest, min(clean, 1.0) - 0.05, f"clean {percent(clean)}"))
        across = (-0.02 * farthest, 1.02 * farthest)
        frame = Frame(across, (-0.02, 1.02), "perturbation ε", "accuracy", y_scale="fraction", legend=legend)
        self.chart.show_layers(frame, layers)

    def _read(self, x: float, _y: float) -> str:
        shown = [*self._measured, *([self._of(self._found)] if self._found is not None else [])]
        words = [f"ε = {number(max(0.0, x))}"]
        for one in reversed(shown):
            reach, accuracy = np.array(one.points).T
            if reach[0] <= x <= reach[-1]:
                words.append(f"{one.name}: about {percent(float(np.interp(x, reach, accuracy)))}")
        return "\n".join(words)

    def controls(self) -> QWidget | None:
        return self.in_row(self.rows, self.span, self.steps, self.start, self.stop, self.clear)

    def table(self) -> Table | None:
        rows = [(one.run, one.step, *point) for one in self._measured for point in one.points]
        return (("run", "step", "epsilon", "accuracy"), rows) if rows else None

    def state(self) -> dict[str, object]:
        return {
            "rows": self.rows.currentData(),
            "span": self.span.currentData(),
            "steps": self.steps.currentData(),
            "measured": [
                [one.run, one.step, [list(point) for point in one.points]] for one in self._measured
            ],
        }

    def restore(self, state: Mapping[str, object]) -> None:
        choose(self.rows, state.get("rows"))
        choose(self.span, state.get("span"))
        choose(self.steps, state.get("steps"))
        kept = state.get("measured")
        try:
            found = [] if not isinstance(kept, list) else [_kept(*one) for one in kept[-MOST:]]
        except (TypeError, ValueError):  # of a settings file that someone edited
            found = []
        self._measured = found
        self._show(found, {})
        self._offer_clear()


def _kept(run: object, step: object, points: object) -> Measured:
    if not isinstance(points, list) or not points or not isinstance(step, int):
        raise ValueError("This is no measurement.")
    return Measured(str(run), step, tuple((float(reach), float(accuracy)) for reach, accuracy in points))
