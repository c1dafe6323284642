"""Equal rows, and classes of unlike size, when rows are split. Portable: exports carry this source.

Rows are equal where all of their inputs are, bit for bit, whatever is to be predicted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor


def bytes_of_rows(column: Any, first: int, last: int) -> list[bytes]:
    """Rows `first` to `last` of a column, texts or numbers (n, ...), as bytes, alike for equal ones."""
    if getattr(column, "ragged", False):  # of an example's many rows, all together
        return [bytes(column[at : at + 1].cpu().numpy().data) for at in range(first, last)]
    rows = column[first:last]
    if isinstance(rows, list):
        return [text.encode("utf-8", "surrogatepass") for text in rows]
    values = rows.detach().cpu().numpy() if isinstance(rows, Tensor) else np.asarray(rows)
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), np.nan, values + 0.0)  # -0 is 0, and what is missing is alike
    raw = np.ascontiguousarray(values).tobytes()
    size = len(raw) // max(1, last - first)
    return [raw[at * size : (at + 1) * size] for at in range(last - first)]


def first_equals(columns: Sequence[Any]) -> Tensor:
    """For each row the number of the first row that is equal in all columns (n, ...), as (n,).

    A column that stays in its files is read once, a block at a time.
    """
    import hashlib

    n = len(columns[0])
    marks = np.empty((n, 2), np.uint64)  # 128 bits: no two rows are ever taken for equal by accident
    width = sum(int(np.prod(column.shape[1:])) for column in columns if hasattr(column, "shape"))
    block = max(1, 2**22 // max(256, width))
    for first in range(0, n, block):
        last = min(first + block, n)
        parts = zip(*(bytes_of_rows(column, first, last) for column in columns), strict=True)
        found = b"".join(hashlib.blake2b(b"".join(row), digest_size=16).digest() for row in parts)
        marks[first:last] = np.frombuffer(found, np.uint64).reshape(-1, 2)
    order = np.lexsort((marks[:, 1], marks[:, 0]))  # stable: of equal rows, the first comes first
    in_order = marks[order]
    begins = np.ones(n, bool)
    begins[1:] = (in_order[1:] != in_order[:-1]).any(1)
    equals = np.empty(n, np.int64)
    equals[order] = order[np.flatnonzero(begins)][np.cumsum(begins) - 1]
    return torch.from_numpy(equals)


def equals_together(
    n: int,
    keys: Tensor | None,
    columns: Sequence[Any],
    splitter: Callable[..., dict[str, Tensor]],
    options: dict[str, Any],
) -> dict[str, Tensor]:
    """Splits the kinds of rows, each with all that equal it; the splitter goes by the key of the first."""
    first = first_equals(columns)
    kinds, counts = torch.unique(first, return_counts=True)
    side_by_side, ends = first.argsort(stable=True), counts.cumsum(0)
    rows = {}
    for split, picked in splitter(len(kinds), None if keys is None else keys[kinds], **options).items():
        many = counts[picked]
        within = torch.arange(int(many.sum())) - (many.cumsum(0) - many).repeat_interleave(many)
        rows[split] = side_by_side[(ends - counts)[picked].repeat_interleave(many) + within]
    return rows


def groups_together(
    n: int,
    keys: Tensor | None,
    columns: Sequence[Any],
    splitter: Callable[..., dict[str, Tensor]],
    options: dict[str, Any],
) -> dict[str, Tensor]:
    """Splits groups; those that have equal rows are split as one group."""
    assert keys is not None
    first, group = first_equals(columns), torch.unique(keys, return_inverse=True)[1]
    joined = group.clone()
    while True:  # the lowest number wanders from row to row, through equal rows and through groups
        before = joined
        for same in (first, group):
            lowest = torch.full((n,), n).scatter_reduce_(0, same, joined, "amin")
            joined = lowest[same]
        if torch.equal(joined, before):
            return splitter(n, joined, **options)


def equals_once(
    n: int,
    keys: Tensor | None,
    columns: Sequence[Any],
    splitter: Callable[..., dict[str, Tensor]],
    options: dict[str, Any],
) -> dict[str, Tensor]:
    """Splits the first of equal rows; the others are left out."""
    kept = torch.unique(first_equals(columns))
    parts = splitter(len(kept), None if keys is None else keys[kept], **options)
    return {split: kept[at] for split, at in parts.items()}


def rare_repeated(rows: Tensor, classes: Tensor, seed: int) -> Tensor:
    """These rows with each class as often as the commonest, in a new order.

    All rows of a class come equally often, and some, picked by the seed, once more.
    """
    shuffle = torch.Generator().manual_seed(seed)
    of = classes[rows]
    numbers, counts = torch.unique(of, return_counts=True)
    parts = []
    for one in numbers.tolist():
        here = rows[of == one]
        again, more = divmod(int(counts.max()), len(here))
        parts += [here.repeat(again), here[torch.randperm(len(here), generator=shuffle)[:more]]]
    found = torch.cat(parts)
    return found[torch.randperm(len(found), generator=shuffle)]


def common_thinned(rows: Tensor, classes: Tensor, seed: int) -> Tensor:
    """As many of these rows of each class as the rarest has, picked by the seed, in a new order."""
    shuffle = torch.Generator().manual_seed(seed)
    of = classes[rows]
    numbers, counts = torch.unique(of, return_counts=True)
    parts = []
    for one in numbers.tolist():
        here = rows[of == one]
        parts.append(here[torch.randperm(len(here), generator=shuffle)[: int(counts.min())]])
    found = torch.cat(parts)
    return found[torch.randperm(len(found), generator=shuffle)]
