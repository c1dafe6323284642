"""Steps along a line that make the loss fall enough and leave little of the slope (strong Wolfe)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from engine.optim.flat import flat, flat_gradient, put


class LinePoint:
    """A place on the line: how far along, the loss, its slope along the line, the gradient."""

    def __init__(self, length: float, value: float, slope: float, gradient: Tensor) -> None:
        self.length, self.value, self.slope, self.gradient = length, value, slope, gradient


def strong_wolfe(
    closure: Callable[[], Any],
    weights: list[Tensor],
    direction: Tensor,
    loss: float,
    gradient: Tensor,
    first: float,
    decrease: float = 1e-4,
    curvature: float = 0.9,
) -> tuple[float, Tensor]:
    """Search the line from where the weights are (Nocedal & Wright 2006, algorithms 3.5 and 3.6).

    `closure` computes the loss and goes backward. The weights end at the step found; returned are its length
    (0 where nothing was better) and the gradient there. An error in the closure changes no weight.
    """
    start = flat(weights)
    begin = LinePoint(0.0, loss, float(gradient.dot(direction)), gradient)

    def at(length: float) -> LinePoint:
        put(weights, start + length * direction)
        with torch.enable_grad():
            value = closure().item()
        found = flat_gradient(weights)
        slope = float(found.dot(direction))
        return LinePoint(length, value if math.isfinite(value + slope) else math.inf, slope, found)

    def too_high(point: LinePoint) -> bool:
        return point.value > loss + decrease * point.length * begin.slope or point.value >= low.value

    def flat_enough(point: LinePoint) -> bool:
        return abs(point.slope) <= -curvature * begin.slope

    low, high, length = begin, None, first
    try:
        for _ in range(25):
            point = at(length)
            if too_high(point):
                high = point
            elif flat_enough(point):
                low = point
                break
            elif (point.slope >= 0) if high is None else (point.slope * (high.length - low.length) >= 0):
                low, high = point, low
            else:
                further = min(max(lowest_of_cubic(low, point), 1.1 * length), 10 * length)
                low = point
            if high is None:
                length = further
            elif abs(high.length - low.length) * float(direction.abs().max()) < 1e-10:
                break
            else:
                length = lowest_between(low, high)
    finally:
        put(weights, start)
    put(weights, start + low.length * direction)
    return low.length, low.gradient


def lowest_between(low: LinePoint, high: LinePoint) -> float:
    """The next length to try between two points: away from both ends, the middle where one is no number."""
    width = high.length - low.length
    fraction = (lowest_of_cubic(low, high) - low.length) / width if math.isfinite(high.value) else 0.5
    return low.length + width * (min(max(fraction, 0.02), 0.98) if math.isfinite(fraction) else 0.5)


def lowest_of_cubic(one: LinePoint, other: LinePoint) -> float:
    """Where the cubic through two points with their slopes is lowest; infinity where it has no such place."""
    width = other.length - one.length
    middle = one.slope + other.slope - 3 * (one.value - other.value) / -width
    square = middle**2 - one.slope * other.slope
    if square < 0:
        return math.inf
    root = math.copysign(math.sqrt(square), width)
    below = other.slope - one.slope + 2 * root
    return other.length - width * (other.slope + root - middle) / below if below else math.inf
