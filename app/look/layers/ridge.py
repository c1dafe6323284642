"""How the spread of a node's numbers changes while it learns."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtWidgets import QWidget

from app.charts.histogram import Distribution
from app.charts.plot import number
from app.look.base import OneProbe, Subject, Table
from app.look.controls import stacked
from app.look.layers.histograms import PARTS, has_values
from app.look.layers.ridges import Ridge, Ridges
from app.look.registry import view_kind
from app.look.through_time import ThroughTime
from app.widgets.segments import Segments
from engine.feed.feed import Probe, Snapshot

MOST = 60
_UNITS = {
    "output_histogram": "value that leaves the node, 64 examples",
    "weights": "weight",
    "gradients": "gradient of a weight",
}
_ROLES = {what: role for what, _, role in PARTS}


@view_kind(
    "ridge",
    "Histograms through time",
    "How values, weights or gradients are spread, one line a moment: the newest in front, the oldest behind.",
    "Weights",
    has_values,
    rank=32,
)
class RidgeView(OneProbe):
    """Ridge lines of at most 60 moments of the run."""

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        weighty = subject.has_weights
        self._what = "weights" if weighty else "output_histogram"
        self._choice = Segments(
            [
                (what, title.lower(), f"How the node's {title.lower()} are spread")
                for what, title, _ in sorted(PARTS, key=lambda part: part[0] != "weights")
                if weighty or what == "output_histogram"
            ]
        )
        self._choice.setObjectName("ridgeOf")
        self._choice.chosen.connect(self._chosen)
        self._past = ThroughTime(Distribution.of_snapshot, MOST)
        self.ridges = Ridges()
        stacked(self, self.ridges)

    @property
    def _probe(self) -> Probe:
        return Probe(self.subject.node_id, self._what)

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        moments = self._past.until(self._probe, snapshot, self.history)
        rows = [Ridge(step, shown) for step, shown in moments]
        self.ridges.show_rows(rows, _ROLES[self._what], _UNITS[self._what])
        newest = rows[-1].shown
        self.set_note(f"mean {number(newest.mean)} · std {number(newest.std)} · height √fraction")

    def controls(self) -> QWidget | None:
        return self._choice if self.subject.has_weights else None

    def _chosen(self, what: str) -> None:
        self._what = what
        self.ridges.say("")
        self.needs_changed.emit()

    def table(self) -> Table | None:
        rows = [
            (row.step, float(low), float(high), float(count))
            for row in self.ridges.rows
            for low, high, count in zip(
                row.shown.edges[:-1], row.shown.edges[1:], row.shown.counts, strict=True
            )
        ]
        return (("step", "from", "to", "count"), rows) if rows else None

    def state(self) -> dict[str, object]:
        return {"of": self._what}

    def restore(self, state: Mapping[str, object]) -> None:
        self._choice.choose(str(state.get("of", self._what)))
