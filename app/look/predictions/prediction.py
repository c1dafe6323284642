"""What the head that a node belongs to answers to the example."""

from __future__ import annotations

import numpy as np
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.charts.arrays.activations import example_words
from app.charts.bars import ROW, Bar, Bars
from app.charts.series import Line, SeriesPlot
from app.look.base import OneProbe, Subject, Table
from app.look.own import answer_units, follow_units, still_scaled
from app.look.registry import view_kind
from engine.feed.feed import Snapshot

MOST = 14


def belongs_to_a_head(subject: Subject) -> bool:
    """Whether the node is an output, compares a prediction with a target, or is what a loss looks at."""
    node_type = subject.type
    compares = node_type is not None and any(port.name == "prediction" for port in node_type.ports_in)
    if subject.kind in ("loss", "metric"):
        return compares and _has_a_head(subject)
    return subject.kind == "output" or _feeds_a_loss(subject)


def _has_a_head(subject: Subject) -> bool:
    """Whether some loss of the network looks at a prediction: what a metric alone measures has no head."""
    nodes = subject.workspace.document.project.graph.nodes.values()
    types = map(subject.workspace.type_of, nodes)
    return any(
        kind is not None and kind.kind == "loss" and any(port.name == "prediction" for port in kind.ports_in)
        for kind in types
    )


def _feeds_a_loss(subject: Subject) -> bool:
    workspace = subject.workspace
    graph = workspace.graph_around(subject.node_id)
    if graph is None:
        return False
    for link in graph.outgoing(subject.node_id):
        kind = workspace.catalogue.get(graph.nodes[link.target].type)
        if kind is not None and kind.kind == "loss" and link.target_port == "prediction":
            return True
    return False


@view_kind(
    "prediction",
    "Prediction",
    "The probability of each class for the example, the right one marked; or what is predicted and right.",
    "Answers",
    belongs_to_a_head,
    rank=2,
)
class Prediction(OneProbe):
    """A bar a class, or two lines where numbers are predicted."""

    card_size = (260, 220)
    takes = "predictions"

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.bars = Bars(unit="probability")
        self.bars.setObjectName("predictionBars")
        self.forecast = SeriesPlot(unit="example", legend=True)
        self.forecast.hide()
        follow_units(self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.bars)
        column.addWidget(self.forecast, 1)
        column.addStretch()

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        numbers = snapshot.extra.get("kind") == "values"
        self.bars.setVisible(not numbers)
        self.forecast.setVisible(numbers)
        if numbers:
            predicted, right = self._values(snapshot).T
            of, own = str(snapshot.extra.get("of", "")), answer_units(self.subject)
            lines = [Line("right", right, "dim"), Line("predicted", predicted, "accent")]
            self.forecast.show_lines(lines, unit=of or "example")
            name = own.name if own is not None else "scaled" if still_scaled(self.subject) else ""
            if of:
                name = f"{of}s of {example_words(snapshot)}"
            self.set_note(" · ".join(part for part in (name, "blue: predicted, grey: right") if part))
        else:
            self._show_bars(snapshot)

    def _show_bars(self, snapshot: Snapshot) -> None:
        most = max(1, min(MOST, self.height() // ROW))
        bars = prediction_bars(snapshot, most)
        self.bars.show_bars(bars, top=1.0)
        count = np.size(snapshot.array)
        more = count > len(bars)
        words = f"the likeliest {len(bars)} of {count}" if more else "probability of each class"
        places = snapshot.extra.get("places")
        self.set_note(f"{words}, the mean over {places:,} places" if places else words)

    def _values(self, snapshot: Snapshot) -> np.ndarray:
        """What is predicted and what is right `(n, 2)`, in the data's own units where they are known."""
        own = None if snapshot.extra.get("of") else answer_units(self.subject)
        return snapshot.array if own is None else own.first(snapshot.array)

    def table(self) -> Table | None:
        snapshot = self._found
        if snapshot is None:
            return None
        if snapshot.extra.get("kind") == "values":
            pairs = self._values(snapshot).tolist()
            of = str(snapshot.extra.get("of", "example"))
            return (of, "predicted", "right"), [(n + 1, *pair) for n, pair in enumerate(pairs)]
        bars = prediction_bars(snapshot, np.size(snapshot.array))
        rows = [(bar.name.removesuffix(" ✓"), bar.value, "right" if bar.note else "") for bar in bars]
        return ("class", "probability", ""), rows

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._found is not None and self._found.extra.get("kind") != "values":
            self._show_bars(self._found)


def prediction_bars(snapshot: Snapshot, most: int = MOST) -> list[Bar]:
    """One bar a class, the likeliest where there are more; the right class is green and said in words."""
    probabilities = np.asarray(snapshot.array, dtype=np.float64).reshape(-1)
    names = snapshot.extra.get("classes") or ()
    target = snapshot.extra.get("target")
    right = int(target) if isinstance(target, int) else -1
    best = int(probabilities.argmax()) if len(probabilities) else -1
    order = (
        list(range(len(probabilities)))
        if len(probabilities) <= most
        else np.argsort(-probabilities).tolist()[:most]
    )
    bars = []
    for index in order:
        name = str(names[index]) if len(names) == len(probabilities) else str(index)
        told = f"{name} ✓" if index == right else name
        note = "the right class" if index == right else ""
        role = "good" if index == right else "accent"
        bars.append(Bar(told, float(probabilities[index]), role, note, index == best))
    return bars
