"""Time series in files. Portable: exports carry this source.

`columns` says a column a row, as for tables: (name, kind, role, *details). Each row of a file is a reading;
it may hold several series, one for each value of a column.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from engine.data.array_reading import stored_array
from engine.data.series.windows import clock_of, prepared_series, windows_of_series
from engine.data.tables.cells import Cells
from engine.data.tables.reading import check_columns, read_sheet, read_text_table, read_typed_table
from engine.data.tables.sniff import SHEETS, TYPED


def load_series(
    folder: Path,
    device: str,
    *,
    file: str,
    columns: tuple[tuple[Any, ...], ...],
    read: Callable[..., Any],
    table: dict[str, Any],
    inputs: tuple[str, ...],
    targets: tuple[str, ...],
    time: str = "",
    series: str = "",
    order: str = "as in the file",
    skip: int = 0,
    most: int | None = None,
    lag: int = 24,
    horizon: int = 1,
    stride: int = 1,
    reach_back: bool = False,
    between: int = 0,
    missing: str = "stop",
    difference: int = 0,
    standardise: bool = True,
    clock: bool = False,
    splitter: Callable[..., dict[str, Tensor]],
    **splitting: Any,
) -> dict[str, dict[str, Any]]:
    """Windows of past readings, and those that follow: {split: {"window" (N, lag, F), "next" (N, D)}}.

    Errors: `ValueError` with the row and the column of a reading that is missing or no number.
    """
    names = list(dict.fromkeys([*inputs, *targets]))
    values, times, parted, first = read(folder / file, columns, names, time, series, **table)
    rows = series_in_order(times if order == "by time" else None, parted, len(values), skip, most)
    readings, parts, _, _ = prepared_series(
        complete(values, names, rows, missing, file, first),
        rows,
        splitter=splitter,
        gap=between,
        missing=missing,
        difference=difference,
        standardise=standardise,
        splitting=splitting,
    )
    return windows_of_series(
        readings,
        parts,
        device,
        lag=lag,
        horizon=horizon,
        stride=stride,
        difference=difference,
        reach_back=reach_back,
        inputs=[names.index(name) for name in inputs],
        targets=[names.index(name) for name in targets],
        clock=clock_of(times[np.concatenate(rows)]) if clock and times is not None else None,
    )


def read_text_series(
    path: Path, columns: tuple[tuple[Any, ...], ...], names: list[str], time: str, series: str, **form: Any
) -> tuple[np.ndarray[Any, Any], Any, Any, int]:
    """Readings in a file of delimited text, as `frame_series` gives them."""
    frame = read_text_table(path, [one for one in (*names, time, series) if one], columns, **form)
    first = form["skip"] + form["header"] + 1
    return frame_series(
        frame, path.name, columns, names, time, series, first, form["blanks"], form["decimal"]
    )


def read_typed_series(
    path: Path, columns: tuple[tuple[Any, ...], ...], names: list[str], time: str, series: str
) -> tuple[np.ndarray[Any, Any], Any, Any, int]:
    """Readings in a Parquet or Arrow file."""
    wanted = list(dict.fromkeys(one for one in (*names, time, series) if one))
    return frame_series(read_typed_table(path, wanted), path.name, columns, names, time, series, 1, (), ".")


def read_sheet_series(
    path: Path,
    columns: tuple[tuple[Any, ...], ...],
    names: list[str],
    time: str,
    series: str,
    *,
    sheet: str,
    header: bool,
    skip: int,
    blanks: tuple[str, ...],
    aside: tuple[int, ...] = (),
) -> tuple[np.ndarray[Any, Any], Any, Any, int]:
    """Readings in a sheet of an Excel or OpenDocument file."""
    frame = read_sheet(path, sheet, header=header, skip=skip, aside=aside)
    check_columns(path.name, list(frame.columns), [one for one in (*names, time, series) if one])
    return frame_series(frame, path.name, columns, names, time, series, skip + header + 1, blanks, ".")


def frame_series(
    frame: Any,
    file: str,
    columns: tuple[tuple[Any, ...], ...],
    names: list[str],
    time: str,
    series: str,
    first: int,
    blanks: tuple[str, ...],
    decimal: str,
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any] | None, np.ndarray[Any, Any] | None, int]:
    """Readings (n, F) as float64 with NaN where one is missing, their times, the series they are of, `first`.

    Times are seconds, of dates those since the beginning of 1970; `first` is the number of the first row.
    """
    about = {str(name): (kind, tuple(rest)) for name, kind, _, *rest in columns}
    cells = {
        name: Cells(frame[name], name, file, first, blanks, decimal)
        for name in (*names, time, series)
        if name
    }
    values = np.stack([cells[name].values(*about[name]) for name in names], 1)
    there = ~np.isnan(values).all(1)
    count = int(there.nonzero()[0][-1]) + 1 if there.any() else 0  # blank lines at the end are no readings
    times = parted = None
    if time:
        kind, details = about[time]
        times = cells[time].values(kind, details)[:count] * (86_400.0 if kind == "date" else 1.0)
        if np.isnan(times).any():
            at = int(np.isnan(times).nonzero()[0][0])
            raise ValueError(f'Row {first + at:,} of "{file}" has no time in "{time}".')
    if series:
        parted = np.unique(cells[series].keys()[:count], return_inverse=True)[1]
    return values[:count], times, parted, first


def read_numpy_series(
    path: Path, columns: tuple[tuple[Any, ...], ...], names: list[str], time: str, series: str
) -> tuple[np.ndarray[Any, Any], None, None, int]:
    """Columns of a `.npy` file of (n,) or (n, F) by number, "1" the first."""
    found = numpy_numbers(path)
    lost = [name for name in names if not name.isdecimal() or not 1 <= int(name) <= found.shape[1]]
    if lost:
        raise ValueError(f'"{path.name}" has columns 1 to {found.shape[1]}, not "{lost[0]}". Open it again.')
    return np.array(found[:, [int(name) - 1 for name in names]], np.float64), None, None, 1


def numpy_numbers(path: Path) -> np.ndarray[Any, Any]:
    """The numbers (n, F) of a `.npy` file. Errors: `ValueError` where it holds no series."""
    found = stored_array(path, "", 2**30)
    if found.ndim not in (1, 2) or found.dtype.kind not in "iufb" or not found.size:
        raise ValueError(f'"{path.name}" is no series: its sizes are {found.shape}, of type {found.dtype}.')
    return np.asarray(found.reshape(len(found), -1))


def series_in_order(
    times: np.ndarray[Any, Any] | None,
    parted: np.ndarray[Any, Any] | None,
    n: int,
    skip: int,
    most: int | None,
) -> list[np.ndarray[Any, Any]]:
    """The rows of each series in the order of `times`, or of the file; the first `skip` are left out."""
    order = np.arange(n) if times is None else np.argsort(times, kind="stable")
    found = [order]
    if parted is not None and n:
        found = [order[parted[order] == one] for one in range(int(parted.max()) + 1)]
    return [rows[skip : None if most is None else skip + most] for rows in found]


def complete(
    values: np.ndarray[Any, Any],
    names: list[str],
    rows: list[np.ndarray[Any, Any]],
    missing: str,
    file: str,
    first: int,
) -> np.ndarray[Any, Any]:
    """The readings as they are. Errors: `ValueError` where one is missing that nothing can stand in for."""
    used = np.concatenate(rows)
    lost = np.isnan(values[used])
    if missing == "stop" and lost.any():
        at = used[lost.any(1)].min()
        name = names[int(np.isnan(values[at]).argmax())]
        more = f"; {int(lost.sum()):,} are missing in all" if lost.sum() > 1 else ""
        raise ValueError(
            f'Row {first + at:,} of "{file}" has no reading in "{name}"{more}. Interpolate, or carry forward.'
        )
    for part in rows:
        empty = np.isnan(values[part]).all(0)
        if len(part) and empty.any():
            raise ValueError(f'"{names[int(empty.argmax())]}" in "{file}" has a series without any reading.')
    return values


def reader_of(path: Path) -> Callable[..., Any]:
    """The function that reads series from a file with such a name."""
    end = path.suffix.casefold()
    if end == ".npy":
        return read_numpy_series
    if end in TYPED:
        return read_typed_series
    return read_sheet_series if end in SHEETS else read_text_series


def form_for(path: Path, form: dict[str, Any]) -> dict[str, Any]:
    """What of a form the reader of a file takes."""
    reader = reader_of(path)
    if reader is read_text_series:
        return {name: value for name, value in form.items() if name != "sheet"}
    wanted = ("sheet", "header", "skip", "blanks", "aside") if reader is read_sheet_series else ()
    return {name: form[name] for name in wanted if name in form}
