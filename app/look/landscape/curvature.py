"""How sharply the loss bends at the weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from PySide6.QtWidgets import QWidget

from app.charts.plot import number
from app.charts.points_over import PointsOver
from app.look.base import OneProbe, Subject, Table
from app.look.controls import button, choice, choose, stacked
from app.look.landscape.loss_surface import has_loss
from app.look.registry import view_kind
from app.look.shown import split_words
from engine.feed.feed import Probe, Snapshot

SHARPNESS, JACOBIAN = Probe("", "sharpness"), Probe("", "jacobian_spectrum")
SHOWN = (("Sharpness", "sharpness"), ("Hessian", "hessian"), ("Jacobian", "jacobian"))


@view_kind(
    "curvature",
    "Curvature",
    "The largest eigenvalue of the loss's Hessian beside 2 / learning rate, or all of them for a small net.",
    "Model",
    has_loss,
    rank=66,
    whole=True,
)
class Curvature(OneProbe):
    """Sharpness over the steps, the spectrum of the Hessian, or that of the answer by the input."""

    card_size = (340, 240)

    def __init__(self, subject: Subject, parent: QWidget | None = None) -> None:
        super().__init__(subject, parent)
        self.plot = PointsOver()
        self.shown = choice("curvatureShown", SHOWN, "What is shown", 116)
        self.again = button("curvatureAgain", "Again", "Compute the Hessian at the current weights")
        self.again.setEnabled(False)
        self.shown.activated.connect(self._chosen)
        self.again.clicked.connect(self._once_more)
        stacked(self, self.plot)

    @property
    def _probe(self) -> Probe:
        shown = self.shown.currentData()
        if shown == "hessian":
            return Probe("", "hessian_spectrum", (self._tries,))
        return JACOBIAN if shown == "jacobian" else SHARPNESS

    def draw_snapshot(self, snapshot: Snapshot) -> None:
        if self._probe == SHARPNESS:
            self._draw_sharpness(snapshot)
        else:
            self._draw_spectrum(snapshot)

    def _draw_sharpness(self, snapshot: Snapshot) -> None:
        steps, values = snapshot.array[:, 0], snapshot.array[:, 1]
        rate = self._rate()
        levels = [] if not rate else [(2 / rate, f"2 / learning rate = {number(2 / rate)}")]
        positive = bool((values > 0).any())
        self.plot.show_values(
            steps, values, ("step", "largest eigenvalue of the Hessian"), levels=levels, log=positive
        )
        words = f"{number(float(values[-1]))} on {snapshot.extra['rows']:,} training examples"
        if rate:
            words += ": plain gradient descent is stable below the line"
        self.set_note(words)

    def _draw_spectrum(self, snapshot: Snapshot) -> None:
        values, facts = snapshot.array.astype(np.float64), snapshot.extra
        at = np.arange(1.0, len(values) + 1)
        if "shape" in facts:
            outputs, inputs = facts["shape"]
            names = ("direction", "singular value")
            split = split_words(facts)
            note = f"{outputs:,} answers by {inputs:,} inputs · {split} example {facts['example'] + 1:,}"
        else:
            names = ("direction", "size of the eigenvalue (rings: below zero)")
            below = int((values < 0).sum())
            note = (
                f"{len(values):,} eigenvalues · {below:,} below zero · {facts['rows']:,} training examples"
                f" · step {snapshot.step:,}"
            )
        rate = self._rate() if "shape" not in facts else None
        reach = float(np.abs(values).max(initial=0.0))
        levels = [(2 / rate, "2 / learning rate")] if rate and 2 / rate <= 3 * reach else []
        self.plot.show_values(
            at, values, names, style="dots", levels=levels, noun="direction", log="shape" not in facts
        )
        self.set_note(note)

    def _rate(self) -> float | None:
        trainer = self.subject.workspace.trainer
        rate = trainer.feed.last("lr") if trainer is not None else None
        return rate if rate and rate > 0 else None

    def controls(self) -> QWidget | None:
        return self.in_row(self.shown, self.again)

    def table(self) -> Table | None:
        values: Any = self.plot.values
        if not len(values):
            return None
        return ("place", "value"), list(enumerate(values.tolist(), start=1))

    def state(self) -> dict[str, object]:
        return {"shown": self.shown.currentData()}

    def restore(self, state: Mapping[str, object]) -> None:
        choose(self.shown, state.get("shown"))
        self._chosen(0)

    def _chosen(self, _index: int) -> None:
        self.again.setEnabled(self.shown.currentData() == "hessian")
        self.needs_changed.emit()
