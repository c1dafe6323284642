"""A table as the user sees it: the first rows as the file has them, and what each column holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.data.tables.cells import Cells, blank_rows
from engine.data.tables.column_kinds import as_numbers, guesses
from engine.data.tables.number_forms import number_form
from engine.data.tables.reading import (
    cell_form,
    is_plain,
    read_sheet,
    text_form,
    text_rows,
    typed_scan,
    utf8_lines,
)
from engine.data.tables.sniff import RECORDS, SHEETS, TYPED, Form, form_in
from engine.data.tables.stream import as_plain_text
from engine.data.watch import Watch
from engine.errors import DataError, reason_of
from engine.values import Value

FIRST = 100  # rows that are shown
MOST_ROWS = 200_000  # rows that are counted; of longer tables, the first of them
MOST_CLASSES = 1000


@dataclass(frozen=True)
class ColumnLook:
    """One column of the file. `values` are (N,) float64, NaN where missing; classes are numbered from 0.

    A column of texts has the number of each different text; `trouble` says why a column cannot be read as
    the kind that was chosen.
    """

    name: str
    kind: str
    role: str
    details: tuple[str, ...]
    values: NDArray[np.float64]
    missing: int
    distinct: int
    trouble: str = ""

    @property
    def known(self) -> NDArray[np.float64]:
        """The values that are not missing."""
        return self.values[np.isfinite(self.values)]


@dataclass(frozen=True)
class TableLook:
    """The first rows as text, None where a cell is empty, and all columns; `whole` unless there were more."""

    names: tuple[str, ...]
    first: tuple[tuple[str | None, ...], ...]
    columns: tuple[ColumnLook, ...] = field(repr=False)
    rows: int
    whole: bool


def look_at_table(params: Mapping[str, Value], most: int = MOST_ROWS) -> TableLook:
    """Looks into the file of a table node, given the node's parameters with the defaults filled in.

    Errors: `DataError` where it cannot be read.
    """
    frame = _frame(params, None, most + 1)
    whole = len(frame) <= most
    frame = frame.head(most)
    if frame.width > 1:  # in a series of one column, a blank line is a reading that is missing
        frame = frame.filter(~blank_rows(frame, ()))  # blank lines, and those that are left out, are no rows
    table = {str(row[0]): row for row in _rows(params.get("table")) if len(row) >= 3}
    last = frame.columns[-1] if frame.width > 1 else ""
    if last == f"column {frame.width}" and last not in table and frame[last].null_count() == len(frame):
        frame = frame.drop(last)  # after the delimiter that rows end in
    columns = tuple(_column(frame[name], table.get(name), params) for name in frame.columns)
    first = tuple(tuple(None if cell in (None, "") else str(cell) for cell in row) for row in _head(frame))
    return TableLook(tuple(frame.columns), first, columns, len(frame), whole)


def lacking(params: Mapping[str, Value]) -> tuple[str, ...]:
    """Columns that a table node uses and its file, read as the node's form says, does not have.

    Errors: `DataError` where the file cannot be read.
    """
    used = [str(row[0]) for row in _rows(params.get("table")) if len(row) >= 3 and row[2] != "ignore"]
    names = set(_frame(params, None, 1).columns) if used else set()
    return tuple(name for name in used if name not in names)


def details_for(params: Mapping[str, Value], name: str, kind: str) -> tuple[str, ...]:
    """What a column needs to be of another kind: classes, words for no and yes, the form of dates or numbers.

    The whole column is read. Errors: `DataError` where it cannot be of that kind.
    """
    import polars as pl

    if kind not in ("category", "yes-no", "date", "number", "whole"):
        return ()
    frame = _frame(params, [name], None)
    if name not in frame.columns:
        raise DataError(f'The file has no column "{name}" any more.')
    if kind == "date":
        found = guesses(frame.select(name), str(params.get("decimal", ".")), Watch())[0]
        if found.kind != "date":
            raise DataError(f'"{name}" holds no dates in a form that is known.')
        return found.details
    texts = frame[name].cast(pl.String).str.strip_chars()
    blanks = ["", *(str(one) for one in _rows_or_names(params.get("missing_as")))]
    there = texts.set(texts.is_in(blanks), None).drop_nulls()
    if kind in ("number", "whole"):
        decimal = str(params.get("decimal", "."))
        form = number_form(there, decimal) if as_numbers(there, decimal).null_count() else None
        return (form,) if form else ()
    known = sorted(there.unique().to_list(), key=_natural)
    if kind == "yes-no" and len(known) != 2:
        raise DataError(f'"{name}" has {len(known):,} different values; a yes or no has two.')
    if len(known) > MOST_CLASSES:
        raise DataError(f'"{name}" has {len(known):,} different values, too many for classes.')
    return tuple(known)


def _natural(text: str) -> tuple[int, float, str]:
    """Numbers in their order, texts after them in theirs."""
    try:
        return 0, float(text), text
    except ValueError:
        return 1, 0.0, text


def _rows(value: Value) -> list[tuple[Value, ...]]:
    return [row for row in value if isinstance(row, tuple)] if isinstance(value, tuple) else []


def _rows_or_names(value: Value) -> tuple[Value, ...]:
    return value if isinstance(value, tuple) else ()


def _head(frame: Any) -> Any:
    import polars as pl

    return frame.head(FIRST).select(pl.all().cast(pl.String, strict=False)).iter_rows()


def _frame(params: Mapping[str, Value], wanted: list[str] | None, most: int | None) -> Any:
    path = Path(str(params.get("path", "")))
    if not path.name:
        raise DataError("No file is chosen yet.")
    try:
        return _read(path, params, wanted, most)
    except OSError as error:
        raise DataError(f'"{path.name}" cannot be read: {error.strerror or error}.') from error
    except (ValueError, ImportError) as error:
        raise DataError(reason_of(error)) from error


def _read(path: Path, params: Mapping[str, Value], wanted: list[str] | None, most: int | None) -> Any:
    import polars as pl

    end = path.suffix.casefold()
    how = form_in(params)
    try:
        if end in SHEETS:
            return read_sheet(
                path, str(params.get("sheet", "")), header=how.header, skip=how.skip, aside=how.aside
            )
        if end in TYPED:
            scan, _ = typed_scan(path, end in (".parquet", ".pq"))
            return (scan.select(wanted) if wanted else scan).head(most or 2**40).collect()
        if end in RECORDS:
            from engine.data.tables.records import read_records  # it brings torch

            return read_records(path, wanted).head(most or 2**40)
        return _text(path, how, wanted, most)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise ValueError(f'"{path.name}" cannot be read: {str(error).splitlines()[0]}.') from error


def _text(path: Path, how: Form, wanted: list[str] | None, most: int | None) -> Any:
    """The wanted columns of a text table, or its first `most` rows; only these are held."""
    if most is None:
        with as_plain_text(path, how, Watch()) as (source, plain):
            return _cells(path, source, plain, wanted, None)
    if is_plain(path, how.encoding, how.delimiter, how.quote, how.aside):
        return _cells(path, path, how, wanted, most)
    how_read = (path, how.encoding, how.delimiter, how.quote, how.aside)
    rows = text_rows(utf8_lines(*how_read), cell_form(path, how.delimiter, how.quote, how.skip))
    last = next((lines[-1] for lines, _ in islice(rows, most, None)), None)  # the first may be a header
    text = "".join(islice(utf8_lines(*how_read), last)).encode("utf-8", "surrogatepass")
    return _cells(path, text, how, wanted, most)


def _cells(path: Path, source: Any, how: Form, wanted: list[str] | None, most: int | None) -> Any:
    """Cells as text of a file that polars can read as it is, or of its bytes."""
    import polars as pl

    form, names = text_form(path, source, how.delimiter, how.quote, how.header, how.skip)
    frame = pl.scan_csv(
        source, with_column_names=lambda _: names, n_rows=most, truncate_ragged_lines=True, **form
    )
    return (frame.select(wanted) if wanted else frame).collect()


def _column(series: Any, row: tuple[Value, ...] | None, params: Mapping[str, Value]) -> ColumnLook:
    kind, role = (str(row[1]), str(row[2])) if row is not None else ("text", "ignore")
    details = tuple(str(one) for one in row[3:]) if row is not None else ()
    blanks = tuple(str(one) for one in _rows_or_names(params.get("missing_as")))
    decimal = str(params.get("decimal", "."))
    cells = Cells(series, series.name, Path(str(params["path"])).name, 1, blanks, decimal)
    missing = int(cells.series.null_count())
    trouble = ""
    try:
        values = cells.values(kind, details) if kind not in ("text", "path") else None
    except ValueError as error:
        values, trouble = None, reason_of(error)
    if values is None:
        values = _numbered(cells.series)
    finite = values[np.isfinite(values)]
    return ColumnLook(
        series.name,
        kind,
        role,
        details,
        values,
        max(missing, len(values) - len(finite)),
        len(np.unique(finite)),
        trouble,
    )


def _numbered(series: Any) -> NDArray[np.float64]:
    """Each different text as a number, in the order of the texts."""
    import polars as pl

    ranks = series.cast(pl.String, strict=False).rank("dense").cast(pl.Float64).to_numpy()
    return np.asarray(ranks, np.float64) - 1
