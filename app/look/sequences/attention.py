"""Where a layer looks: maps and lines of attention, alignments, positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.charts.arrays.matrix import Matrix
from app.charts.plot import number
from app.look.base import OneProbe, Subject, Table
from app.look.controls import beside, choice, choose, keep, offer, stacked
from app.look.registry import view_kind
from app.look.sequences.attention_lines import AttentionArcs
from app.look.sequences.attention_map import AttentionMap
from app.look.shown import gives, of_example
from engine.feed.feed import Probe, Snapshot

MEAN = -2
ALL = -1
BESIDE = 380  # pixels of width from which two matrices stand beside each other


def attends(subject: Subject) -> bool:
    """Whether the node's layer attends."""
    return gives(subject, "attention", "MultiheadAttention", "Transformer")


def has_positions(subject: Subject) -> bool:
    """Whether the node's layer has a table of positions."""
    return gives(subject, "positions")


class Attending(OneProbe):
    """What the views of attention have in common: the module of a layer that holds several, the head."""

    every_head: tuple[str, int] = ("all heads", ALL)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._module = choice("attentionModule", [("1st layer", 0)], "Which attention inside the layer", 104)
        self._head = choice("attentionHead", [self.every_head], "Which head", 104)
        self._module.activated.connect(self._ask_again)
        self._head.activated.connect(self.redraw)

    @property
    def _probe(self) -> Probe:
        return Probe(self.subject.node_id, "attention", (int(self._module.currentData() or 0),))

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        modules = snapshot.extra["modules"]
        offer(self._module, [(name or f"attention {n + 1}", n) for n, name in enumerate(modules)])
        self._module.setEnabled(len(modules) > 1)
        heads = len(snapshot.array)
        several = [self.every_head, ("mean", MEAN)] if heads > 1 else []
        offer(self._head, [*several, *((f"head {n + 1}", n) for n in range(heads))])
        self._show(snapshot)
        facts = snapshot.extra
        words = [f"{heads} heads" if heads > 1 else "1 head", of_example(facts)]
        if facts["block"] > 1:
            words.append(f"{facts['size'][0]} × {facts['size'][1]} tokens in blocks of {facts['block']}")
        if facts["barred"] is not None:
            words.append("hatched: barred by the mask")
        self.set_note(" · ".join(word for word in words if word))

    def _show(self, snapshot: Snapshot) -> None:
        raise NotImplementedError

    def _weights(self, snapshot: Snapshot) -> tuple[np.ndarray, list[int]]:
        """The weights of the chosen heads, and their numbers."""
        weights, head = snapshot.array.astype(np.float32), self._head.currentData()
        if head == MEAN:
            return weights.mean(axis=0, keepdims=True), [0]
        if isinstance(head, int) and 0 <= head < len(weights):
            return weights[head : head + 1], [head]
        return weights, list(range(len(weights)))

    def controls(self) -> QWidget | None:
        return self.in_row(self._module, self._head)

    def table(self) -> Table | None:
        if self._found is None:
            return None
        facts, weights = self._found.extra, self._found.array.astype(float)
        queries, keys = (
            names_of(facts["queries"], weights.shape[1]),
            names_of(facts["keys"], weights.shape[2]),
        )
        rows = [
            (head + 1, queries[query], keys[key], value)
            for (head, query, key), value in np.ndenumerate(weights.round(5))
        ]
        return ("head", "query", "key", "weight"), rows

    def state(self) -> dict[str, object]:
        return {"head": self._head.currentData(), "module": self._module.currentData()}

    def restore(self, state: Mapping[str, object]) -> None:
        for box, key in ((self._head, "head"), (self._module, "module")):
            value = state.get(key)
            if isinstance(value, int):
                keep(box, value, f"{key} {value + 1}")


def names_of(names: Sequence[str], count: int) -> Sequence[str]:
    """The tokens, or numbers in their place."""
    return names or tuple(str(index + 1) for index in range(count))


