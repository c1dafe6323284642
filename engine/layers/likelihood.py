"""How likely a measurement is under the bell curve that a network gives. Portable: exports carry this."""

from __future__ import annotations

import math

from torch import Tensor


def gaussian_likelihood(mean: Tensor, log_variance: Tensor, target: Tensor, least: float = 1e-3) -> Tensor:
    """Half of v + (target - mean)² exp(-v), averaged; v is the log variance, at least log(`least`).

    The three have the same shape. Without the constant log(2 π) / 2.
    """
    v = log_variance.clamp(min=math.log(least))
    return ((v + (target - mean) ** 2 * (-v).exp()) / 2).mean()
