"""What the data panel shows: counts, ranges and examples, as plain numbers and numpy arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from engine.shapes.heads import UNCOUNTED

MOST_READ = 256  # rows of a column that stays in its files

Splits = Mapping[str, Mapping[str, Tensor]]


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """One column of one split: range, mean and standard deviation; rows per class where it holds classes.

    `shape` leaves the rows out. The four numbers are NaN for an empty split; places of no class don't count.
    """

    shape: tuple[int, ...]
    dtype: str
    minimum: float
    maximum: float
    mean: float
    deviation: float
    classes: tuple[int, ...] = ()
    sampled: int = 0  # rows that the numbers are of, where that is not all of them


@dataclass(frozen=True, slots=True)
class Summary:
    """Rows of each split, and each column of each split."""

    rows: dict[str, int]
    columns: dict[str, dict[str, ColumnSummary]]

    def class_counts(self, column: str) -> dict[str, tuple[int, ...]]:
        """Rows per class in each split; classes that a split lacks count 0."""
        return {split: found[column].classes for split, found in self.columns.items()}


def summary(splits: Splits) -> Summary:
    """Counts, class counts, ranges, means and deviations of every split and column."""
    columns = {
        split: {name: _column(values) for name, values in part.items()} for split, part in splits.items()
    }
    rows = {split: len(next(iter(part.values()), ())) for split, part in splits.items()}
    most: dict[str, int] = {}
    for found in columns.values():
        for name, column in found.items():
            most[name] = max(most.get(name, 0), len(column.classes))
    padded = {
        split: {name: _with_classes(column, most[name]) for name, column in found.items()}
        for split, found in columns.items()
    }
    return Summary(rows, padded)


def sample(splits: Splits, column: str, n: int, split: str = "train", start: int = 0) -> np.ndarray:
    """Up to `n` rows of a column from row `start` on, as an array of its own.

    Errors: `KeyError` for a split or column that is not there.
    """
    found: np.ndarray = splits[split][column][start : start + n].detach().cpu().numpy().copy()
    return found


def spread_rows(values: Tensor, most: int = MOST_READ) -> Tensor:
    """At most that many rows of a column, evenly from its first to its last."""
    if len(values) <= most:
        return values[torch.arange(len(values))]
    return values[torch.linspace(0, len(values) - 1, most).round().long()]


def _column(values: Tensor) -> ColumnSummary:
    shape, dtype = tuple(values.shape[1:]), str(values.dtype).removeprefix("torch.")
    if not values.numel():
        return ColumnSummary(shape, dtype, math.nan, math.nan, math.nan, math.nan)
    sampled = 0
    if not isinstance(values, Tensor):  # it stays in its files; a run's columns are classes of its script
        sampled = min(len(values), MOST_READ)
        values = spread_rows(values)
    classes: tuple[int, ...] = ()
    if not values.is_floating_point() and values.dim() == 1 and values.min() >= 0:
        classes = tuple(torch.bincount(values.cpu()).tolist())
    if not values.is_floating_point() and values.dim() > 1:
        values = values[values != UNCOUNTED]
        if not len(values):
            return ColumnSummary(shape, dtype, math.nan, math.nan, math.nan, math.nan, (), sampled)
    numbers = values if values.is_floating_point() else values.double()
    deviation, mean = torch.std_mean(numbers, correction=0)
    reach = numbers.min().item(), numbers.max().item()
    return ColumnSummary(shape, dtype, *reach, mean.item(), deviation.item(), classes, sampled)


def _with_classes(column: ColumnSummary, count: int) -> ColumnSummary:
    return replace(column, classes=column.classes + (0,) * (count - len(column.classes)))
