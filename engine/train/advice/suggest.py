"""Numbers to put into advice: a learning rate, a batch size, a limit for gradients."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.train.loop import Run

_USUAL_RATE = {"adam": 0.001, "adamw": 0.001, "nadam": 0.001, "radam": 0.001, "adamax": 0.002}


def one_digit(value: float) -> float:
    """The value with one digit that counts, 1, 3 or a whole one: what the user would type."""
    if value <= 0 or not math.isfinite(value):
        return value
    power = math.floor(math.log10(value))
    return float(f"{round(value / 10**power)}e{power}")


def plainly(value: float) -> str:
    """A number in a sentence: 0.0123, 2.3, 1.2e+08."""
    return f"{value:.3g}"


def _usual(run: Run) -> float:
    return _USUAL_RATE.get(type(run.optimiser).__name__.lower(), 0.01)


def calmer_rate(run: Run) -> float:
    """A learning rate that is well below the present one, and never above what is usual."""
    rate = run.learning_rate
    usual = _usual(run)
    return usual if rate > 30 * usual else one_digit(rate * 0.3)


def is_slow(run: Run) -> bool:
    """Whether the learning rate is far below what is usual for the optimiser."""
    return 10 * run.learning_rate < _usual(run)


def livelier_rate(run: Run) -> float:
    """A learning rate above the present one; below it where that is far above what is usual."""
    rate, usual = run.learning_rate, _usual(run)
    if rate > 30 * usual:
        return usual
    return usual if is_slow(run) else one_digit(rate * 3)


def smaller_batch(batch: int) -> int:
    """Half the batch, as a power of two where it was one; the memory that a batch takes halves with it."""
    return max(1, batch // 2)


def gradient_limit(usual: float) -> float:
    """Where to clip gradients: somewhat above their usual size."""
    return one_digit(max(1e-6, 5 * usual))
