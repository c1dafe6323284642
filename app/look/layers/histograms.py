"""How a node's values, weights and gradients are spread."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.charts.histogram import Distribution, Histogram
from app.look.base import LiveView, Probes, Snapshots, Subject, Table
from app.look.registry import view_kind
from app.widgets.labels import ElidedLabel, label
from engine.feed.feed import Probe

LOWEST = 50  # pixels of a histogram with its line of numbers
WIDE, LEAST = 1.7, 440  # width to height, and width, from which the histograms stand side by side
PARTS = (
    ("output_histogram", "Values", "accent"),
    ("weights", "Weights", "good"),
    ("gradients", "Gradients", "convolution"),
)
_WAITING = {"gradients": "with the first batches"}


def has_values(subject: Subject) -> bool:
    """Whether something leaves the node, so that there is something to count."""
    return subject.kind in ("layer", "data", "input")


@view_kind(
    "histograms",
    "Histograms",
    "How values, weights and gradients are spread; a spike at zero is a dead unit, a wide tail a warning.",
    "Weights",
    has_values,
    rank=5,
)
class Histograms(LiveView):
    """Up to three histograms, one below the other or side by side."""

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.histograms: dict[str, Histogram] = {}
        self._numbers: dict[str, ElidedLabel] = {}
        self._parts: list[tuple[str, QWidget]] = []
        self._box = QBoxLayout(QBoxLayout.Direction.TopToBottom, self)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.setSpacing(6)
        weighty = subject.has_weights
        for what, title, role in PARTS:
            if weighty or what == "output_histogram":
                part = self._part(what, title, role)
                self._parts.append((title.lower(), part))
                self._box.addWidget(part, 1)

    def _part(self, what: str, title: str, role: str) -> QWidget:
        part = QWidget()
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(1)
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(label(title, "small"))
        numbers = ElidedLabel("", "small")
        numbers.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        head.addWidget(numbers, 1)
        view = Histogram(role=role)
        view.setObjectName(f"histogram_{what}")
        view.say(_WAITING.get(what, ""))
        column.addLayout(head)
        column.addWidget(view, 1)
        self.histograms[what], self._numbers[what] = view, numbers
        return part

    def probes(self) -> Probes:
        return frozenset(Probe(self.subject.node_id, what) for what in self.histograms)

    def draw(self, found: Snapshots) -> None:
        for probe, snapshot in found.items():
            shown = Distribution.of_snapshot(snapshot)
            self.histograms[probe.what].show_distribution(shown)
            self._numbers[probe.what].setText(shown.sentence())

    def table(self) -> Table | None:
        rows = []
        for what, title, _ in PARTS:
            shown = self.histograms[what].distribution if what in self.histograms else None
            if shown is not None:
                edges = shown.edges.tolist()
                rows += [
                    (title.lower(), edges[index], edges[index + 1], count)
                    for index, count in enumerate(shown.counts.tolist())
                ]
        return (("of", "from", "to", "count"), rows) if rows else None

    def minimumSizeHint(self) -> QSize:
        return QSize(120, 80)

    def resizeEvent(self, event: QResizeEvent) -> None:
        roomy = self.width() > WIDE * self.height() and self.width() >= LEAST
        wide = roomy and len(self.histograms) > 1
        way = QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom
        if way != self._box.direction():
            self._box.setDirection(way)
            self._box.setSpacing(16 if wide else 6)
        self._show_what_fits(len(self._parts) if wide else max(1, self.height() // LOWEST))
        super().resizeEvent(event)

    def _show_what_fits(self, count: int) -> None:
        """Rather fewer histograms than ones too flat to be read."""
        for index, (_, part) in enumerate(self._parts):
            if part.isHidden() == (index < count):
                part.setVisible(index < count)
        hidden = [title for title, _ in self._parts[count:]]
        self.set_note(f"enlarge for {' and '.join(hidden)}" if hidden else "")
