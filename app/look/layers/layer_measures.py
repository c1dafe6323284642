"""The health of every layer at one glance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QWidget

from app.look.base import LiveView, Probes, Snapshots, Subject, Table
from app.look.controls import stacked
from app.look.layers.measures import Measure, Measures, fraction_words
from app.look.registry import view_kind
from app.workspace.open_document import SelectableDocument
from engine.feed.feed import Probe

NORMS, ACTIVITY = Probe("", "norms"), Probe("", "layer_activity")


def _ratio_word(value: float) -> str:
    return f"{value:.1f}"


MEASURES = (
    Measure("grad.", "length of the gradient", log=True),
    Measure("weights", "length of the weights", log=True),
    Measure("log upd.", "log₁₀ of one update's length over the weights'", word=_ratio_word),
    Measure("std", "standard deviation of its outputs", log=True),
    Measure("dead", "fraction of units that output 0 for every example", fraction=True, word=fraction_words),
    Measure(
        "satur.", "fraction of values at the ends of a sigmoid or tanh", fraction=True, word=fraction_words
    ),
)


def trains(subject: Subject) -> bool:
    """Whether the project has layers at all."""
    catalogue = subject.workspace.catalogue
    kinds = (catalogue.get(node.type) for node in subject.workspace.document.project.graph.nodes.values())
    return any(kind is not None and kind.kind == "layer" for kind in kinds)


def name_in(workspace: SelectableDocument, node_id: str) -> str:
    """What a node is called on the canvas."""
    node = workspace.node(node_id)
    kind = workspace.type_of(node) if node is not None else None
    return node_id if node is None else node.name or (kind.title if kind is not None else node.type)


@view_kind(
    "layer-measures",
    "Layers × measures",
    "Gradients, weights, updates, activity, dead and saturated units of all layers; click a row to go there.",
    "Curves",
    trains,
    rank=10,
    whole=True,
)
class LayerMeasures(LiveView):
    """Rows are layers in the order of the computation, columns are measures."""

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._nodes: tuple[str, ...] = ()
        self._values: NDArray[np.float64] = np.empty((0, len(MEASURES)))
        self.table_shown = Measures()
        stacked(self, self.table_shown)
        self.table_shown.cells.picked.connect(self._picked)
        subject.workspace.selected.connect(self._mark_selected)

    def probes(self) -> Probes:
        return frozenset({NORMS, ACTIVITY})

    def draw(self, found: Snapshots) -> None:
        rows: dict[str, NDArray[np.float64]] = {}
        activity, norms = found.get(ACTIVITY), found.get(NORMS)
        if activity is not None:
            for node_id, (_, std, dead, saturated) in zip(
                activity.extra["nodes"], activity.array.tolist(), strict=True
            ):
                rows[node_id] = np.array([np.nan, np.nan, np.nan, std, dead, saturated])
        if norms is not None:
            for node_id, (gradient, weight, update) in zip(
                norms.extra["nodes"], norms.array.tolist(), strict=True
            ):
                row = rows.setdefault(node_id, np.full(len(MEASURES), np.nan))
                ratio = np.log10(update / weight) if update > 0 and weight > 0 else np.nan
                row[:3] = gradient, weight, ratio
        self._nodes = tuple(rows)
        self._values = np.array(list(rows.values())) if rows else np.empty((0, len(MEASURES)))
        shown = [index for index in range(len(MEASURES)) if index < 5 or self._has(index)]
        workspace = self.subject.workspace
        names = [name_in(workspace, node_id) for node_id in self._nodes]
        self.table_shown.show_values(names, [MEASURES[index] for index in shown], self._values[:, shown])
        self._mark_selected(workspace.selection)
        examples = f", {activity.extra['rows']} examples" if activity is not None else ""
        self.set_note(f"{len(names)} layers{examples}")

    def _has(self, index: int) -> bool:
        return bool(np.isfinite(self._values[:, index]).any())

    def _picked(self, row: int) -> None:
        self.node_asked.emit(self._nodes[row])

    def _mark_selected(self, ids: tuple[str, ...]) -> None:
        chosen = ids[0] if len(ids) == 1 else ""
        self.table_shown.show_chosen(self._nodes.index(chosen) if chosen in self._nodes else -1)

    def table(self) -> Table | None:
        if not self._nodes:
            return None
        workspace = self.subject.workspace
        return ("layer", *(measure.about for measure in MEASURES)), [
            (name_in(workspace, node_id), *values)
            for node_id, values in zip(self._nodes, self._values.tolist(), strict=True)
        ]
