"""Arrays as rows of a table, for a file of comma-separated values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from app.look.base import Table

_NAMES = {
    1: ("unit",),
    2: ("row", "column"),
    3: ("channel", "row", "column"),
    4: ("output", "input", "row", "column"),
}


def rows_of(array: np.ndarray, value: str = "value", names: Sequence[str] = ()) -> Table:
    """One row an element: its place, counted from 1, and its value. `names` are those of the axes."""
    axes = tuple(names) or _NAMES.get(array.ndim) or tuple(f"axis {n + 1}" for n in range(array.ndim))
    places = np.indices(array.shape).reshape(array.ndim, -1).T + 1
    values = array.reshape(-1).tolist()
    return (*axes, value), [(*place, number) for place, number in zip(places.tolist(), values, strict=True)]
