"""How the two players of a GAN stand, and what the generator makes."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.charts.arrays.tiles import Tiles
from app.charts.axes import robust_span
from app.charts.chart import Chart, Curve, Entry, Frame
from app.charts.colourmaps import GREY
from app.charts.plot import number
from app.look.base import OneProbe, Subject, Table
from app.look.registry import view_kind
from engine.feed.feed import Probe, Snapshot

PLAYERS = Probe("", "players")
LOSSES_FROM, SAMPLES_FROM = 200, 260  # pixels of height and width that leave room for them
COLUMNS = ("step", "D(x)", "D(G(z))", "discriminator loss", "generator loss")


def plays(subject: Subject) -> bool:
    """Whether the node belongs to a generator and a discriminator."""
    graph = subject.workspace.document.project.graph
    judges = [one for one, node in graph.nodes.items() if node.type == "DiscriminatorLoss"]
    if not judges or subject.node_id not in graph.nodes or subject.kind == "data":
        return False
    near = {*graph.descendants(subject.node_id), subject.node_id}
    return bool(near & set(judges)) or subject.kind in ("loss", "metric", "source")


@view_kind(
    "gan-monitor",
    "Two players",
    "The discriminator's output for real and generated examples: in balance both are 1/2. Losses below.",
    "Generation",
    plays,
    rank=3,
)
class TwoPlayers(OneProbe):
    """D(x) and D(G(z)) with the line at 1/2, both losses, and samples of draws that stay the same."""

    card_size = (420, 280)
    takes = PLAYERS

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.probabilities, self.losses = Chart(), Chart()
        self.samples = Tiles(table=GREY, noun="sample")
        self.probabilities.read = self._read
        self.losses.read = self._read
        charts = QVBoxLayout()
        charts.setSpacing(4)
        charts.addWidget(self.probabilities, 3)
        charts.addWidget(self.losses, 2)
        beside = QHBoxLayout(self)
        beside.setContentsMargins(0, 0, 0, 0)
        beside.setSpacing(10)
        beside.addLayout(charts, 3)
        beside.addWidget(self.samples, 2)

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        steps, real, made, judge, maker = snapshot.array.T
        ends = (float(steps[0]), float(steps[-1]) if len(steps) > 1 else float(steps[0]) + 1)
        both = np.array(ends)
        shown = [
            Curve(both, np.full(2, 0.5), "dim", 1.0, Qt.PenStyle.DotLine),
            *_curve(steps, real, "accent"),
            *_curve(steps, made, "convolution", Qt.PenStyle.DashLine),
        ]
        legend = [
            Entry("D(x), real", "accent"),
            Entry("D(G(z)), generated", "convolution", style=Qt.PenStyle.DashLine),
        ]
        x_name = "" if self._roomy else "step"
        self.probabilities.show_layers(
            Frame(ends, (-0.02, 1.02), x_name, "probability of real", y_scale="fraction", legend=legend),
            shown,
        )
        low, high = robust_span(np.concatenate([judge, maker])) or (0.0, 1.0)
        low, pad = min(0.0, low), 0.06 * (high - min(0.0, low)) or 0.1
        legend = [
            Entry("discriminator", "accent"),
            Entry("generator", "convolution", style=Qt.PenStyle.DashLine),
        ]
        self.losses.show_layers(
            Frame(ends, (low - pad, high + pad), "step", "loss", legend=legend),
            [*_curve(steps, judge, "accent"), *_curve(steps, maker, "convolution", Qt.PenStyle.DashLine)],
        )
        samples = snapshot.extra["samples"]
        if samples is not None and samples.ndim >= 3:
            self.samples.show_maps(samples if samples.ndim == 3 else samples.mean(axis=3))
        words = f"D(x) {real[-1]:.2f} · D(G(z)) {made[-1]:.2f}"
        self.set_note(f"{words} · balance at 0.5 · since step {steps[0]:,.0f}")
        self._make_room()

    def _read(self, x: float, y: float) -> str:
        if self._found is None:
            return ""
        row = self._found.array[int(np.abs(self._found.array[:, 0] - x).argmin())]
        told = [f"{name} {number(float(value))}" for name, value in zip(COLUMNS[1:], row[1:], strict=True)]
        return "\n".join([f"step {row[0]:,.0f}", *told])

    @property
    def _roomy(self) -> bool:
        return self.height() >= LOSSES_FROM

    def _make_room(self) -> None:
        samples = self._found.extra["samples"] if self._found is not None else None
        self.losses.setVisible(self._roomy)
        drawable = samples is not None and samples.ndim >= 3
        self.samples.setVisible(drawable and self.width() >= SAMPLES_FROM)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._found is not None:
            self.draw({PLAYERS: self._found})

    def table(self) -> Table | None:
        return None if self._found is None else (COLUMNS, self._found.array.tolist())


def _curve(
    x: np.ndarray, y: np.ndarray, colour: str, style: Qt.PenStyle = Qt.PenStyle.SolidLine
) -> list[Curve]:
    """A curve; a single point as a short dash."""
    if len(x) == 1:
        x, y = np.array([x[0], x[0] + 0.05]), np.array([y[0], y[0]])
    return [Curve(x, y, colour, 1.8, style)]
