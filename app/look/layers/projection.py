"""What a layer makes of many examples, seen in the plane."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

import numpy as np
from PySide6.QtWidgets import QWidget

from app.charts.plot import percent
from app.charts.scatter import Scatter
from app.look.base import LiveView, Probes, Snapshots, Subject, Table
from app.look.controls import button, choice, choose, stacked
from app.look.registry import view_kind
from app.look.shown import split_words
from engine.feed.feed import Probe, Snapshot

METHODS = (("PCA", "PCA"), ("t-SNE", "t-SNE"), ("UMAP", "UMAP"))
ROWS = (("300", 300), ("400", 400), ("1,000", 1000))


def gives_numbers(subject: Subject) -> bool:
    """Whether what leaves the node can be seen as points."""
    shape = subject.shape_of()
    return subject.kind in ("layer", "data", "input") and bool(shape) and subject.rows_apart


@view_kind(
    "projection",
    "Projection",
    "Many examples as points, close together where the layer's outputs are similar. Hover to see one.",
    "Weights",
    gives_numbers,
    rank=45,
)
class Projection(LiveView):
    """The two principal components live; t-SNE and UMAP when asked for."""

    card_size = (340, 260)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.scatter = Scatter()
        methods = METHODS if find_spec("umap") is not None else METHODS[:2]
        self.method = choice("projectionMethod", methods, "How the plane is found", 76)
        self.rows = choice("projectionRows", ROWS, "How many examples", 72)
        choose(self.rows, 400)
        self.again = button(
            "projectionAgain", "Again", "Compute the projection again with the current weights"
        )
        self.again.setEnabled(False)
        self.method.activated.connect(self._chosen)
        self.rows.activated.connect(self._chosen)
        self.again.clicked.connect(self._once_more)
        stacked(self, self.scatter)

    def probes(self) -> Probes:
        return frozenset({self._probe, self._examples})

    @property
    def _probe(self) -> Probe:
        rows = int(self.rows.currentData())
        if self.method.currentData() == "PCA":
            return Probe(self.subject.node_id, "projection", (rows,))
        return Probe(self.subject.node_id, "embedding", (rows, str(self.method.currentData()), self._tries))

    @property
    def _examples(self) -> Probe:
        return Probe(self.subject.node_id, "example_pictures", (int(self.rows.currentData()),))

    def essential(self) -> Probes:
        return frozenset({self._probe})

    def draw(self, found: Snapshots) -> None:
        examples = found.get(self._examples)
        self.scatter.show_examples(None if examples is None else examples.array)
        snapshot = found.get(self._probe)
        if snapshot is None:
            self.scatter.say("It appears in a moment.")
            self.set_note("")
            return
        facts = snapshot.extra
        if "method" in facts:
            names = (f"{facts['method']} 1", f"{facts['method']} 2")
        else:
            one, other = facts["shares"]
            names = (f"component 1 · {percent(one)}", f"component 2 · {percent(other)}")
        points = snapshot.array
        self.scatter.show_points(points[:, :2], points[:, 2], facts["classes"], facts["label"], names)
        self.set_note(self._words(snapshot))

    def _words(self, snapshot: Snapshot) -> str:
        facts = snapshot.extra
        split = split_words(facts)
        words = [f"{len(snapshot.array):,} {split} examples of {facts['features']:,} values"]
        if "method" in facts:
            words.append(f"{facts['method']}, step {snapshot.step:,}: only nearness has a meaning")
        else:
            words.append(f"{percent(sum(facts['shares']))} of the variance")
        return " · ".join(words)

    def controls(self) -> QWidget | None:
        return self.in_row(self.method, self.rows, self.again)

    def table(self) -> Table | None:
        if not len(self.scatter.points):
            return None
        labels = self.scatter.labels.tolist()
        points = self.scatter.points.tolist()
        rows = [(n + 1, x, y, label) for n, ((x, y), label) in enumerate(zip(points, labels, strict=True))]
        return ("example", "x", "y", "label"), rows

    def state(self) -> dict[str, object]:
        return {"method": self.method.currentData(), "rows": self.rows.currentData()}

    def restore(self, state: Mapping[str, object]) -> None:
        choose(self.method, state.get("method"))
        choose(self.rows, state.get("rows"))
        self._chosen(0)

    def _chosen(self, _index: int) -> None:
        self.again.setEnabled(self.method.currentData() != "PCA")
        self.scatter.show_points(np.empty((0, 2)), np.empty(0), (), "", ("", ""))
        self.needs_changed.emit()
