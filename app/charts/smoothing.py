"""Exponential moving averages of long series, point by point and as points come."""

from __future__ import annotations

from math import nan

import numpy as np
from numpy.typing import NDArray

_BLOCK = 256  # a weight of .3 to the power of this is still a float64


class MovingAverage:
    """m ← w·m + (1 - w)·x, divided by 1 - w^n so that it begins at the first value and not at zero.

    Kingma and Ba, 2015, §3. What is not finite is passed over.
    """

    def __init__(self, weight: float) -> None:
        if not 0.3 <= weight < 1:
            raise ValueError(f"a moving average of weight {weight:g} is not offered")
        self.weight = weight
        self._mean = 0.0
        self._left = 1.0  # w^n, what is missing of the weights

    @property
    def value(self) -> float:
        """The average so far, NaN before the first finite value."""
        return self._mean / (1 - self._left) if self._left < 1 else nan

    def extend(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The averages after each value."""
        before, finite = self.value, np.isfinite(values)
        real = values[finite]
        means = np.empty(len(real) + 1)
        means[0] = before
        for start in range(0, len(real), _BLOCK):
            part = real[start : start + _BLOCK]
            powers = self.weight ** np.arange(1, len(part) + 1)
            sums = powers * (self._mean + (1 - self.weight) * np.cumsum(part / powers))
            left = powers * self._left
            means[start + 1 : start + 1 + len(part)] = sums / (1 - left)
            self._mean, self._left = float(sums[-1]), float(left[-1])
        found: NDArray[np.float64] = means[np.cumsum(finite)]
        return found

    def skip(self, mean: float, size: int) -> None:
        """Take in `size` values of which only the mean is known."""
        kept = self.weight**size
        self._mean, self._left = kept * self._mean + (1 - kept) * mean, self._left * kept
