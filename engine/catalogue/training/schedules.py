"""Learning-rate schedules: declarations, and for each the factor on the learning rate as Python.

The lines of that factor stand in the exported script, and `factor_curve` runs the same lines, so that a curve
can be drawn before anything is trained.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from engine.catalogue.params import param
from engine.catalogue.training.choosable import Choosable, chosen
from engine.document.plan import Choice

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WARM_UP = param(1.0, above=0, label="Warm-up", unit="epochs", doc="epochs until the full learning rate")
_WAVE = "(1 + math.cos(math.pi * done)) / 2"


@dataclass(frozen=True, slots=True)
class FactorCode:
    """What the learning rate is multiplied by, as the lines of a function `factor(step: int) -> float`.

    The lines of `before` stand in front of that function and see `steps_per_epoch` and `epochs`.
    """

    doc: str
    before: tuple[str, ...] = ()
    body: tuple[str, ...] = ()


class Schedule(Choosable):
    """Changes the learning rate while training goes on.

    `per_epoch`: stepped once an epoch, with the value called `monitor`, in place of after each batch.
    """

    per_epoch: ClassVar[bool] = False

    def code(self) -> FactorCode | None:
        """The factor as code; None where the rate stays, or depends on what training brings."""
        return None


def final_param(fraction: float = 0.0, at: str = "at the end") -> Any:
    """Declare where a schedule ends: `final: float = final_param()`."""
    doc = f"fraction of the learning rate left {at}"
    return param(fraction, minimum=0, maximum=1, label="Final fraction", doc=doc)


class Constant(Schedule):
    """Keeps the learning rate as it is."""

    formula = "η"


class Step(Schedule):
    """Multiplies the learning rate by a factor every few epochs."""

    formula = "η γ^⌊epoch / k⌋"
    every: int = param(10, minimum=1, unit="epochs", doc="epochs between two drops")
    factor: float = param(0.1, above=0, maximum=1, doc="what the learning rate is multiplied by at a drop")

    def code(self) -> FactorCode:
        doc = f"Times {self.factor:g} every {self.every} epochs; stepped after each batch."
        return FactorCode(doc, (), (f"return {self.factor!r} ** (step // ({self.every} * steps_per_epoch))",))


class Cosine(Schedule):
    """Lets the learning rate glide down to its end along half a cosine wave, over all epochs."""

    formula = "η (1 + cos πt/T) / 2"
    final: float = final_param()

    def code(self) -> FactorCode:
        return FactorCode(
            "Down along half a cosine wave; stepped after each batch.",
            ("total = max(1, epochs * steps_per_epoch)",),
            ("done = min(1.0, step / total)", f"return {_falling(self.final)}"),
        )


class WarmUp(Schedule):
    """Raises the learning rate evenly from near zero, then lets it glide down along half a cosine wave.

    It helps where the first batches make the loss jump (Goyal et al. 2017).
    """

    title = "Warm-up"
    formula = "η t/W, then η (1 + cos π(t−W)/(T−W)) / 2"
    epochs: float = WARM_UP
    final: float = final_param()

    def code(self) -> FactorCode:
        return FactorCode(
            f"Up evenly for {self.epochs:g} epochs, then down along half a cosine wave;"
            " stepped after each batch.",
            (
                f"warm = math.ceil({self.epochs!r} * steps_per_epoch)",
                "falling = max(1, epochs * steps_per_epoch - warm)",
            ),
            (
                "if step < warm:",
                "    return (step + 1) / warm",
                "done = min(1.0, (step - warm) / falling)",
                f"return {_falling(self.final)}",
            ),
        )


class InverseSqrt(Schedule):
    """Raises the learning rate evenly, then lets it fall as one over the root of the steps taken.

    The transformer's schedule (Vaswani et al. 2017).
    """

    title = "Inverse square root"
    formula = "η min(t/W, √(W/t))"
    epochs: float = WARM_UP

    def code(self) -> FactorCode:
        return FactorCode(
            f"Up evenly for {self.epochs:g} epochs, then down as 1/√step; stepped after each batch.",
            (f"warm = math.ceil({self.epochs!r} * steps_per_epoch)",),
            ("return min((step + 1) / warm, math.sqrt(warm / (step + 1)))",),
        )


class Exponential(Schedule):
    """Multiplies the learning rate by the same factor in each epoch, evenly over its batches."""

    formula = "η γ^epoch"
    factor: float = param(0.95, above=0, maximum=1, doc="what is left of the learning rate after an epoch")

    def code(self) -> FactorCode:
        doc = f"Times {self.factor:g} in each epoch; stepped after each batch."
        return FactorCode(doc, (), (f"return {self.factor!r} ** (step / steps_per_epoch)",))


class Linear(Schedule):
    """Lowers the learning rate evenly to a fraction of itself, where it stays."""

    formula = "η (1 − (1 − f) min(1, t/T))"
    final: float = final_param()
    until: float = param(
        1.0, above=0, maximum=1, label="Reached after", doc="fraction of all epochs after which it stays"
    )

    def code(self) -> FactorCode:
        whole = (
            "epochs * steps_per_epoch" if self.until == 1 else f"{self.until!r} * epochs * steps_per_epoch"
        )
        factor = "1 - done" if self.final == 0 else f"1 - {1 - self.final!r} * done"
        return FactorCode(
            "Down along a straight line; stepped after each batch.",
            (f"total = max(1, {whole})",),
            ("done = min(1.0, step / total)", f"return {factor}"),
        )


class Polynomial(Schedule):
    """Lowers the learning rate to zero along a power of the time left."""

    formula = "η (1 − t/T)^p"
    power: float = param(2.0, above=0, doc="1 is a straight line; larger falls sooner")

    def code(self) -> FactorCode:
        return FactorCode(
            f"Down to zero as the time left to the power of {self.power:g}; stepped after each batch.",
            ("total = max(1, epochs * steps_per_epoch)",),
            (f"return (1 - min(1.0, step / total)) ** {self.power!r}",),
        )


class OneCycle(Schedule):
    """Raises the learning rate along half a cosine wave, then lowers it to almost nothing (Smith 2018)."""

    title = "One cycle"
    formula = "up from f₀ η to η along a cosine, then down to f₁ η"
    rise: float = param(0.3, above=0, below=1, doc="fraction of all steps until the full learning rate")
    start: float = param(
        0.04, above=0, maximum=1, label="First fraction", doc="fraction of the learning rate at the start"
    )
    final: float = final_param(4e-6)

    def code(self) -> FactorCode:
        return FactorCode(
            "Up along half a cosine wave, then down along another; stepped after each batch.",
            (
                "last = max(2, epochs * steps_per_epoch) - 1",
                f"top = max(0.5, {self.rise!r} * (last + 1) - 1)",
            ),
            (
                "if step < top:",
                "    done = (1 - math.cos(math.pi * step / top)) / 2",
                f"    return {self.start!r} + {1 - self.start!r} * done",
                "done = min(1.0, (step - top) / (last - top))",
                f"return {_falling(self.final)}",
            ),
        )


class Restarts(Schedule):
    """Glides down along half a cosine wave, jumps back up and begins again (Loshchilov & Hutter 2017)."""

    title = "Warm restarts"
    formula = "η (1 + cos πt/T) / 2, t from 0 again after T; T grows"
    period: float = param(5.0, above=0, label="First wave", unit="epochs", doc="length of the first wave")
    growth: float = param(2.0, minimum=1, doc="each wave is as many times longer than the one before")
    final: float = final_param(at="before a restart")

    def code(self) -> FactorCode:
        return FactorCode(
            "Down along half a cosine wave, again and again; stepped after each batch.",
            (),
            (
                f"length = {self.period!r} * steps_per_epoch",
                "into = float(step)",
                "while into >= length:",
                f"    into, length = into - length, {self.growth!r} * length",
                "done = into / length",
                f"return {_falling(self.final)}",
            ),
        )


class CyclicTriangle(Schedule):
    """Lets the learning rate rise and fall along straight lines, again and again (Smith 2017)."""

    title = "Triangles"
    formula = "η (f + (1 − f) (1 − |2 t/T − 1|))"
    period: float = param(4.0, above=0, unit="epochs", doc="length of a rise and a fall")
    lowest: float = param(
        0.1, minimum=0, maximum=1, label="Lowest fraction", doc="fraction of the learning rate at the bottom"
    )
    shrink: float = param(1.0, above=0, maximum=1, doc="how high each peak is beside the one before")

    def code(self) -> FactorCode:
        height = "height = 1 - abs(2 * (step / length % 1) - 1)"
        if self.shrink != 1:
            height = f"height = {self.shrink!r} ** (step // length) * (1 - abs(2 * (step / length % 1) - 1))"
        return FactorCode(
            "Up and down along straight lines; stepped after each batch.",
            (f"length = {self.period!r} * steps_per_epoch",),
            (height, f"return {self.lowest!r} + {1 - self.lowest!r} * height"),
        )


class Plateau(Schedule):
    """Multiplies the learning rate by a factor when a value has stopped getting better."""

    formula = "η γ^(times that nothing got better)"
    per_epoch = True
    monitor: str = param("val_loss", label="Watch", doc="the value that must improve")
    better: str = param("lower", choices=("lower", "higher"), doc="which values are the better ones")
    factor: float = param(0.1, above=0, below=1, doc="what the learning rate is multiplied by")
    patience: int = param(5, minimum=0, unit="epochs", doc="epochs without a better value before a drop")


SCHEDULES: dict[str, type[Schedule]] = {
    found.__name__: found
    for found in (
        *(Constant, Step, Cosine, WarmUp, Linear, Exponential, Polynomial),
        *(InverseSqrt, OneCycle, Restarts, CyclicTriangle, Plateau),
    )
}


def make_schedule(choice: Choice) -> Schedule:
    """Return the schedule a plan names, its values checked. Raises ParamError."""
    return chosen(choice, SCHEDULES, "schedule")


def factor_curve(choice: Choice, steps_per_epoch: int, epochs: int) -> NDArray[np.float64]:
    """What the learning rate is multiplied by at each step, shape (steps_per_epoch * epochs,).

    It is 1 throughout for a schedule that depends on what training brings. Raises ParamError.
    """
    factor = factor_of(make_schedule(choice), steps_per_epoch, epochs)
    import numpy as np  # not with the declarations: the document reads those, and needs no numbers

    return np.array([factor(step) for step in range(steps_per_epoch * epochs)], dtype=np.float64)


def factor_of(schedule: Schedule, steps_per_epoch: int, epochs: int) -> Callable[[int], float]:
    """The function `factor(step)` that the exported script would define."""
    code = schedule.code()
    if code is None:
        return lambda step: 1.0
    lines = [*code.before, "def factor(step):", *(f"    {line}" for line in code.body)]
    names: dict[str, Any] = {"math": math, "steps_per_epoch": steps_per_epoch, "epochs": epochs}
    exec("\n".join(lines), names)
    found: Callable[[int], float] = names["factor"]
    return found


def _falling(final: float) -> str:
    """From 1 to `final` along half a cosine wave while `done` goes from 0 to 1."""
    return _WAVE if final == 0 else f"{final!r} + {1 - final!r} * {_WAVE}"
