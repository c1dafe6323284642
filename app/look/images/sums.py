"""What is computed at one place of a map that a window makes: numbers under it, products, their sum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.look.images.window_steps import Window

Map = NDArray[np.floating]
POOLS: dict[str, Callable[[Map], Any]] = {"max": np.nanmax, "min": np.nanmin, "mean": np.nanmean}
NAMED = {"max": "largest", "min": "smallest", "mean": "mean", "Lp": "root of the sum of powers"}


@dataclass(frozen=True)
class Field:
    """The `image` `(H, W)` or `(H, W, 3)` of the data, and which of its rows and columns each place sees."""

    image: Map
    rows: NDArray[np.bool_]
    columns: NDArray[np.bool_]

    def box(self, row: int, column: int) -> tuple[int, int, int, int]:
        """Top, left, bottom and right of what a place of the map sees, ends not included."""
        down = np.flatnonzero(self.rows[min(row, len(self.rows) - 1)])
        across = np.flatnonzero(self.columns[min(column, len(self.columns) - 1)])
        if not len(down) or not len(across):
            return 0, 0, 0, 0
        return int(down[0]), int(across[0]), int(down[-1]) + 1, int(across[-1]) + 1


@dataclass(frozen=True)
class Stepped:
    """One channel `x` `(H, W)` and what a node makes of it: `made` `(h, w)`.

    For a convolution its `kernel`, of all places or `(h, w, ...)` one for each, and `others` `(h, w)`, what
    the remaining channels add to each sum; a pool (`kind` "max", "min", "mean" or "Lp", with its `power`) has
    neither. `framed` is the channel with its padding where that is no zeros. `image`: the channel is of the
    data, not of a layer.
    """

    kind: str
    x: Map
    made: Map
    window: Window
    kernel: Map | None = None
    others: Map | None = None
    bias: float | Map = 0.0
    activation: str = "none"
    channels: int = 1
    image: bool = False
    framed: Map | None = None
    power: float = 1.0
    with_bias: bool = True

    def kernel_at(self, row: int, column: int) -> Map | None:
        """The kernel of a place of the map."""
        return self.kernel[row, column] if self.kernel is not None and self.kernel.ndim == 4 else self.kernel


class Sums(NamedTuple):
    """The numbers at one place: NaN in `under` is a cell that is not there."""

    under: Map
    products: Map
    own: float
    others: float
    bias: float
    total: float
    made: float


def sums_at(found: Stepped, row: int, column: int) -> Sums:
    """What is computed at one place of the map that comes out."""
    rows, columns = found.window.rows(row), found.window.columns(column)
    outside = 0.0 if found.kernel is not None else np.nan
    under = np.full((len(rows), len(columns)), outside)
    top, left = found.window.before
    for i, y in enumerate(rows):
        for j, x in enumerate(columns):
            if found.framed is not None:
                under[i, j] = found.framed[y + top, x + left]
            elif 0 <= y < found.x.shape[0] and 0 <= x < found.x.shape[1]:
                under[i, j] = found.x[y, x]
    made = float(found.made[row, column])
    kernel = found.kernel_at(row, column)
    if kernel is None:
        own = _pooled(under, found)
        return Sums(under, under, own, 0.0, 0.0, own, made)
    products = under * kernel
    own = float(products.sum())
    others = float(found.others[row, column]) if found.others is not None else 0.0
    bias = found.bias if isinstance(found.bias, float | int) else float(found.bias[row, column])
    return Sums(under, products, own, others, bias, own + others + bias, made)


def _pooled(under: Map, found: Stepped) -> float:
    """What a pool makes of the numbers under its window."""
    if found.kind in POOLS:
        return float(POOLS[found.kind](under))
    return float(np.nansum(np.abs(under) ** found.power) ** (1 / found.power))


def size_words(found: Stepped, axis: int) -> str:
    """The size that comes out along an axis, with its numbers."""
    at, size = found.window, found.x.shape[axis]
    before, behind = at.before[axis], at.behind[axis]
    padded = f"2·{before}" if before == behind else f"{before} + {behind}"
    reach = f"{at.dilation[axis]}·({at.kernel[axis]} - 1)"
    made = found.made.shape[axis]
    return f"⌊({size} + {padded} - {reach} - 1) / {at.stride[axis]}⌋ + 1 = {made}"
