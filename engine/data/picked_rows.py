"""Which rows there are, and what their labels say, decided as the data are read. Portable.

Each is `f(splits, column, into, ...)`: it looks at `column`, changes which rows all columns of a split have,
or only what the labels are, and adds the column `into`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from engine.data.fitted import Fitted, change_all
from engine.data.lazy import Lazy, is_ragged
from engine.data.repeats import first_equals


def as_it_is(values: Tensor) -> Tensor:
    return values


def keep_rows(columns: dict[str, Any], column: str, rows: Tensor) -> None:
    """Let all columns that have as many rows as `column` have these rows of theirs, in this order."""
    count = len(columns[column])
    for name, values in columns.items():
        if len(values) == count:
            columns[name] = values.at(rows) if isinstance(values, Lazy) else values[rows.to(values.device)]


def keep_one_of_equals(splits: dict[str, dict[str, Any]], column: str, into: str) -> Fitted:
    """Of rows that are equal in `column` only the first stays; training rows come first, then validation."""
    order = [split for split in ("train", "validation", "test") if split in splits]
    firsts = first_equals([RowsInTurn([splits[split][column] for split in order])])
    start = 0
    for split in order:
        count = len(splits[split][column])
        rows = torch.arange(count)
        kept = rows[firsts[start : start + count] == rows + start]
        if not len(kept):
            raise ValueError(f"Every row of {split} repeats another, so none would be left there.")
        keep_rows(splits[split], column, kept)
        splits[split][into] = splits[split][column]
        start += count
    return Fitted(as_it_is, as_it_is)


class RowsInTurn:
    """Columns one after the other, of which blocks of rows are asked."""

    def __init__(self, columns: list[Any]) -> None:
        self.columns = columns
        self.shape = columns[0].shape
        self.ragged = is_ragged(columns[0])

    def __len__(self) -> int:
        return sum(len(column) for column in self.columns)

    def __getitem__(self, asked: slice) -> Tensor:
        found, start = [], 0
        for column in self.columns:
            first, last = max(asked.start - start, 0), min(asked.stop - start, len(column))
            if first < last:
                found.append(column[first:last].cpu())
            start += len(column)
        return torch.cat(found)


def keep_whole_rows(splits: dict[str, dict[str, Any]], column: str, into: str) -> Fitted:
    """Rows in which a number of `column` is missing (NaN) are left out."""
    for split, columns in splits.items():
        values = columns[column]
        if is_ragged(values):
            whole = torch.tensor([not values[at : at + 1].isnan().any() for at in range(len(values))])
        else:
            blocks = (values[first : first + 4096].cpu() for first in range(0, len(values), 4096))
            whole = torch.cat([~block.isnan().flatten(1).any(1) for block in blocks])
        kept = whole.nonzero().flatten()
        if not len(kept):
            raise ValueError(f"In every row of {split} a number is missing, so none would be left there.")
        keep_rows(columns, column, kept)
        columns[into] = columns[column]
    return Fitted(as_it_is, as_it_is)


def leave_out_numbers(
    splits: dict[str, dict[str, Any]], column: str, into: str, which: tuple[int, ...]
) -> Fitted:
    """Rows (D,) without the numbers at these places, from 1; undone, they are missing."""
    size = splits["train"][column].shape[1]
    kept = torch.tensor([at for at in range(size) if at + 1 not in which])

    def change(x: Tensor) -> Tensor:
        return x[:, kept.to(x.device)]

    def undo(y: Tensor) -> Tensor:
        return torch.full((len(y), size), torch.nan, device=y.device).index_copy(1, kept.to(y.device), y)

    return change_all(splits, column, into, Fitted(change, undo, each=False))


def pick_by_class(
    splits: dict[str, dict[str, Any]],
    column: str,
    into: str,
    pick: Callable[[Tensor, Tensor, int], Tensor],
    seed: int = 0,
) -> Fitted:
    """Training rows as `pick(rows, classes, seed)` picks them; other splits stay as they are."""
    classes = splits["train"][column][:].cpu()
    keep_rows(splits["train"], column, pick(torch.arange(len(classes)), classes, seed))
    for columns in splits.values():
        columns[into] = columns[column]
    return Fitted(as_it_is, as_it_is)


def wrong_labels(
    splits: dict[str, dict[str, Any]],
    column: str,
    into: str,
    rate: float = 0.2,
    classes: int = 10,
    everywhere: bool = False,
    seed: int = 0,
) -> Fitted:
    """Changes each training label with probability `rate` to another class, once and for all.

    With `everywhere` those of validation and test do, too. Zhang and others, 2017.
    """
    draw = torch.Generator().manual_seed(seed)
    for split, columns in splits.items():
        labels = columns[column][:]
        if split == "train" or everywhere:
            wrong = (torch.rand(len(labels), generator=draw) < rate).to(labels.device)
            step = torch.randint(1, classes, (len(labels),), generator=draw).to(labels.device)
            wrong &= (labels >= 0) & (labels < classes)  # others are left out of the loss
            labels = torch.where(wrong, (labels + step) % classes, labels)
        columns[into] = labels
    return Fitted(as_it_is, as_it_is)
