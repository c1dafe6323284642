"""How a beam search writes: the tree of the texts that it keeps and drops, step by step."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.charts.arrays.search_tree import Hypothesis, SearchTree, shown_token
from app.look.base import OneProbe, Subject, Table
from app.look.controls import Steps, choice, choose
from app.look.offered import known_offers
from app.look.registry import view_kind
from app.look.sequences.writing import writes_text
from app.widgets.labels import ElidedLabel, label
from engine.feed.feed import Probe, Snapshot
from engine.look.procedures import asked_for
from engine.procedures.declare import Offer

WIDTHS = (1, 2, 3, 4, 6, 8)
LENGTHS = (8, 16, 32, 64)


def searched(subject: Subject) -> Offer | None:
    """The procedure that writes by beam search at what the node predicts, None where there is none."""
    if not writes_text(subject):
        return None
    project, _ = subject.as_trained
    near = {subject.node_id, *(link.source for link in project.graph.incoming(subject.node_id))}
    return next(
        (
            one
            for one in known_offers(subject)
            if one.bound.node_id in near and any("beam" in spec.choices for spec in one.params)
        ),
        None,
    )


def searches_text(subject: Subject) -> bool:
    """Whether the node's answers are tokens that a beam search writes on with."""
    return searched(subject) is not None


@view_kind(
    "beam-search",
    "Beam search",
    "The likeliest texts side by side, token by token: which are kept, which are dropped, which one wins.",
    "Sequences",
    searches_text,
    rank=6,
)
class BeamSearch(OneProbe):
    """The tree, a slider over its steps, and the likeliest text so far."""

    card_size = (560, 320)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._offer = searched(subject)
        subject.workspace.inferred.connect(self._refresh)
        widths = [(f"{one} kept" if one > 1 else "1 kept: greedy", one) for one in WIDTHS]
        self.beams = choice("beamWidth", widths, "How many texts are kept at each step", 128)
        self.length = choice("beamLength", [(f"{one} tokens", one) for one in LENGTHS], "Length of the text")
        choose(self.beams, 4)
        choose(self.length, 16)
        for control in (self.beams, self.length):
            control.activated.connect(self._ask_again)
        self.steps = Steps("beamStep", "step", self)
        self.steps.moved.connect(self._moved)
        self.tree = SearchTree()
        self.likely, self.text = label("", "mono"), ElidedLabel("", "mono")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(self.steps.layout)
        column.addWidget(self.tree, 1)
        below = QHBoxLayout()
        below.setSpacing(8)
        below.addWidget(self.likely)
        below.addWidget(self.text, 1)
        below.addWidget(label("in a box: kept · dotted: dropped", "small"))
        column.addLayout(below)

    @property
    def _probe(self) -> Probe:
        if self._offer is None:
            return Probe("", "procedure")
        values = {"method": "beam", "width": self.beams.currentData(), "length": self.length.currentData()}
        return Probe("", "procedure", asked_for(self._offer, values, 0))

    def probes(self) -> frozenset[Probe]:
        return frozenset() if self._offer is None else frozenset({self._probe})

    def _refresh(self) -> None:
        """Ask for what the network has now."""
        before, self._offer = self._offer, searched(self.subject)
        if before != self._offer:
            self.needs_changed.emit()

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        self.steps.show(len(snapshot.extra["tree"]) - 1)
        self._show(snapshot)

    def _moved(self) -> None:
        if self._found is not None:
            self._show(self._found)

    def _show(self, snapshot: Snapshot) -> None:
        facts, at = snapshot.extra, self.steps.at
        self.tree.show_tree([[Hypothesis(*one) for one in level] for level in facts["tree"]], at)
        self.likely.setText(f"{facts['log_probabilities'][at]:.2f}")
        self.likely.setToolTip("Log-probability of the likeliest text so far, which stands beside it")
        self.text.setText(shown_token(facts["texts"][at]))
        split, (row, *_) = facts["split"], facts["rows"]
        self.set_note(f"numbers: log-probability · after {split} example {row + 1} · step {snapshot.step:,}")

    def controls(self) -> QWidget | None:
        return self.in_row(self.beams, self.length)

    def table(self) -> Table | None:
        if self._found is None:
            return None
        rows = [
            (step, number, parent, token, likely, kept)
            for step, level in enumerate(self._found.extra["tree"], 1)
            for number, (parent, token, likely, kept) in enumerate(level)
        ]
        return ("step", "number", "goes on", "token", "log-probability", "kept"), rows

    def state(self) -> dict[str, object]:
        return {"width": self.beams.currentData(), "length": self.length.currentData()}

    def restore(self, state: Mapping[str, object]) -> None:
        choose(self.beams, state.get("width"))
        choose(self.length, state.get("length"))
