"""What a chain has drawn: weights from sample to sample, and how many independent draws they amount to."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QWidget

from app.charts.plot import number
from app.charts.series import Line, SeriesPlot
from app.look.base import OneProbe, Subject, Table
from app.look.controls import stacked
from app.look.registry import view_kind
from engine.document.plan import Chain
from engine.feed.feed import Probe, Snapshot

ROLES = ("accent", "convolution", "dense", "attention")


def draws(subject: Subject) -> bool:
    """Whether the plan draws weights by a chain."""
    return any(isinstance(one, Chain) for one in subject.workspace.document.project.plan.objectives)


@view_kind(
    "chain",
    "Chain of samples",
    "Single weights from sample to sample: a chain that mixes well wanders through its whole range, fast.",
    "Model",
    draws,
    rank=4,
    whole=True,
)
class ChainView(OneProbe):
    """One line a weight over the samples, and the number of independent samples below."""

    takes = Probe("", "chain")
    card_size = (420, 260)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.plot = SeriesPlot(unit="sample", legend=True)
        stacked(self, self.plot)

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        ways, facts = np.asarray(snapshot.array, np.float64), snapshot.extra
        named = zip(facts["names"], ways.T, ROLES, strict=False)
        self.plot.show_lines([Line(name, way, role) for name, way, role in named])
        words = f"{len(ways):,} samples · worth {number(min(facts['effective']))} independent"
        trainer = self.subject.workspace.trainer
        taken = trainer.feed.last("train_accepted") if trainer is not None else None
        self.set_note(words if taken is None else f"{words} · {100 * taken:.0f} % accepted")

    def table(self) -> Table | None:
        lines = self.plot.lines
        if not lines:
            return None
        rows = zip(*(line.values.tolist() for line in lines), strict=True)
        return ("sample", *(line.name for line in lines)), [(at, *row) for at, row in enumerate(rows)]
