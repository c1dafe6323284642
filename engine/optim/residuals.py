"""The single errors behind a mean squared error, for optimisers that use more of them than their sum."""

from __future__ import annotations

import math

from torch import Tensor


def residuals(prediction: Tensor, target: Tensor) -> Tensor:
    """All errors in one vector, scaled so that the sum of their squares is the mean squared error."""
    errors = (prediction - target).flatten()
    return errors / math.sqrt(errors.numel())
