"""Lines of equal value through a grid of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# The sides of a cell: 0 between its corners (0, 0) and (0, 1), 1 right of that, 2 opposite, 3 left.
_CORNERS = (((0, 0), (0, 1)), ((0, 1), (1, 1)), ((1, 1), (1, 0)), ((1, 0), (0, 0)))
# For each pattern of corners above the level (bits: (0, 0), (0, 1), (1, 1), (1, 0)), the sides to join.
_JOINED: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((3, 0),),
    2: ((0, 1),),
    3: ((3, 1),),
    4: ((1, 2),),
    6: ((0, 2),),
    7: ((3, 2),),
    8: ((2, 3),),
    9: ((0, 2),),
    11: ((1, 2),),
    12: ((1, 3),),
    13: ((0, 1),),
    14: ((0, 3),),
}
_SADDLES = {5: (((3, 2), (0, 1)), ((3, 0), (1, 2))), 10: (((3, 0), (1, 2)), ((3, 2), (0, 1)))}


def level_lines(values: NDArray[Any], level: float) -> NDArray[np.float64]:
    """Where a grid `(h, w)` of values crosses a level, as pieces `(n, 2, 2)` of (x, y) in steps of the grid.

    Marching squares with straight lines between the points of the grid (Lorensen and Cline, 1987); at a
    saddle the mean of the four corners decides. Cells with a value that is not finite are left out.
    """
    found = np.asarray(values, np.float64) - level
    high, wide = found.shape
    corners = {
        (row, column): found[row : high - 1 + row, column : wide - 1 + column]
        for row in (0, 1)
        for column in (0, 1)
    }
    ring = [corners[at] for at in ((0, 0), (0, 1), (1, 1), (1, 0))]
    pattern = sum((corner >= 0).astype(np.uint8) << bit for bit, corner in enumerate(ring))
    pattern = np.where(np.isfinite(sum(ring)), pattern, 0)
    above = np.where(np.isfinite(sum(ring)), sum(ring), 0.0) >= 0
    pieces = []
    for bits, joined in _JOINED.items():
        pieces += [_pieces(corners, pattern == bits, pair) for pair in joined]
    for bits, (joined, apart) in _SADDLES.items():
        for pair in joined:
            pieces.append(_pieces(corners, (pattern == bits) & above, pair))
        for pair in apart:
            pieces.append(_pieces(corners, (pattern == bits) & ~above, pair))
    return np.concatenate(pieces) if pieces else np.empty((0, 2, 2))


def _pieces(
    corners: dict[tuple[int, int], NDArray[Any]], cells: NDArray[Any], sides: tuple[int, int]
) -> NDArray[np.float64]:
    """The piece from one side to another in each of the cells `(h-1, w-1)`."""
    rows, columns = np.nonzero(cells)
    ends = []
    for side in sides:
        (row_a, column_a), (row_b, column_b) = _CORNERS[side]
        one = corners[row_a, column_a][rows, columns]
        other = corners[row_b, column_b][rows, columns]
        fraction = one / (one - other)
        x = columns + column_a + fraction * (column_b - column_a)
        y = rows + row_a + fraction * (row_b - row_a)
        ends.append(np.stack([x, y], 1))
    return np.stack(ends, 1)
