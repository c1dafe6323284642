"""The middle of the training panel: what one layer answers now, and how strongly each layer is taught."""

from __future__ import annotations

from math import isfinite, isnan

import numpy as np
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from app.charts.arrays.activations import Activations, example_words
from app.charts.bars import ROW, Bar, Bars
from app.charts.plot import percent
from app.widgets.labels import ElidedLabel, label
from app.workspace.open_document import TrainableDocument
from app.workspace.watching import Live, Probes
from engine.feed.feed import Feed, Probe, Snapshot

NORMS = Probe("", "norms")
VANISHED = 1e-4  # of the largest gradient norm
FALLEN = 0.8  # of the first losses: a run whose loss is below has learned something
SMALL_UPDATE, LARGE_UPDATE = 1e-5, 2e-2  # of the weights' norm, one update
REDRAW_MS = 250
AWAITED = "Activations appear when the network has been built."
FIRST_BATCHES = "Gradients appear with the first batches."
ROOM_FOR_BOTH, ROOM_FOR_WORDS = 170, 205  # pixels of height


class TrainingLayers(QWidget):
    """Activations of the selected node (or the first convolution) over the gradient norms of all layers."""

    def __init__(self, workspace: TrainableDocument, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("trainingLayers")
        self._workspace = workspace
        self._node_id = ""
        self._seen: dict[Probe, Snapshot] = {}
        self._generation = -1
        self._title = ElidedLabel("Activations", "heading")
        self._title.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._example = label("", "small")
        self.activations = Activations()
        self.activations.setObjectName("trainingActivations")
        self.activations.setMinimumHeight(48)
        self.norms = Bars()
        self.norms.setObjectName("gradientNorms")
        self.health = label("", "small", wrap=True)
        self.health.setObjectName("trainingHealth")
        self.health.setMinimumHeight(30)
        head = QHBoxLayout()
        head.setContentsMargins(0, 0, 0, 0)
        head.addWidget(self._title, 1)
        head.addWidget(self._example)
        scroll = QScrollArea()
        scroll.setAccessibleName("Gradient norm by layer")
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidgetResizable(True)
        scroll.setWidget(self.norms)
        scroll.setMinimumHeight(2 * ROW)
        self._scroll = scroll
        self.norms.setProperty("role", "page")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(head)
        column.addWidget(self.activations, 20)
        gap = QWidget()
        gap.setFixedHeight(8)
        column.addWidget(gap)
        norm_title = label("Gradient norm by layer", "heading")
        norm_title.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        norm_title.setToolTip("Length of the gradient of each layer's weights")
        column.addWidget(norm_title)
        column.addWidget(scroll, 30)
        column.addWidget(self.health)
        column.addStretch(1)
        self._above = (self._title, self._example, self.activations, gap)
        self._forget()
        self._live = Live(workspace, self, self._probes, self.refresh, REDRAW_MS)
        workspace.selected.connect(self._changed)
        workspace.changed.connect(self._changed)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In low panels the words go first, then the activations; they are in the views too."""
        height = event.size().height()
        self.health.setVisible(height >= ROOM_FOR_WORDS)
        for part in self._above:
            part.setVisible(height >= ROOM_FOR_BOTH)
        super().resizeEvent(event)

    @property
    def node_id(self) -> str:
        """Whose activations are shown."""
        return self._node_id

    def _changed(self, change: object = None) -> None:
        self._live.again()
        self._say_awaited()

    def _choose(self) -> None:
        chosen = self._node_to_show()
        node = self._workspace.node(chosen)
        self._title.setText(f"{node.name or node.type} · activations" if node is not None else "Activations")
        if chosen != self._node_id:
            self._node_id = chosen
            self._seen.pop(Probe(chosen, "activations"), None)
            self._example.setText("")
            self._say_awaited()

    def _say_awaited(self) -> None:
        """Say what is waited for where nothing is shown yet."""
        if Probe(self._node_id, "activations") not in self._seen:
            self.activations.say(AWAITED if self._node_id else "Select a layer to see what leaves it.")
        if NORMS not in self._seen:
            descends = self._workspace.document.project.plan.minimised
            self.norms.say(FIRST_BATCHES if descends else "This plan takes no gradients.")

    def _node_to_show(self) -> str:
        """The selected node; without one the first convolution, else the first layer with weights."""
        catalogue = self._workspace.catalogue
        graphs = [self._workspace.graph, *(graph for _, graph in self._workspace.document.project.graphs())]
        # Those on show come first.
        nodes = {node_id: node for graph in graphs for node_id, node in graph.nodes.items()}
        kinds = {node_id: catalogue.get(node.type) for node_id, node in nodes.items()}
        selection = self._workspace.selection
        if (
            len(selection) == 1
            and (kind := kinds.get(selection[0])) is not None
            and kind.kind in ("layer", "data")
        ):
            return selection[0]
        if self._node_id in kinds:
            return self._node_id
        for family in ("convolution", "recurrent", "dense"):
            for node_id, kind in kinds.items():
                if kind is not None and kind.family == family:
                    return node_id
        return ""

    def _probes(self) -> Probes:
        self._choose()
        return frozenset({NORMS, Probe(self._node_id, "activations")} if self._node_id else {NORMS})

    def refresh(self) -> None:
        """Draw what is new in the feed."""
        trainer = self._workspace.trainer
        if trainer is None:
            return
        if trainer.feed.generation != self._generation:  # what is drawn belongs to another run
            self._generation = trainer.feed.generation
            self._forget()
        shown = self._new(trainer.feed, Probe(self._node_id, "activations"))
        if shown is not None:
            self.activations.show_snapshot(shown)
            words = example_words(shown)
            if words != self._example.text():
                self._example.setText(words)
        norms = self._new(trainer.feed, NORMS)
        if norms is not None:
            self._show_norms(norms)

    def _forget(self) -> None:
        self._seen.clear()
        self._example.setText("")
        self._say_awaited()
        self.health.setText("")

    def _new(self, feed: Feed, probe: Probe) -> Snapshot | None:
        found = feed.latest(probe)
        if found is None or found is self._seen.get(probe):
            return None
        self._seen[probe] = found
        return found

    def _show_norms(self, snapshot: Snapshot) -> None:
        bars = []
        for node_id, (gradient, weight, update) in zip(
            snapshot.extra["nodes"], snapshot.array.tolist(), strict=True
        ):
            node = self._workspace.node(node_id)
            if node is None or (isnan(gradient) and update == 0):  # gone, or nothing trains it now
                continue
            note = f"weights {weight:.3g} long, one update {update:.3g}"
            bars.append(Bar(node.name or node.type, gradient, "good", note, node_id == self._node_id))
        self.norms.show_bars(bars)
        self._scroll.setMaximumHeight(max(2, len(bars)) * ROW)
        ends = trainer.feed.ends("train_loss") if (trainer := self._workspace.trainer) is not None else None
        words = health(bars, snapshot, learns=ends is not None and ends[1] < FALLEN * ends[0])
        if words != self.health.text():
            self.health.setText(words)


def health(bars: list[Bar], snapshot: Snapshot, *, learns: bool) -> str:
    """What gradients and updates are like, in one or two sentences; what to do is for advice.

    That the learning rate fits is said only of a run that `learns`.
    """
    values = snapshot.array
    if not len(values) or not bars:
        return ""
    finite = [bar for bar in bars if isfinite(bar.value)]
    if len(finite) < len(bars):
        sick = next(bar for bar in bars if not isfinite(bar.value))
        return f"{sick.name} has a gradient that is not finite."
    words = []
    largest, smallest = max(finite, key=_length), min(finite, key=_length)
    if smallest.value <= VANISHED * largest.value:
        words.append(f"The gradient of {smallest.name} is vanishingly small.")
    trained = values[np.isfinite(values[:, 0])]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = trained[:, 2] / trained[:, 1]
    ratios = ratios[np.isfinite(ratios)]
    if len(ratios):
        typical = float(np.median(ratios))
        verdict = ": the learning rate fits" if learns else ""
        if typical > LARGE_UPDATE:
            verdict = ", which is a lot"
        elif typical < SMALL_UPDATE:
            verdict = ", which is little"
        words.append(f"One update moves the weights by {percent(typical)} of their size{verdict}.")
    return " ".join(words)


def _length(bar: Bar) -> float:
    return bar.value
