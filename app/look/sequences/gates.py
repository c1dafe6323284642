"""What a recurrent layer does step by step: its gates, and the state it hands on."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QStackedLayout, QWidget

from app.charts.arrays.strips import Strip, Strips
from app.charts.chart import Chart, Curve, Entry, Frame
from app.charts.plot import number
from app.look.asked import of_class
from app.look.base import OneProbe, Subject, Table
from app.look.controls import choice, choose, keep, offer, stacked
from app.look.registry import view_kind
from app.look.sequences.unrolled import Unrolled
from app.look.shown import gives, of_example
from engine.feed.feed import Probe, Snapshot
from engine.shapes.inside import scanned

ALL, MEAN = -2, -1


def has_gates(subject: Subject) -> bool:
    """Whether the node is a recurrent layer, or a block that hands a state along a sequence."""
    _, book = subject.as_trained
    if book is not None and scanned(book, subject.node_id) is not None:
        return True
    return gives(subject, "gates", "nn.LSTM", "nn.GRU", "nn.RNN")


class StepByStep(OneProbe):
    """What views of a recurrent layer have in common: the layer of a stack, and the way it reads."""

    takes = "gates"

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.layer = choice("gatesLayer", [("layer 1", (0, 0))], "Which layer of the stack, and its way", 104)
        self.layer.activated.connect(self._ask_again)

    @property
    def _probe(self) -> Probe:
        layer, back = self.layer.currentData() or (0, 0)
        return Probe(self.subject.node_id, self.takes, (int(layer), int(back), *self._asked()))

    def _asked(self) -> tuple[int, ...]:
        """What else the probe is asked for."""
        return ()

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        facts = snapshot.extra
        ways = ((0, ""), (1, ", back")) if facts["both"] else ((0, ""),)
        layers = [(f"layer {n + 1}{word}", (n, way)) for n in range(facts["layers"]) for way, word in ways]
        offer(self.layer, layers)
        self.layer.setEnabled(len(layers) > 1)
        self._show(snapshot)

    def _show(self, snapshot: Snapshot) -> None:
        raise NotImplementedError

    @property
    def backwards(self) -> bool:
        """Whether the way back is shown."""
        return bool((self.layer.currentData() or (0, 0))[1])

    def controls(self) -> QWidget | None:
        return self.in_row(self.layer)

    def state(self) -> dict[str, object]:
        return {"layer": list(self.layer.currentData() or (0, 0))}

    def restore(self, state: Mapping[str, object]) -> None:
        layer = state.get("layer")
        if isinstance(layer, list) and len(layer) == 2 and all(isinstance(n, int) for n in layer):
            wanted = (layer[0], layer[1])
            keep(self.layer, wanted, f"layer {layer[0] + 1}{', back' if layer[1] else ''}")


class Values(StepByStep):
    """What views of every step have in common: their words, and the table of all values."""

    def _part_words(self, snapshot: Snapshot) -> str:
        facts = snapshot.extra
        shown, of = len(facts["units"]), facts["of"]
        units = f"{shown} of {of} units" if shown < of else f"{of} units"
        return f"{facts['mode']} · {units} · {of_example(facts)}"

    def table(self) -> Table | None:
        if self._found is None:
            return None
        facts = self._found.extra
        values = self._found.array.astype(float).transpose(1, 2, 0)
        rows = [
            (facts["first"] + step + 1, facts["units"][unit] + 1, *values[step, unit].round(5).tolist())
            for step, unit in np.ndindex(values.shape[:2])
        ]
        return ("step", "unit", *facts["gates"]), rows


@view_kind(
    "gates",
    "Gates through time",
    "How far each gate opens at each step (0 shut, 1 open) and what the layer keeps, for one example.",
    "Sequences",
    has_gates,
    rank=5,
)
class Gates(Values):
    """A strip a gate with a line a unit; or the curves of one unit, or of their mean."""

    card_size = (420, 300)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.unit = choice("gatesUnit", [("all units", ALL), ("mean", MEAN)], "Which unit", 92)
        self.unit.activated.connect(self._other_unit)
        self.strips, self.chart = Strips(), Chart()
        self.strips.clicked.connect(self._pick)
        self.chart.read = self._read
        self._pages = QStackedLayout(self)
        self._pages.setContentsMargins(0, 0, 0, 0)
        self._pages.addWidget(self.strips)
        self._pages.addWidget(self.chart)

    def _show(self, snapshot: Snapshot) -> None:
        facts, values = snapshot.extra, snapshot.array.astype(np.float32)
        units = [(f"unit {unit + 1}", unit) for unit in facts["units"]]
        offer(self.unit, [("all units", ALL), ("mean", MEAN), *units])
        unit = self.unit.currentData()
        if unit in (ALL, None):
            strips = [Strip("input", facts["inputs"].T)]
            strips += [
                Strip(name, one.T, name in facts["open"])
                for name, one in zip(facts["gates"], values, strict=True)
            ]
            self.strips.show_strips(strips, first=facts["first"], units=facts["units"])
            self._pages.setCurrentWidget(self.strips)
            self.set_note(f"{self._part_words(snapshot)} · click a line for its unit")
            return
        at = facts["units"].index(unit) if unit in facts["units"] else None
        curves = values.mean(axis=2) if at is None else values[:, :, at]
        steps = np.arange(facts["first"] + 1, facts["first"] + curves.shape[1] + 1, dtype=float)
        low, high = min(0.0, float(curves.min())), max(1.0, float(curves.max()))
        pad = 0.04 * (high - low)
        layers, legend = [], []
        for index, (name, curve) in enumerate(zip(facts["gates"], curves, strict=True)):
            style = Qt.PenStyle.SolidLine if name in facts["open"] else Qt.PenStyle.DashLine
            layers.append(Curve(steps, curve, of_class(index), 1.8, style))
            legend.append(Entry(name, of_class(index), style=style))
        ends = (float(steps[0]), float(steps[-1]) if len(steps) > 1 else float(steps[0]) + 1)
        frame = Frame(ends, (low - pad, high + pad), "step", "value", legend=legend)
        self.chart.show_layers(frame, layers)
        self._pages.setCurrentWidget(self.chart)
        told = "mean over the units" if at is None else f"unit {unit + 1}"
        self.set_note(f"{told} · {facts['mode']} · {of_example(facts)}")

    def _read(self, x: float, y: float) -> str:
        if self._found is None:
            return ""
        facts, values = self._found.extra, self._found.array.astype(float)
        unit = self.unit.currentData()
        step = min(values.shape[1] - 1, max(0, round(x) - 1 - facts["first"]))
        at = facts["units"].index(unit) if unit in facts["units"] else None
        found = values[:, step].mean(axis=1) if at is None else values[:, step, at]
        lines = [
            f"{name} {number(value)}" for name, value in zip(facts["gates"], found.tolist(), strict=True)
        ]
        return "\n".join([f"step {facts['first'] + step + 1}", *lines])

    def _pick(self, line: int, _step: int) -> None:
        if self._found is not None and line < len(self._found.extra["units"]):
            choose(self.unit, self._found.extra["units"][line])
            self._show(self._found)

    def _other_unit(self, _index: int) -> None:
        if self._found is not None:
            self._show(self._found)

    def controls(self) -> QWidget | None:
        return self.in_row(self.layer, self.unit)

    def state(self) -> dict[str, object]:
        return {**super().state(), "unit": self.unit.currentData()}

    def restore(self, state: Mapping[str, object]) -> None:
        super().restore(state)
        unit = state.get("unit")
        if isinstance(unit, int) and not choose(self.unit, unit) and unit >= 0:
            self.unit.addItem(f"unit {unit + 1}", unit)
            choose(self.unit, unit)


@view_kind(
    "unrolled",
    "Unrolled",
    "The layer at each step: the input below, the state it hands on as a tile, red above zero, blue below.",
    "Sequences",
    has_gates,
    rank=6,
)
class UnrolledLayer(Values):
    """A tile of the hidden state a step, with arrows from step to step."""

    card_size = (420, 190)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.view = Unrolled()
        stacked(self, self.view)

    def _show(self, snapshot: Snapshot) -> None:
        facts = snapshot.extra
        states = snapshot.array[-1].astype(np.float32)
        self.view.show_states(states, facts["inputs"], first=facts["first"], backwards=self.backwards)
        self.set_note(f"{self._part_words(snapshot)} · colours to ±{number(self.view.scale)}")
