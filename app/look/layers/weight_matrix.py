"""Every weight of a layer as a coloured cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from PySide6.QtWidgets import QWidget

from app.charts.arrays.matrix import Matrix
from app.charts.plot import number
from app.look.base import OneProbe, Subject, Table
from app.look.controls import choice, choose, offer, stacked
from app.look.layers.spectrum import has_matrix
from app.look.layers.weight_names import captions, cell_words, parameter_words
from app.look.registry import view_kind
from engine.feed.feed import Probe, Snapshot


@view_kind(
    "weight_matrix",
    "Weight matrix",
    "Each weight as a cell, red above zero and blue below; or how far each has moved since training began.",
    "Weights",
    has_matrix,
    rank=40,
)
class WeightMatrix(OneProbe):
    """One parameter of the node: rows are its outputs, columns what they are made of."""

    card_size = (320, 240)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._name = ""
        self._facts: Mapping[str, Any] = {}
        self.matrix = Matrix()
        self.parameter = choice("matrixParameter", (), "Which parameter")
        self.shown = choice(
            "matrixShown",
            (("Values", "values"), ("Change", "change")),
            "The weights, or how far they have moved since training began",
            84,
        )
        self.parameter.activated.connect(self._chosen)
        self.shown.activated.connect(self._chosen)
        stacked(self, self.matrix)

    @property
    def _probe(self) -> Probe:
        detail = [self._name] if self._name else []
        if self.shown.currentData() == "change":
            detail = [self._name, "change"]
        return Probe(self.subject.node_id, "weight_matrix", tuple(detail))

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        facts = self._facts = snapshot.extra
        offer(self.parameter, [(parameter_words(name), name) for name in facts["names"]])
        choose(self.parameter, facts["name"])
        self.matrix.show_matrix(
            snapshot.array,
            signed=True,
            captions=captions(facts["layer"], facts["name"], facts["shape"]),
            tell=self._tell,
        )
        self.set_note(self._words(facts))

    def controls(self) -> QWidget | None:
        return self.in_row(self.parameter, self.shown)

    def table(self) -> Table | None:
        values = self.matrix.values
        if values is None:
            return None
        places = [
            (row_index * self._facts["block"][0] + 1, column * self._facts["block"][1] + 1, float(value))
            for (row_index, column), value in np.ndenumerate(values)
        ]
        return ("row", "column", self._facts["name"]), places

    def state(self) -> dict[str, object]:
        return {"parameter": self._name, "shown": self.shown.currentData()}

    def restore(self, state: Mapping[str, object]) -> None:
        self._name = str(state.get("parameter") or "")
        choose(self.shown, state.get("shown"))
        self.needs_changed.emit()

    def _chosen(self, _index: int) -> None:
        self._name = str(self.parameter.currentData() or "")
        self.needs_changed.emit()

    def _words(self, facts: Mapping[str, Any]) -> str:
        words = [" × ".join(f"{size:,}" for size in facts["shape"])]
        if facts["since"] is not None:
            begin = facts["first_size"]
            moved = f"moved by {number(facts['size'])}"
            words.append(f"{moved}, {facts['size'] / begin:.0%} of the first length" if begin else moved)
            words.append(f"since step {facts['since']:,}")
        else:
            words.append(f"length {number(facts['size'])}")
        if facts["block"] != (1, 1):
            down, across = facts["block"]
            words.append(f"a cell is the mean of {down} × {across}")
        return " · ".join(words)

    def _tell(self, row_index: int, column: int) -> str:
        facts, values = self._facts, self.matrix.values
        assert values is not None
        down, across = facts["block"]
        words = cell_words(facts["layer"], facts["name"], facts["shape"], row_index * down, column * across)
        several = f"\nmean of {down} × {across} weights that begin there" if down * across > 1 else ""
        value = float(values[row_index, column])
        return f"{words}{several}\n{'change ' if facts['since'] is not None else ''}{value:.5g}"
