"""Gradients, weights and updates of every layer through the run."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.charts.curves import Curve, CurvePlot
from app.charts.legend import Legend
from app.charts.plot import number
from app.charts.track import Track
from app.look.base import LiveView, Probes, Snapshots, Subject, Table
from app.look.layers.layer_measures import NORMS, name_in, trains
from app.look.registry import view_kind
from app.look.through_time import ThroughTime
from app.widgets.segments import Segments
from engine.feed.feed import Snapshot
from engine.feed.series import POINT

MOST_MOMENTS = 400
MOST_LAYERS = 16
HEALTHY = 1e-3  # of the weights' length: what one update is, give or take, where the learning rate fits
_ROLES = ("accent", "convolution", "dense", "attention", "activation", "recurrent", "data", "loss")
KINDS = (
    (
        "ratio",
        "update : weights",
        "Length of one update over the length of the layer's weights; 0.001 is usual",
    ),
    ("gradient", "gradient", "Length of the gradient of the layer's weights"),
    ("update", "update", "Length of one update of the layer's weights"),
    ("weight", "weights", "Length of the layer's weights"),
)
_COLUMNS = {"gradient": 0, "weight": 1, "update": 2}

Moment = tuple[tuple[str, ...], NDArray[np.float64]]


def _moment(snapshot: Snapshot) -> Moment:
    return snapshot.extra["nodes"], snapshot.array


@view_kind(
    "layer-curves",
    "Layers through time",
    "Gradients and updates of each layer against the step; updates of a thousandth of the weights are usual.",
    "Curves",
    trains,
    rank=30,
    whole=True,
)
class LayerCurves(LiveView):
    """One curve a layer; of more than 16 layers evenly chosen ones."""

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.plot = CurvePlot()
        self.plot.set_axis("step")
        self._choice = Segments(KINDS)
        self._choice.setObjectName("layerCurvesOf")
        self._choice.chosen.connect(self._chosen)
        self._legend = Legend()
        self._past = ThroughTime(_moment, MOST_MOMENTS)
        self._moments: list[tuple[int, Moment]] = []
        self._tracks: dict[str, Track] = {}
        self._taken: list[int] = []  # the steps that the tracks hold
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self._legend)
        column.addWidget(self.plot, 1)

    def probes(self) -> Probes:
        return frozenset({NORMS})

    def draw(self, found: Snapshots) -> None:
        snapshot = found.get(NORMS)
        if snapshot is not None:
            self._moments = self._past.until(NORMS, snapshot, self.history)
            self._redraw()

    def _redraw(self) -> None:
        if not self._moments:
            return
        steps = [step for step, _ in self._moments]
        goes_on = self._taken == steps[: len(self._taken)]
        if not goes_on:
            self._tracks, self._taken = {}, []
        for step, (nodes, norms) in self._moments[len(self._taken) :]:
            for node_id, value in zip(nodes, _values(self._choice.key, norms).tolist(), strict=True):
                row = np.array([(step, 0.0, 0.0, value)], POINT)
                self._tracks.setdefault(node_id, Track()).extend(row)
        self._taken = steps
        self._show()

    def _show(self) -> None:
        newest_nodes, newest = self._moments[-1][1]
        known = [
            node_id for node_id in newest_nodes if not np.isnan(self._newest(node_id, newest_nodes, newest))
        ]
        picked = sorted({round(at) for at in np.linspace(0, len(known) - 1, min(len(known), MOST_LAYERS))})
        chosen = [known[index] for index in picked] if known else []
        curves, entries = [], []
        for index, node_id in enumerate(chosen):
            role, dashed = _ROLES[index % len(_ROLES)], index >= len(_ROLES)
            name = name_in(self.subject.workspace, node_id)
            curves.append(Curve(name, self._tracks[node_id], "line", role, dashed=dashed))
            entries.append((name, role, "dashed" if dashed else False))
        self._legend.show_entries(entries)
        self.plot.show_curves(curves)
        self.plot.set_level(HEALTHY if self._choice.key == "ratio" else None)
        self.plot.refresh()
        few = f"{len(chosen)} of {len(known)} layers" if len(chosen) < len(known) else f"{len(known)} layers"
        values = [self._newest(node_id, newest_nodes, newest) for node_id in known]
        spread = f" · {number(min(values))} to {number(max(values))} now" if values else ""
        self.set_note(few + spread)

    def _newest(self, node_id: str, nodes: tuple[str, ...], norms: NDArray[np.float64]) -> float:
        return float(_values(self._choice.key, norms)[nodes.index(node_id)])

    def controls(self) -> QWidget | None:
        return self._choice

    def _chosen(self, key: str) -> None:
        self._taken = [-1]  # other values: the tracks are filled again
        self.plot.follow()
        self._redraw()

    def table(self) -> Table | None:
        rows = [
            (step, name_in(self.subject.workspace, node_id), *norms[index].tolist())
            for step, (nodes, norms) in self._moments
            for index, node_id in enumerate(nodes)
        ]
        return (("step", "layer", "gradient", "weights", "update"), rows) if rows else None

    def state(self) -> dict[str, object]:
        return {"of": self._choice.key}

    def restore(self, state: Mapping[str, object]) -> None:
        self._choice.choose(str(state.get("of", "")))


def _values(key: str, norms: NDArray[np.float64]) -> NDArray[np.float64]:
    """One number a layer of norms `(layers, 3)`: gradient, weights, update."""
    if key != "ratio":
        found: NDArray[np.float64] = norms[:, _COLUMNS[key]]
        return found
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: NDArray[np.float64] = norms[:, 2] / norms[:, 1]
    ratio[np.isnan(norms[:, 0])] = np.nan  # nothing trains it now
    return ratio
