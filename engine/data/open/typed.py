"""Looks into a Parquet or Arrow file: as a whole where that is small, else a column at a time.

A few kilobytes may hold a thousand million rows, so their number is asked for before any is read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.data.tables.cells import blank_rows
from engine.data.tables.column_kinds import Guess, guesses, missing_in
from engine.data.tables.reading import parquet_or_arrow, typed_scan, typed_trouble
from engine.data.watch import Watch

HELD = 50_000_000  # cells that are held at once
MOST_ROWS = 200_000_000  # of one column, about 5 GiB while it is looked at
WIDEST = 100_000  # columns


@dataclass(frozen=True)
class Columns:
    """A table of which one column is held at a time: what each holds, and how many rows are no blank ones."""

    found: list[Guess]
    rows: int
    hit: Callable[[Sequence[str]], int]  # how many rows lack a value in one of these columns


def by_columns(path: Path, watch: Watch) -> Columns | None:
    """A table of Parquet or Arrow that is too large to hold as a whole; None for one that can be held.

    Errors: `ValueError` where one column is too large, too; `Stopped`.
    """
    import polars as pl

    parquet = parquet_or_arrow(path)
    try:
        frame, names = typed_scan(path, parquet)
        rows = int(frame.select(pl.len()).collect().item())
        if len(names) > WIDEST:
            raise ValueError(f'"{path.name}" has {len(names):,} columns; at most {WIDEST:,} can be read.')
        if rows > MOST_ROWS:
            raise ValueError(f'"{path.name}" says it has {rows:,} rows; at most {MOST_ROWS:,} can be read.')
        return None if rows * len(names) <= HELD else _looked_at(path, frame, names, rows, watch)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise ValueError(typed_trouble(path, parquet)) from error


def _looked_at(path: Path, frame: Any, names: list[str], rows: int, watch: Watch) -> Columns:
    """Blank rows first, as they are none: seldom are there any, and the first column shows it."""

    def column(name: str) -> Any:
        return frame.select(name).collect()

    blank = np.ones(rows, bool)
    for at, name in enumerate(names):
        watch.look(0.1 * at / len(names), "looking for blank rows")
        blank &= blank_rows(column(name), ())
        if not blank.any():
            break
    if blank.all():
        raise ValueError(f'"{path.name}" has no row with anything in it.')
    found = []
    for at, name in enumerate(names):
        watch.look(0.1 + 0.9 * at / len(names), "looking at the columns")
        one = column(name)
        found += guesses(one.filter(~blank) if blank.any() else one, ".", Watch(stopped=watch.stopped))
    marks = tuple({text for one in found for text in one.blanks})

    def hit(wanted: Sequence[str]) -> int:
        lacking: NDArray[np.bool_] = np.zeros(rows, bool)
        for name in wanted:
            watch.look(None, "counting rows with blanks")
            lacking |= missing_in(column(name), [name], marks)
        return int((lacking & ~blank).sum())

    return Columns(found, int(rows - blank.sum()), hit)
