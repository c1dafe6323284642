"""Rows of a data set as they reach a model: a tensor a column."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

Batch = dict[str, Tensor]  # (N, ...) by column
Splits = dict[str, Batch]  # by those of the names of splits that the data have

WEIGHT = "weight"  # among what an objective finds in a batch, how much the batch counts

PARTS, COUNTS = "parts", "counts"  # what an objective minimises, loss by loss, and how much each counts

ROWS = " rows"  # behind the key of what is measured: the rows that its value over a split is computed from
MEANS = " means"  # behind the key of what is measured: what its value over a split is computed from


def rows_at(columns: Mapping[str, Any], at: Tensor) -> Batch:
    """The rows `at` (n,) of columns; where some are shorter than others, those go round."""
    if len({len(column) for column in columns.values()}) < 2:
        return {name: column[at] for name, column in columns.items()}
    return {name: column[at % len(column)] for name, column in columns.items()}


def weight_in(found: Mapping[str, Tensor], batch: Batch) -> float:
    """How much a batch counts beside others, by what an objective found in it: as a rule its examples."""
    return float(found.get(WEIGHT, len(next(iter(batch.values())))))
