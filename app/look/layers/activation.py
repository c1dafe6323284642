"""The curve of an activation function over the numbers that arrive at it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.charts.chart import Chart, Columns, Curve, Entry, Frame
from app.charts.plot import number, percent
from app.look.base import OneProbe, Subject, Table
from app.look.controls import stacked
from app.look.registry import view_kind
from engine.errors import NeuroloomError
from engine.feed.feed import Snapshot


def bends(subject: Subject) -> bool:
    """Whether the node applies a function to each number by itself, alone or after a layer."""
    node, kind = subject.node, subject.type
    if node is None or kind is None or subject.kind != "layer":
        return False
    try:
        made = subject.workspace.catalogue.make(node)
    except NeuroloomError:
        return False
    if kind.family == "activation":
        return not hasattr(made, "axis")  # one that works along an axis mixes numbers
    return kind.family in ("dense", "convolution") and getattr(made, "activation", "none") != "none"


@view_kind(
    "activation",
    "Activation function",
    "The function and its derivative, above the distribution of its inputs; nothing learns at slope 0.",
    "Curves",
    bends,
    rank=45,
)
class ActivationView(OneProbe):
    """f and f' on top, the histogram of the inputs below, on one axis."""

    takes = "activation_curve"

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._array: NDArray[np.float64] = np.empty((0, 3))
        self.curves, self.inputs = Chart(), Chart()
        self.curves.read = self._read
        stacked(self, (self.curves, 5), (self.inputs, 3))

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        self._array = snapshot.array.astype(np.float64)
        x, y, slope = self._array.T
        reach = (float(x[0]), float(x[-1]))
        inside = np.abs(x) <= 4.0  # far out a line would flatten what matters
        low = min(float(y[inside].min()), float(slope.min()), 0.0)
        high = max(float(y[inside].max()), float(slope.max()))
        room = 0.06 * (high - low)
        legend = (Entry("f(x)", "accent"), Entry("f'(x)", "convolution", style=Qt.PenStyle.DashLine))
        frame = Frame(reach, (low - room, high + room), legend=legend)
        dashed = Curve(x, slope, "convolution", style=Qt.PenStyle.DashLine)
        self.curves.show_layers(frame, [dashed, Curve(x, y, "accent", 2.2)])
        self._show_inputs(snapshot.extra, reach)

    def _show_inputs(self, facts: object, reach: tuple[float, float]) -> None:
        assert isinstance(facts, dict)
        counts = np.asarray(facts["counts"], np.float64)
        total = counts.sum()
        if not total:
            self.inputs.say("no inputs yet")
            self.set_note("")
            return
        fractions = counts / total
        frame = Frame(reach, (0.0, 1.08 * float(fractions.max())), x_name="x: input, fraction per bin")
        self.inputs.show_layers(frame, [Columns(np.asarray(facts["edges"]), fractions, "good")])
        x, _, slope = self._array.T
        middles = (np.asarray(facts["edges"])[1:] + np.asarray(facts["edges"])[:-1]) / 2
        flat = float(fractions[np.abs(np.interp(middles, x, slope)) < 0.05].sum())
        words = f"x from {number(facts['min'])} to {number(facts['max'])}"
        self.set_note(f"{words} · {percent(round(flat, 3))} where |f'| < 0.05")

    def _read(self, at: float, _: float) -> str:
        x, y, slope = self._array.T
        return (
            f"x {number(at)}\nf(x) {number(float(np.interp(at, x, y)))}\n"
            f"f'(x) {number(float(np.interp(at, x, slope)))}"
        )

    def table(self) -> Table | None:
        return (("x", "f(x)", "f'(x)"), self._array.tolist()) if len(self._array) else None
