"""Units that no longer do anything: always silent, or stuck at the end of their function."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from app.charts.bars import OF_UNITS, Bar, Bars
from app.charts.plot import percent
from app.look.base import OneProbe, Subject, Table
from app.look.controls import stacked
from app.look.layers.layer_measures import ACTIVITY, name_in, trains
from app.look.layers.unit_fractions import UnitFractions
from app.look.registry import view_kind
from engine.feed.feed import Snapshot

STUCK = 0.99  # fraction of its values at the ends of its function from which a unit is stuck
MOST_NAMED = 4


def has_units(subject: Subject) -> bool:
    """Whether the node is a layer whose answer has units."""
    shape = subject.shape_of()
    return subject.kind == "layer" and bool(shape)


@view_kind(
    "units",
    "Dead units",
    "How often each unit outputs 0 or saturates its sigmoid or tanh; units that always do are marked.",
    "Curves",
    has_units,
    rank=60,
)
class Units(OneProbe):
    """One bar a unit: the fraction of zeros, for a sigmoid or tanh of saturated values."""

    takes = "unit_activity"

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._array: NDArray[np.float64] = np.empty((0, 2))
        self.bars = UnitFractions()
        stacked(self, self.bars)

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        self._array = snapshot.array.astype(np.float64)
        saturating = bool(snapshot.extra["range"])
        fractions = self._array[:, int(saturating)]
        marked = fractions >= (STUCK if saturating else 1.0)
        what = "of its values saturated" if saturating else "of its values are 0"
        self.bars.show_fractions(fractions, marked, what)
        bad = np.flatnonzero(marked) + 1
        named = ", ".join(map(str, bad[:MOST_NAMED].tolist())) + (" …" if len(bad) > MOST_NAMED else "")
        word = "stuck" if saturating else "dead"
        told = f"{len(bad)} of {len(fractions):,} units {word}" + (f": {named}" if len(bad) else "")
        self.set_note(f"{told} · {snapshot.extra['rows']} examples")

    def table(self) -> Table | None:
        if not len(self._array):
            return None
        return ("unit", "fraction of zeros", "fraction saturated"), [
            (index + 1, *values) for index, values in enumerate(self._array.tolist())
        ]


@view_kind(
    "dead-layers",
    "Dead units by layer",
    "The fraction of each layer's units that output 0 for every example; above a few per cent it may matter.",
    "Curves",
    trains,
    rank=60,
    whole=True,
)
class DeadLayers(OneProbe):
    """One bar a layer."""

    takes = ACTIVITY

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self._rows: list[tuple[str, float, float]] = []
        self.bars = Bars(unit=OF_UNITS)
        self.bars.setProperty("role", "page")
        scroll = QScrollArea()
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidgetResizable(True)
        scroll.setWidget(self.bars)
        scroll.setAccessibleName("Dead units by layer")
        stacked(self, scroll)

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        workspace = self.subject.workspace
        self._rows = [
            (name_in(workspace, node_id), dead, saturated)
            for node_id, (_, _, dead, saturated) in zip(
                snapshot.extra["nodes"], snapshot.array.tolist(), strict=True
            )
        ]
        bars = []
        for name, dead, saturated in self._rows:
            note = f"{percent(saturated)} of values saturated" if saturated == saturated else ""
            bars.append(Bar(name, round(dead, 4), "warning" if dead else "good", note))
        self.bars.show_bars(bars, top=1.0)
        sick = sum(dead > 0 for _, dead, _ in self._rows)
        told = f"{sick} of {len(bars)} layers have dead units" if sick else "no layer has dead units"
        self.set_note(f"{told} · {snapshot.extra['rows']} examples")

    def table(self) -> Table | None:
        return (
            (("layer", "fraction of dead units", "fraction of saturated values"), self._rows)
            if self._rows
            else None
        )
