"""Which tokens are likeliest to come next."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSlider, QVBoxLayout, QWidget

from app.charts.bars import ROW, Bar, Bars
from app.look.base import OneProbe, Subject, Table
from app.look.controls import choice, dial, keep, offer
from app.look.registry import view_kind
from app.look.shown import of_example
from app.widgets.labels import ElidedLabel, label
from engine.catalogue import Layer
from engine.feed.feed import Probe, Snapshot
from engine.shapes.heads import class_axis

MOST = 10
LAST = -1
WARMEST = 300  # hundredths


def reads_tokens(subject: Subject) -> bool:
    """Whether the loss that the node is, or gives scores to, compares classes with what comes next."""
    return _places(subject) is not None


def answers_at_places(subject: Subject) -> bool:
    """Whether there is an answer at each place of an example, not one class for all of it."""
    return bool(_places(subject))


def _places(subject: Subject) -> tuple[int, ...] | None:
    """The shape of what is to come next in an example; None where the node predicts no such thing."""
    project, book = subject.as_trained
    if book is None or subject.node_id not in project.graph.nodes:
        return None
    graph = project.graph
    losses = [subject.node_id, *(link.target for link in graph.outgoing(subject.node_id))]
    for loss in losses:
        made = book.types.get(loss)
        if made is None or made.kind != "loss":
            continue
        answer, target = graph.feeding(loss, "prediction"), graph.feeding(loss, "target")
        if answer is None or target is None or subject.node_id not in (loss, answer.source):
            continue
        before = book.types.get(target.source)
        if isinstance(before, Layer) and target.source_port in before.classes_of:
            continue  # what is hidden is asked for, not what comes next
        scores = book.signature(answer.source, answer.source_port)
        right = book.signature(target.source, target.source_port)
        if scores is None or right is None or right.dtype != "int64" or not scores.shape:
            continue
        fits = class_axis(scores.shape, right.shape) is not None and len(right.shape) <= 1
        if fits and (right.shape or _from_sequence(subject, answer.source)):
            return right.shape
    return None


def _from_sequence(subject: Subject, node_id: str) -> bool:
    book, graph = subject.workspace.shapes, subject.workspace.document.project.graph
    return book is not None and any(
        not found.rows and found.dtype == "int64" and len(found.shape) == 1
        for one in {node_id, *graph.ancestors(node_id)}
        for found in book.inputs(one).values()
    )


def probabilities_at(scores: np.ndarray, temperature: float) -> np.ndarray:
    """Softmax of scores (V,) over the temperature; all on the best at 0."""
    scaled = scores.astype(np.float64) / max(temperature, 1e-6)
    raised = np.exp(scaled - scaled.max())
    found: np.ndarray = raised / raised.sum()
    return found


def entropy(probabilities: np.ndarray) -> float:
    """In bits."""
    some = probabilities[probabilities > 0]
    return max(0.0, float(-(some * np.log2(some)).sum()))


@view_kind(
    "next-token",
    "Next token",
    "The ten likeliest tokens to come next, at a temperature that you choose; the right one marked.",
    "Sequences",
    reads_tokens,
    rank=5,
    leads=120,
    leads_for=answers_at_places,
)
class NextToken(OneProbe):
    """Bars of probabilities; the temperature is the view's own and changes nothing in the network."""

    card_size = (300, 280)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.place = choice("tokenPlace", [("last place", LAST)], "Which place of the sequence", 104)
        self.place.activated.connect(self._ask_again)
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setObjectName("tokenTemperature")
        self.slider.setRange(0, WARMEST)
        self.slider.setValue(100)
        self.slider.setToolTip("Scores are divided by this before the softmax, in this view only")
        self.slider.setAccessibleName("Temperature")
        self.slider.valueChanged.connect(self._warmed)
        self._value = label("1.00", "mono")
        self._value.setFixedWidth(36)
        self.context = ElidedLabel("", "small")
        self.bars = Bars(unit="probability")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(dial("temperature", self.slider, self._value))
        column.addWidget(self.context)
        column.addWidget(self.bars)
        column.addStretch()

    @property
    def _probe(self) -> Probe:
        place = self.place.currentData()
        return Probe(self.subject.node_id, "next_token", (int(LAST if place is None else place),))

    @property
    def temperature(self) -> float:
        """What scores are divided by."""
        return self.slider.value() / 100

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        places = snapshot.extra["places"]
        offer(self.place, [("last place", LAST), *((f"place {n + 1}", n) for n in range(places - 1))])
        self.place.setEnabled(places > 1)
        context = snapshot.extra["context"]
        self.context.setVisible(bool(context))
        self.context.setText(" ".join(context) + " …" if context else "")
        self._show(snapshot)

    def _ranked(self, snapshot: Snapshot) -> list[tuple[int, str, float]]:
        """Token, name and probability, the likeliest first."""
        probabilities = probabilities_at(snapshot.array, self.temperature)
        kept, names = snapshot.extra["kept"], snapshot.extra["names"]
        order = np.argsort(-snapshot.array, kind="stable")
        tokens = order if kept is None else kept[order]
        return [
            (token, names[token] if token < len(names) else str(token), float(probabilities[at]))
            for token, at in zip(tokens.tolist(), order.tolist(), strict=True)
        ]

    def _show(self, snapshot: Snapshot) -> None:
        room = self.height() - 28 - (20 if snapshot.extra["context"] else 0)
        most = max(1, min(MOST, room // ROW))
        target = snapshot.extra["target"]
        bars = [
            Bar(
                f"{name} ✓" if token == target else name,
                probability,
                "good" if token == target else "accent",
                "the right one" if token == target else "",
                place == 0,
            )
            for place, (token, name, probability) in enumerate(self._ranked(snapshot)[:most])
        ]
        self.bars.show_bars(bars, top=1.0)
        bits = entropy(probabilities_at(snapshot.array, self.temperature))
        of = snapshot.extra["of"]
        words = f"entropy {bits:.2f} of {np.log2(of):.2f} bits · {of:,} tokens"
        self.set_note(f"{words} · {of_example(snapshot.extra)}")

    def _warmed(self, value: int) -> None:
        self._value.setText(f"{value / 100:.2f}")
        if self._found is not None:
            self._show(self._found)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._found is not None:
            self._show(self._found)

    def controls(self) -> QWidget | None:
        return self.in_row(self.place)

    def table(self) -> Table | None:
        if self._found is None:
            return None
        return ("token", "name", "probability"), self._ranked(self._found)

    def state(self) -> dict[str, object]:
        return {"temperature": self.slider.value(), "place": self.place.currentData()}

    def restore(self, state: Mapping[str, object]) -> None:
        warmth, place = state.get("temperature"), state.get("place")
        if isinstance(warmth, int):
            self.slider.setValue(warmth)
        if isinstance(place, int):
            keep(self.place, place, f"place {place + 1}")