@view_kind(
    "attention-map",
    "Attention",
    "How much each token (row) attends to each other (column), head by head; a row sums to 1.",
    "Sequences",
    attends,
    rank=5,
)
class AttentionMaps(Attending):
    """A map a head; a click shows one alone, with its tokens."""

    card_size = (380, 300)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.map = AttentionMap()
        self.map.head_chosen.connect(self._clicked)
        stacked(self, self.map)

    def _show(self, snapshot: Snapshot) -> None:
        facts, mean = snapshot.extra, self._head.currentData() == MEAN
        weights = snapshot.array.astype(np.float32)
        shown = weights.mean(axis=0, keepdims=True) if mean else weights
        self.map.show_weights(
            shown,
            barred=facts["barred"],
            queries=facts["queries"],
            keys=facts["keys"],
            names=("mean of the heads",) if mean else (),
        )
        head = self._head.currentData()
        self.map.show_head(head if isinstance(head, int) and head >= 0 else ALL)

    def _clicked(self, head: int) -> None:
        choose(self._head, head)


@view_kind(
    "attention-arcs",
    "Attention lines",
    "Lines from each token on the left to those it attends to, wider for larger weights. Point at a token.",
    "Sequences",
    attends,
    rank=6,
)
class AttentionLines(Attending):
    """All heads in their colours, one, or their mean; the token under the pointer alone."""

    card_size = (300, 300)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.arcs = AttentionArcs()
        stacked(self, self.arcs)

    def _show(self, snapshot: Snapshot) -> None:
        weights, heads = self._weights(snapshot)
        self.arcs.show_weights(weights, snapshot.extra["queries"], snapshot.extra["keys"], heads)


@view_kind(
    "alignment",
    "Alignment",
    "For each output (row) its attention to the inputs (columns); a ring marks the strongest.",
    "Sequences",
    attends,
    rank=7,
)
class Alignment(Attending):
    """The mean of the heads, or one, with the strongest input of each output."""

    card_size = (340, 300)
    every_head = ("mean", MEAN)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.map = AttentionMap()
        stacked(self, self.map)

    def _show(self, snapshot: Snapshot) -> None:
        weights, heads = self._weights(snapshot)
        if len(heads) > 1:
            weights = weights.mean(axis=0, keepdims=True)
        facts = snapshot.extra
        mean = self._head.currentData() in (MEAN, None)
        self.map.show_weights(
            weights,
            barred=facts["barred"],
            queries=facts["queries"],
            keys=facts["keys"],
            marks=weights[0].argmax(axis=1),
            names=("mean of the heads",) if mean else (f"head {heads[0] + 1}",),
            axes=("output", "input"),
        )


@view_kind(
    "positional-encoding",
    "Positions",
    "The encoding of each position, and the cosine similarity of every two positions.",
    "Sequences",
    has_positions,
    rank=20,
)
class Positions(OneProbe):
    """Position by dimension; beside it the cosine of each two positions."""

    card_size = (420, 240)
    takes = "positions"

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.codes, self.likeness = Matrix(), Matrix()
        beside(self, (self.codes, 3), (self.likeness, 2))

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        likeness = snapshot.extra["likeness"]
        self.codes.show_matrix(
            snapshot.array, signed=True, captions=("position", "dimension"), tell=self._tell
        )
        self.likeness.show_matrix(
            likeness,
            signed=True,
            scale=(-1.0, 1.0),
            captions=("position", "cosine with position"),
            tell=self._tell_likeness,
        )
        length, size = snapshot.extra["size"]
        steps = np.linalg.norm(np.diff(snapshot.array, axis=0), axis=1) if length > 1 else np.zeros(1)
        self.set_note(f"{length:,} positions × {size:,} · mean step {number(float(steps.mean()))}")
        self._make_room()

    def _tell(self, position: int, dimension: int) -> str:
        assert self._found is not None
        value = number(float(self._found.array[position, dimension]))
        return f"position {position + 1}, dimension {dimension + 1}: {value}"

    def _tell_likeness(self, one: int, other: int) -> str:
        assert self._found is not None
        value = number(float(self._found.extra["likeness"][one, other]))
        return f"positions {one + 1} and {other + 1}: cosine {value}"

    def _make_room(self) -> None:
        self.likeness.setVisible(self.width() >= BESIDE)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()

    def table(self) -> Table | None:
        if self._found is None:
            return None
        rows = [(position + 1, *values) for position, values in enumerate(self._found.array.tolist())]
        return ("position", *(f"dimension {n + 1}" for n in range(self._found.array.shape[1]))), rows
