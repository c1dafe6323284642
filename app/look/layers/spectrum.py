"""The singular values of a layer's weights, the largest first."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from PySide6.QtWidgets import QWidget

from app.charts.plot import number
from app.look.base import OneProbe, Subject, Table
from app.look.controls import choice, choose, stacked
from app.look.layers.falling import Falling
from app.look.registry import view_kind
from engine.feed.feed import Snapshot


def has_matrix(subject: Subject) -> bool:
    """Whether the node learns weights."""
    return subject.kind == "layer" and subject.has_weights


@view_kind(
    "spectrum",
    "Singular values",
    "How strongly the layer stretches along each direction; few tall bars mean that few are used.",
    "Weights",
    has_matrix,
    rank=70,
)
class Spectrum(OneProbe):
    """One bar a singular value, those at the start as a line."""

    takes = "singular_values"

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.bars = Falling()
        self.axis = choice(
            "spectrumAxis", (("Linear", "linear"), ("Log", "log")), "The scale of the values", 84
        )
        self.axis.activated.connect(self._show)
        stacked(self, self.bars)

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        self._show()

    def controls(self) -> QWidget | None:
        return self.axis

    def table(self) -> Table | None:
        if self._found is None:
            return None
        header, first = ("direction", "singular value"), self._first().tolist()
        values = self._found.array.tolist()
        if not first:
            return header, list(enumerate(values, start=1))
        return (*header, "at the start"), [
            (index, *pair) for index, pair in enumerate(zip(values, first, strict=True), start=1)
        ]

    def state(self) -> dict[str, object]:
        return {"axis": self.axis.currentData()}

    def restore(self, state: Mapping[str, object]) -> None:
        choose(self.axis, state.get("axis"))
        self._show()

    def _first(self) -> np.ndarray:
        found = self._found.extra.get("first") if self._found is not None else None
        return np.empty(0) if found is None else np.asarray(found)

    def _show(self, _index: int = 0) -> None:
        if self._found is None:
            return
        facts = self._found.extra
        log = self.axis.currentData() == "log"
        names = ("direction", "singular value")
        self.bars.show_values(self._found.array, self._first(), names, "direction", log=log)
        words = f"largest {number(facts['largest'])} · effective rank {number(facts['rank'])}"
        if len(self._first()):
            words += f" · dashed: step {facts['since']:,}"
        self.set_note(words)
