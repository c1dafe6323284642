"""Drawings made fit for a model: the ink is brought to the size and the place that its data have."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

MNIST_SIDE, MNIST_BOX = 28, 20


def centred(ink: NDArray[Any], height: int, width: int, box: float, *, by_mass: bool) -> NDArray[np.float32]:
    """A drawing `(h, w)` of 0..1 as `(height, width)`: scaled to a box, centred by its mass or by its edges.

    The longer side of what is drawn becomes `box` pixels, and each pixel is the mean of what it covers. With
    a box of 20 in 28 by 28 and by mass, this is how MNIST was made (LeCun, Cortes and Burges, 1998).
    """
    rows, columns = np.nonzero(ink.max(axis=1) > 0)[0], np.nonzero(ink.max(axis=0) > 0)[0]
    if not len(rows):
        return np.zeros((height, width), np.float32)
    top, bottom, left, right = rows[0], rows[-1] + 1, columns[0], columns[-1] + 1
    scale = box / max(bottom - top, right - left)
    below, beyond = (height - scale * (bottom - top)) / 2, (width - scale * (right - left)) / 2
    if by_mass:
        # MNIST's digits have their mass on the pixel after the middle, moved there by whole pixels.
        total = ink.sum()
        mass_y = float((ink.sum(axis=1) * (np.arange(len(ink)) + 0.5)).sum() / total)
        mass_x = float((ink.sum(axis=0) * (np.arange(ink.shape[1]) + 0.5)).sum() / total)
        below = round((height + 1) / 2 - scale * (mass_y - top))
        beyond = round((width + 1) / 2 - scale * (mass_x - left))
    down = (np.arange(height + 1) - below) / scale + top
    across = (np.arange(width + 1) - beyond) / scale + left
    return _averaged(_averaged(ink.astype(np.float64), down).T, across).T.astype(np.float32)


def _averaged(values: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of rows `(h, w)` between edges `(n + 1,)`, given in rows; outside there is nothing."""
    sums = np.vstack([np.zeros(values.shape[1]), np.cumsum(values, axis=0)])
    inside = np.clip(edges, 0, len(values))
    whole = np.minimum(inside.astype(int), len(values) - 1)
    at = sums[whole] + (inside - whole)[:, None] * values[whole]
    found: NDArray[np.float64] = np.diff(at, axis=0) / np.diff(edges)[:, None]
    return found
