"""A small plot of a learning-rate schedule: the rate from the first epoch to the last."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.charts.chart import Chart, Curve, Frame
from engine.catalogue.training.schedules import factor_of, make_schedule
from engine.document.plan import Choice
from engine.errors import ParamError

POINTS = 240
STEPS_PER_EPOCH = 64  # for the plot; a run has its own, and the curve hardly depends on them
MOST_EPOCHS = 1_000  # drawn of longer runs
HEIGHT = 132


class SchedulePlot(Chart):
    """Hidden for a rate that stays the same, and for one that depends on what training brings."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("schedulePlot")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.factors: tuple[float, ...] = ()
        self._shown: tuple[object, ...] = ()
        self.hide()

    def show_schedule(self, schedule: Choice, rate: object, epochs: int) -> None:
        """Draws the learning rate `rate` under a schedule over so many epochs."""
        known = (schedule, rate, epochs)
        if known == self._shown:
            return
        self._shown = known
        shown = min(epochs, MOST_EPOCHS)
        largest = float(rate) if isinstance(rate, (int, float)) and not isinstance(rate, bool) else 0.0
        self.factors = curve(schedule, shown)
        self.setVisible(bool(self.factors))
        if not self.factors:
            return
        rates = largest * np.array(self.factors)
        words = f"Learning rate from {rates[0]:.3g} at the start to {rates[-1]:.3g} after {shown:,} epochs"
        self.setAccessibleName(words)
        self.setToolTip(words)
        top = 1.05 * float(rates.max()) or 1.0
        frame = Frame((0.0, float(shown)), (0.0, top), "epoch", "learning rate", x_scale="whole")
        self.show_layers(frame, [Curve(np.linspace(0.0, shown, POINTS), rates)])

    def sizeHint(self) -> QSize:
        return QSize(200, HEIGHT)


def curve(schedule: Choice, epochs: int) -> tuple[float, ...]:
    """The factor on the learning rate at evenly spaced steps; nothing where there is nothing to draw."""
    try:
        made = make_schedule(schedule)
    except ParamError:
        return ()
    if made.code() is None:
        return ()
    last = epochs * STEPS_PER_EPOCH - 1
    factor = factor_of(made, STEPS_PER_EPOCH, epochs)
    return tuple(factor(round(last * at / (POINTS - 1))) for at in range(POINTS))
