"""Points that the user has drawn, as columns. Portable: exports carry this source."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.data.splits import split_columns, split_rows


def split_as_drawn(
    n: int, keys: Tensor | None, *, validation: float, test: float, seed: int
) -> dict[str, Tensor]:
    """Every class of `keys` alike in every split; a point stays in its split while others are added.

    The j-th point of a class goes by the fraction of (j + 1) · golden ratio, which fills 0..1 evenly.
    """
    classes = torch.zeros(n, dtype=torch.int64) if keys is None else keys
    place = torch.zeros(n, dtype=torch.float64)
    for one in sorted(set(classes.tolist())):
        at = classes == one
        turn = torch.arange(1, int(at.sum()) + 1, dtype=torch.float64)
        place[at] = (turn * 0.6180339887498949 + one * 0.5698402909980532 + seed * 0.7548776662466927) % 1
    rows = torch.arange(n)
    return {
        "train": rows[place >= test + validation],
        "validation": rows[(place >= test) & (place < test + validation)],
        "test": rows[place < test],
    }


def load_drawn(
    folder: Path,
    device: str,
    *,
    points: tuple[str, ...],
    values: bool = False,
    spare: int = 20,
    splitter: Callable[..., dict[str, Tensor]],
    **splitting: Any,
) -> dict[str, dict[str, Any]]:
    """Drawn points as {split: {"point": (N, 2), "label": (N,), "side": (N, 1) of -1 and 1}}.

    With `values` they are {split: {"x": (N, 1), "y": (N, 1)}}. `points` holds "x y class, x y class, ...".
    Fewer than `spare` points are all in each split. Errors: `ValueError` where there are none.
    """
    written = [point.split() for line in points for point in line.split(",")]
    if not written:
        raise ValueError("There are no points yet: draw some, or paste them.")
    table = torch.tensor([[float(word) for word in point] for point in written], dtype=torch.float64)
    label = table[:, 2].long()
    point = table[:, :2].float()
    if values:
        columns = {"x": point[:, :1], "y": point[:, 1:]}
    else:
        columns = {"point": point, "label": label, "side": torch.where(label[:, None] == 0, -1.0, 1.0)}
    if len(table) < spare:  # of so few, none can be held back
        rows = dict.fromkeys(("train", "validation", "test"), torch.arange(len(table)))
    else:
        classes = None if values else label
        rows = split_rows(
            len(table), classes, splitter, splitting, [columns["x" if values else "point"]], classes
        )
    return split_columns(columns, rows, device)
