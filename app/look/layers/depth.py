"""Whether signals vanish or explode on their way through the layers, forward and backward."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QWidget

from app.charts.plot import number
from app.look.base import OneProbe, Subject, Table
from app.look.controls import stacked
from app.look.layers.depth_chart import Depth, Series
from app.look.layers.layer_measures import name_in, trains
from app.look.registry import view_kind
from engine.feed.feed import Probe, Snapshot

VARIANCE = Probe("", "depth_variance")
FAR = 1e3  # times as large, or as small, after all layers: too far


@view_kind(
    "depth",
    "Variance by depth",
    "The variance of values from layer to layer, and of gradients on their way back; level lines are good.",
    "Curves",
    trains,
    rank=20,
    whole=True,
)
class DepthView(OneProbe):
    """Variance of what leaves each layer, and of the gradient there."""

    takes = VARIANCE

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._nodes: tuple[str, ...] = ()
        self._values: NDArray[np.float64] = np.empty((0, 2))
        self.lines = Depth()
        stacked(self, self.lines)
        self.lines.picked.connect(self._picked)

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        self._nodes, self._values = snapshot.extra["nodes"], snapshot.array.astype(np.float64)
        names = [name_in(self.subject.workspace, node_id) for node_id in self._nodes]
        forward, backward = self._values.T
        self.lines.show_series(
            names,
            [
                Series("variance of values", forward, "accent"),
                Series("of gradients", backward, "convolution", "square"),
            ],
        )
        told = verdict(forward, backward * np.array(snapshot.extra["sizes"]))
        self.set_note(f"{told} · {snapshot.extra['rows']} examples")

    def _picked(self, layer: int) -> None:
        self.node_asked.emit(self._nodes[layer])

    def table(self) -> Table | None:
        if not self._nodes:
            return None
        workspace = self.subject.workspace
        return ("layer", "variance of values", "variance of gradients"), [
            (name_in(workspace, node_id), *values)
            for node_id, values in zip(self._nodes, self._values.tolist(), strict=True)
        ]


def verdict(forward: NDArray[np.float64], backward: NDArray[np.float64]) -> str:
    """What the lines say, in a few words: the growth over all layers, in the direction of travel.

    `forward` are variances; `backward` are squared lengths, so that layers of other sizes may be compared.
    """
    words = []
    for name, values, power in (("variance", forward, 1.0), ("gradient length", backward[::-1], 0.5)):
        if np.isinf(values).any():
            words.append(f"{name} explodes")
            continue
        known = values[np.isfinite(values)]
        if len(known) < 2:
            continue
        if known[0] <= 0 or known[-1] <= 0:
            words.append(f"{name}: 0 at the {'end' if known[-1] <= 0 else 'beginning'}")
            continue
        growth = float(known[-1] / known[0])
        verdict = ", explodes" if growth > FAR else ", vanishes" if growth < 1 / FAR else ""
        words.append(f"{name} ×{number(growth**power)}{verdict}")
    return " · ".join(words)
