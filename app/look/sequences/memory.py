"""How long a recurrent layer remembers: its Jacobian against lag, and the eigenvalues behind it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from PySide6.QtWidgets import QWidget

from app.charts.chart import Chart, Curve, Entry, Frame, Layer, Marks
from app.charts.plot import number
from app.look.base import Subject, Table
from app.look.controls import choice, keep, offer, stacked
from app.look.registry import view_kind
from app.look.sequences.gates import StepByStep, has_gates
from app.look.shown import of_example
from engine.feed.feed import Snapshot

DEEPEST = 20  # powers of ten below the largest that are drawn
CIRCLE = np.exp(2j * np.pi * np.linspace(0, 1, 181))


def is_to_remember(subject: Subject) -> bool:
    """Whether the layer reads data that ask for something again after a delay."""
    graph = subject.workspace.document.project.graph
    if subject.node_id not in graph.nodes:
        return False
    types = (Subject(subject.workspace, one).type for one in graph.ancestors(subject.node_id))
    return any(one is not None and one.kind == "data" and one.param_spec("delay") for one in types)


@view_kind(
    "state-jacobian",
    "Gradient against lag",
    "How far a small change of the state k steps earlier still moves the last one: falling, it is forgotten.",
    "Sequences",
    has_gates,
    rank=7,
    leads=35,
    leads_for=is_to_remember,
)
class StateJacobian(StepByStep):
    """The largest singular value of dh(t)/dh(t-k) and the root mean square of all, on a logarithmic axis."""

    card_size = (340, 240)
    takes = "state_jacobian"

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.chart = Chart()
        self.chart.read = self._read
        stacked(self, self.chart)

    def _show(self, snapshot: Snapshot) -> None:
        facts = snapshot.extra
        with np.errstate(divide="ignore"):
            powers = np.log10(snapshot.array.astype(float))
        powers[~np.isfinite(powers)] = np.nan
        known = powers[np.isfinite(powers)]
        high = float(known.max()) if known.size else 0.0
        low = max(float(known.min()) if known.size else -1.0, high - DEEPEST)
        pad = 0.06 * max(1.0, high - low)
        lags = np.arange(powers.shape[1], dtype=float)
        ends = (0.0, float(max(1, len(lags) - 1)))
        legend = [Entry("largest", "accent"), Entry("root mean square", "convolution"), Entry("1", "faint")]
        frame = Frame(ends, (low - pad, high + pad), "lag k", "gain", False, "whole", "log", legend)
        layers = [
            Curve(np.array(ends), np.zeros(2), "faint", 1.2),
            Curve(lags, powers[1], "convolution", 1.8),
            Curve(lags, powers[0], "accent", 1.8),
        ]
        self.chart.show_layers(frame, layers)
        state = f"state of {facts['size']}"
        words = f"× {number(facts['rate'])} a step · {facts['mode']} · {state} · {of_example(facts)}"
        self.set_note(words)

    def _read(self, x: float, _y: float) -> str:
        if self._found is None:
            return ""
        lag = min(self._found.array.shape[1] - 1, max(0, round(x)))
        largest, mean = (number(float(value)) for value in self._found.array[:, lag])
        return f"{lag} steps earlier\nlargest {largest}\nroot mean square {mean}"

    def table(self) -> Table | None:
        if self._found is None:
            return None
        rows = [(lag, *pair) for lag, pair in enumerate(self._found.array.T.tolist())]
        return ("lag", "largest singular value", "root mean square"), rows


@view_kind(
    "recurrent-eigenvalues",
    "Eigenvalues",
    "What the layer multiplies its state by: inside the circle it forgets, near it it remembers.",
    "Sequences",
    has_gates,
    rank=8,
)
class Eigenvalues(StepByStep):
    """Eigenvalues of the recurrent weights, or of the last step's Jacobian, with the unit circle."""

    card_size = (280, 280)
    takes = "recurrent_eigenvalues"

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.part = choice("eigenvaluesOf", [("1st matrix", 0)], "Of which matrix", 124)
        self.part.activated.connect(self._ask_again)
        self.chart = Chart()
        self.chart.read = self._read
        stacked(self, self.chart)

    def _asked(self) -> tuple[int, ...]:
        return (int(self.part.currentData() or 0),)

    def _show(self, snapshot: Snapshot) -> None:
        facts, values = snapshot.extra, snapshot.array.astype(float)
        offer(self.part, [(name, place) for place, name in enumerate(facts["parts"])])
        self.part.setEnabled(len(facts["parts"]) > 1)
        reach = 1.1 * max(1.0, float(np.abs(values).max(initial=0.0)))
        frame = Frame((-reach, reach), (-reach, reach), "real part", "imaginary part", square=True)
        axis = np.array([-reach, reach])
        layers: list[Layer] = [
            Curve(axis, np.zeros(2), "line", 1.0),
            Curve(np.zeros(2), axis, "line", 1.0),
            Curve(CIRCLE.real, CIRCLE.imag, "dim", 1.4),
            Marks(values[:, 0], values[:, 1], "accent", size=6.0),
        ]
        self.chart.show_layers(frame, layers)
        radius, stretch = number(facts["radius"]), number(facts["stretch"])
        self.set_note(f"largest modulus {radius} · largest singular value {stretch} · {facts['mode']}")

    def _read(self, x: float, y: float) -> str:
        if self._found is None or not len(self._found.array):
            return ""
        values = self._found.array.astype(float)
        one = complex(*values[np.hypot(values[:, 0] - x, values[:, 1] - y).argmin()])
        size, angle = number(abs(one)), number(float(np.degrees(np.angle(one))))
        return f"nearest: {number(one.real)} {'+' if one.imag >= 0 else '-'} {number(abs(one.imag))}i\n" + (
            f"modulus {size}, angle {angle}°"
        )

    def controls(self) -> QWidget | None:
        return self.in_row(self.layer, self.part)

    def table(self) -> Table | None:
        if self._found is None:
            return None
        return ("real part", "imaginary part"), self._found.array.tolist()

    def state(self) -> dict[str, object]:
        return {**super().state(), "part": self.part.currentData()}

    def restore(self, state: Mapping[str, object]) -> None:
        super().restore(state)
        part = state.get("part")
        if isinstance(part, int):
            keep(self.part, part, f"matrix {part + 1}")
