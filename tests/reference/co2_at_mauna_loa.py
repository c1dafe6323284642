"""CO2 at Mauna Loa

Exported from Neuroloom. Needs torch, numpy and polars only.

    python co2_at_mauna_loa.py --data FOLDER --epochs 30

FOLDER holds co2.csv; --data names another than the usual.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

SEED, BATCH, EPOCHS = 0, 64, 30


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


def series_parts(n: int, deal: Any, gap: int, dealing: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """{split: (first reading, reading after the last)} of `n` in time; `gap` before a border stay out."""
    parts: dict[str, tuple[int, int]] = {}
    for split, rows in deal(n, None, **dealing).items():
        parts[split] = (int(rows[0]), int(rows[-1]) + 1) if len(rows) else (n, n)
    firsts = {first for first, end in parts.values() if end > first}
    return {
        split: (first, max(first, end - gap) if end in firsts else end)
        for split, (first, end) in parts.items()
    }


def filled_gaps(values: np.ndarray[Any, Any], way: str, ends: list[int]) -> np.ndarray[Any, Any]:
    """Readings (n, F) without missing ones: "interpolate" on a line, or "carry forward" the last there is.

    Parts end before the rows `ends`; none sees a value of a later part. Where nothing is before, the first
    reading that is there stands in; where nothing follows, the last.
    """
    found, lost = values.copy(), np.isnan(values)
    at = np.arange(len(values))
    for column, blank in zip(found.T, lost.T, strict=True):
        begin = 0
        for end in ends:
            there = at[:end][~blank[:end]]
            gaps = at[begin:end][blank[begin:end]]
            if len(gaps) and len(there):
                if way == "interpolate":
                    column[gaps] = np.interp(gaps, there, column[there])
                else:
                    column[gaps] = column[there[np.maximum(np.searchsorted(there, gaps) - 1, 0)]]
            begin = end
    return found


def prepared_series(
    values: np.ndarray[Any, Any],
    series: list[np.ndarray[Any, Any]],
    *,
    deal: Any,
    gap: int,
    missing: str,
    difference: int,
    standardise: bool,
    dealing: dict[str, Any],
) -> tuple[Tensor, list[dict[str, tuple[int, int]]], Tensor, Tensor]:
    """Readings (n, F) as float64, one series after the other in time, and how they were dealt and scaled.

    `series` are the rows of each series in the order of time. Parts are counted from the first reading of
    all. Gaps are filled, then readings become differences, then mean and deviation (F,) of those for training
    are taken out; where they are not, the mean is 0 and the deviation 1.
    """
    ready: list[Tensor] = []
    parts: list[dict[str, tuple[int, int]]] = []
    train: list[Tensor] = []
    begin = 0
    for rows in series:
        here = series_parts(len(rows), deal, gap, dealing)
        ends = sorted({end for pair in here.values() for end in pair if end} | {len(rows)})
        readings = filled_gaps(values[rows], missing, ends) if missing != "stop" else values[rows]
        for _ in range(difference):
            readings = np.diff(readings, axis=0, prepend=np.nan)
        made = torch.from_numpy(readings)
        first, end = here["train"]
        train.append(made[max(first, difference) : end])
        ready.append(made)
        parts.append({split: (begin + a, begin + b) for split, (a, b) in here.items()})
        begin += len(rows)
    found, known = torch.cat(ready), torch.cat(train)
    mean, deviation = torch.zeros(found.shape[1]).double(), torch.ones(found.shape[1]).double()
    if standardise and len(known):
        deviation, mean = torch.std_mean(known, 0, correction=0)
        deviation = torch.where(deviation > 0, deviation, torch.ones_like(deviation))
    return (found - mean) / deviation, parts, mean, deviation


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


def window_starts(
    part: tuple[int, int], first: int, lag: int, horizon: int, stride: int, reach_back: bool
) -> Tensor:
    """Where the windows of a part (a, b) start: every `stride` readings, not before `first`.

    What a window is to foresee lies in the part. With `reach_back` its past may lie in the part before.
    """
    begin = max(first, part[0] - lag if reach_back else part[0])
    return torch.arange(begin, max(begin, part[1] - lag - horizon + 1), stride)


class Lazy:
    """Rows of a file as (N, *size) of `dtype`; `picked` are their numbers in the file, all by default.

    A subclass overrides `read`. Rows arrive on `device`, whatever device their numbers are on.
    """

    def __init__(
        self, count: int, size: tuple[int, ...], dtype: torch.dtype, device: str, picked: Tensor | None = None
    ) -> None:
        self.picked = torch.arange(count) if picked is None else picked
        self.dtype = dtype
        self.device = torch.device(device)
        self.shape = torch.Size((len(self.picked), *size))

    def read(self, rows: Tensor) -> Tensor:
        """Rows of the file by number (int64, on the CPU) as (len(rows), *size) of `dtype`, on the CPU."""
        raise NotImplementedError

    def at(self, rows: Tensor) -> Lazy:
        """These rows of the column, as a column."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.picked = self.picked[rows.cpu()]
        other.shape = torch.Size((len(other.picked), *self.shape[1:]))
        return other

    def __len__(self) -> int:
        return len(self.picked)

    def __getitem__(self, rows: Any) -> Tensor:
        """One row by number, or several by a slice or a tensor of numbers."""
        if isinstance(rows, int):
            return self[torch.tensor([range(len(self))[rows]])][0]
        asked = self.picked[rows.cpu() if isinstance(rows, Tensor) else rows]
        return self.read(asked).to(self.device)

    def index_select(self, dim: int, rows: Tensor) -> Tensor:
        """Rows by number, as of a tensor; `dim` is 0."""
        return self[rows]

    def dim(self) -> int:
        return len(self.shape)

    def numel(self) -> int:
        return self.shape.numel()

    def is_floating_point(self) -> bool:
        return self.dtype.is_floating_point


class Windows(Lazy):
    """Windows (N, length, *size) of readings (n, *size), cut when they are asked for.

    With `length` 0 a window is one reading, without an axis of time.
    """

    def __init__(self, readings: Tensor, starts: Tensor, length: int, device: str) -> None:
        size = (length, *readings.shape[1:]) if length else tuple(readings.shape[1:])
        dtype = readings.dtype if readings.is_floating_point() else torch.int64
        super().__init__(len(starts), size, dtype, device)
        self.readings, self.starts, self.length = readings, starts, length

    def read(self, rows: Tensor) -> Tensor:
        first = self.starts[rows]
        at = first[:, None] + torch.arange(self.length) if self.length else first
        return self.readings[at].to(self.dtype)


def cut_windows(readings: Tensor, starts: Tensor, length: int, device: str) -> Any:
    """The windows of readings (n, *size) as one tensor (N, length, *size) if small, else as `Windows`.

    With `length` 0 a window is one reading: (N, *size).
    """
    found = Windows(readings, starts, length, device)
    return found[:] if found.numel() <= 20_000_000 else found


def windows_of_series(
    readings: Tensor,
    parts: list[dict[str, tuple[int, int]]],
    device: str,
    *,
    lag: int,
    horizon: int,
    stride: int,
    difference: int,
    reach_back: bool,
    inputs: list[int],
    targets: list[int],
    clock: Tensor | None = None,
) -> dict[str, dict[str, Any]]:
    """{split: {"window" (N, lag, F), "next" (N, D) or (N, horizon) or (N, horizon, D)}}; "clock" where asked.

    Errors: `ValueError` where a split is too short for a single window.
    """
    seen, wanted = readings[:, inputs].float(), readings[:, targets].float()
    ahead = 0 if horizon == 1 else horizon
    if ahead and len(targets) == 1:
        wanted = wanted[:, 0]
    found: dict[str, dict[str, Any]] = {}
    for split in ("train", "validation", "test"):
        first = [min(part[0] for part in here.values()) + difference for here in parts]
        starts = torch.cat(
            [
                window_starts(here[split], begin, lag, horizon, stride, reach_back)
                for here, begin in zip(parts, first, strict=True)
            ]
        )
        if not len(starts):
            longest = max(here[split][1] - here[split][0] for here in parts)
            raise ValueError(
                f"The part for {split} has {longest:,} readings in a row, but a window of {lag:,} and "
                f"{horizon:,} to foresee need {lag + horizon:,}: a larger share or a shorter window helps."
            )
        found[split] = {
            "window": cut_windows(seen, starts, lag, device),
            "next": cut_windows(wanted, starts + lag, ahead, device),
        }
        if clock is not None:
            found[split]["clock"] = cut_windows(clock, starts, lag, device)
    return found


def clock_of(times: np.ndarray[Any, Any]) -> Tensor:
    """Sine and cosine of the time of day, the day of the week and the day of the year: (n, 6).

    `times` are seconds since the beginning of 1970, a Thursday.
    """
    days = times / 86_400.0
    turns = np.stack([days, (days + 3) / 7, days / 365.2425], 1) * 2 * np.pi
    return torch.from_numpy(np.stack([np.sin(turns), np.cos(turns)], 2).reshape(len(times), 6)).float()


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
    deal: Callable[..., dict[str, Tensor]],
    **dealing: Any,
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
        deal=deal,
        gap=between,
        missing=missing,
        difference=difference,
        standardise=standardise,
        dealing=dealing,
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


def decoded(path: Path, encoding: str, delimiter: str) -> Any:
    """What polars can read: the file itself where it is UTF-8, or its text again as UTF-8.

    Errors: `ValueError` with the byte that is not of the encoding.
    """
    if encoding == "utf-8" and delimiter != "spaces":
        return path
    raw = path.read_bytes()
    try:
        text = raw.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except UnicodeDecodeError as error:
        raise ValueError(
            f'"{path.name}" is not {encoding} from byte {error.start + 1:,} on. Choose another encoding.'
        ) from error
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if delimiter == "spaces":
        cells = re.compile(r'"[^"]*"|\S+')
        text = "\n".join("\t".join(cells.findall(line)) for line in text.split("\n"))
    return text.encode("utf-8", "surrogatepass")


def line_end(path: Path) -> str:
    """What ends a line: a carriage return alone in files of old Macintoshes."""
    with open(path, "rb") as file:
        head = file.read(1 << 20)
    return "\r" if b"\n" not in head and b"\r" in head else "\n"


def beginning(source: Any) -> Any:
    """The whole lines at the beginning of a file; all of what is small, or held in memory."""
    if not isinstance(source, Path):
        return source
    with open(source, "rb") as file:
        head = file.read(1 << 18)
    return head[: head.rfind(b"\n") + 1] or source


def row_sizes(source: Any, form: dict[str, Any]) -> Iterator[tuple[int, int]]:
    """The number of each row in the file, from 1, and how many cells it has; ends where quotes go wrong."""
    mark = form["quote_char"]
    quoting: dict[str, Any] = {"quotechar": mark} if mark else {"quoting": csv.QUOTE_NONE}
    if isinstance(source, Path):
        text = source.read_text(encoding="utf-8-sig", errors="replace")
    else:
        text = source.decode(errors="replace")
    lines = io.StringIO(text.replace("\r", "\n") if form["eol_char"] == "\r" else text, newline="")
    for _ in range(form["skip_lines"]):
        lines.readline()
    try:
        for number, row in enumerate(csv.reader(lines, delimiter=form["separator"], **quoting), start=1):
            yield number + form["skip_lines"], len(row)
    except csv.Error:
        return


def longer_row(source: Any, width: int, form: dict[str, Any]) -> tuple[int, int] | None:
    """The first row that has more cells than `width`: its number in the file from 1, and how many cells."""
    return next(((at, size) for at, size in row_sizes(source, form) if size > width), None)


def text_trouble(path: Path, source: Any, error: Exception, form: dict[str, Any]) -> str:
    """Why a text table could not be read, and in which row."""
    text = str(error)
    if "utf-8" in text:
        raw = path.read_bytes()
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError as found:
            return f'"{path.name}" is not utf-8 from byte {found.start + 1:,} on. Choose another encoding.'
    if "more fields" in text or "extra_columns" in text:
        long = longer_row(source, len(form["new_columns"]), form)
        if long:
            return (
                f'Row {long[0]:,} of "{path.name}" has {long[1]:,} cells, but the first has '
                f"{len(form['new_columns']):,}. Choose another delimiter or quote, or mend that row."
            )
    if text.startswith('could not parse `"'):
        return f'"{path.name}" has a quote that nothing closes. Choose another quote, or mend that row.'
    return f'"{path.name}" cannot be read as a table: {text.splitlines()[0]}.'


def column_names(cells: list[Any]) -> list[str]:
    """Names as a header's cells give them: in one line, none empty, each once."""
    found: list[str] = []
    taken: set[str] = set()
    for at, cell in enumerate(cells, start=1):
        plain = "".join(letter if letter.isprintable() else " " for letter in str(cell or "")[:400])
        name = wanted = " ".join(plain.split())[:120] or f"column {at}"
        number = 2
        while name in taken:
            name, number = f"{wanted} ({number})", number + 1
        taken.add(name)
        found.append(name)
    return found


def text_form(
    path: Path, source: Any, delimiter: str, quote: str, header: bool, skip: int
) -> tuple[dict[str, Any], list[str]]:
    """How polars is to read a text table, and the names of its columns."""
    import polars as pl

    form: dict[str, Any] = {
        "separator": "\t" if delimiter == "spaces" else delimiter,
        "quote_char": quote or None,
        "skip_lines": skip,
        "eol_char": line_end(path) if isinstance(source, Path) else "\n",
        "infer_schema": False,
    }
    top = None
    for given in (beginning(source), source):  # of a large file, polars would look at much more for one row
        try:
            top = pl.read_csv(given, has_header=False, n_rows=1, truncate_ragged_lines=True, **form)
            break
        except pl.exceptions.PolarsError as error:
            why = str(error).splitlines()[0]
            if given is not source:
                continue
            if "utf-8" in why:
                raise ValueError(text_trouble(path, source, error, form)) from error
            raise ValueError(f'"{path.name}" holds no table that can be read: {why}.') from error
    assert top is not None
    form["has_header"] = header and bool(len(top))
    return form, column_names(list(top.row(0)) if header and len(top) else [None] * top.width)


def check_columns(file: str, names: list[str], wanted: list[str]) -> None:
    """Errors: `ValueError` where the file lacks a column that is wanted."""
    lost = [name for name in wanted if name not in names]
    if lost:
        held = ", ".join(f'"{name}"' for name in names[:8]) + (", ..." if len(names) > 8 else "")
        raise ValueError(
            f'"{file}" has no column "{lost[0]}"; it has {held}. Open it again, or set that column to ignore.'
        )


def read_text_table(
    path: Path,
    wanted: list[str] | None,
    columns: tuple[tuple[Any, ...], ...] = (),
    *,
    delimiter: str,
    quote: str,
    decimal: str,
    encoding: str,
    header: bool,
    skip: int,
    blanks: tuple[str, ...],
    most: int | None = None,
) -> Any:
    """The wanted columns (all by default) as a polars frame of text, numbers where `columns` say so.

    Only the first `most` rows where that is given.
    Errors: `ValueError` where a row is longer than the first, or bytes are not of the encoding.
    """
    import polars as pl

    source = decoded(path, encoding, delimiter)
    form, names = text_form(path, source, delimiter, quote, header, skip)
    if wanted is not None:
        check_columns(path.name, names, wanted)
    numeric = {name: pl.Float64 for name, kind, *_ in columns if kind in ("number", "whole")}
    form |= {"new_columns": names, "null_values": ["", *blanks], "n_rows": most}
    for types in (numeric, {}):  # as text where some number is written in a way of its own
        try:
            comma = decimal == "," and bool(types)
            # every column is read, as polars only then notices rows that are too long
            frame = pl.read_csv(source, **form, schema_overrides=types, decimal_comma=comma)
        except pl.exceptions.PolarsError as error:
            if not types:
                raise ValueError(text_trouble(path, source, error, form)) from error
        else:
            return frame if wanted is None else frame.select(wanted)
    raise AssertionError("never reached")


class Cells:
    """The cells of one column, and where they stand, for the sentence on one that is odd."""

    def __init__(
        self, series: Any, name: str, file: str, first: int, blanks: tuple[str, ...], decimal: str
    ) -> None:
        import polars as pl

        self.name, self.file, self.first, self.decimal = name, file, first, decimal
        if series.dtype in (pl.Categorical, pl.Enum):
            series = series.cast(pl.String)
        if series.dtype == pl.String:
            series = series.str.strip_chars()
            series = series.set(series.is_in(["", *blanks]), None)
        self.series = series

    def values(self, kind: str, details: tuple[Any, ...]) -> np.ndarray[Any, Any]:
        """The column as (N,) float64, NaN where a cell is missing; classes are numbered from 0."""
        if kind in ("number", "whole"):
            return self.numbers()
        if kind == "date":
            return self.days(details[0] if details else "")
        if kind in ("category", "yes-no"):
            return self.classes([str(one) for one in details])
        raise ValueError(f'"{self.name}" holds texts, which are no numbers. Set the column to ignore.')

    def numbers(self) -> np.ndarray[Any, Any]:
        import polars as pl

        series = self.series
        if series.dtype == pl.String:
            plain = series.str.replace("−", "-", literal=True)
            if self.decimal == ",":
                plain = plain.str.replace(".", "?", literal=True).str.replace(",", ".", literal=True)
            series = plain.cast(pl.Float64, strict=False)
            self.check(series, "is no number")
        elif series.dtype.is_temporal() or series.dtype.is_nested():
            raise ValueError(f'"{self.name}" in "{self.file}" no longer holds numbers. Open the file again.')
        found = series.cast(pl.Float64).to_numpy().astype(np.float64)
        return np.where(np.isfinite(found), found, np.nan)

    def days(self, form: str) -> np.ndarray[Any, Any]:
        """Days since 1970-01-01."""
        import polars as pl

        series = self.series
        if series.dtype == pl.String:
            series = series.str.to_datetime(form or None, strict=False, time_unit="us")
            self.check(series, f'is no date written as "{form}"')
        found = series.cast(pl.Datetime("us")).dt.epoch("us").cast(pl.Float64).to_numpy()
        days: np.ndarray[Any, Any] = found.astype(np.float64) / 86_400_000_000
        return days

    def classes(self, names: list[str]) -> np.ndarray[Any, Any]:
        import polars as pl

        series = self.texts()
        numbers = series.replace_strict(
            pl.Series(names, dtype=pl.String),
            pl.Series(range(len(names)), dtype=pl.Float64),
            default=None,
            return_dtype=pl.Float64,
        )
        self.check(numbers, "is none of the classes that were there when it was opened")
        found: np.ndarray[Any, Any] = numbers.to_numpy().astype(np.float64)
        return found

    def texts(self) -> Any:
        """The cells as text, as classes are named by it."""
        import polars as pl

        if self.series.dtype == pl.Boolean:
            return self.series.replace_strict([False, True], ["no", "yes"], return_dtype=pl.String)
        return self.series.cast(pl.String)

    def keys(self) -> np.ndarray[Any, Any]:
        """A number for each different text, in the order of texts; objects keep the texts."""
        texts: np.ndarray[Any, Any] = self.texts().fill_null("").to_numpy().astype(str)
        return texts

    def check(self, parsed: Any, what: str) -> None:
        """Errors: `ValueError` on the first cell that is not blank and was not understood."""
        odd = (self.series.is_not_null() & parsed.is_null()).arg_true()
        if len(odd):
            at = int(odd[0])
            more = f", and {len(odd) - 1:,} more like it" if len(odd) > 1 else ""
            raise ValueError(
                f'Row {self.first + at:,} of "{self.file}" has "{str(self.series[at])[:60]}" '
                f'in "{self.name}", '
                f"which {what}{more}. Mend it, open the file again, or change what the column is."
            )


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


def read_text_series(
    path: Path, columns: tuple[tuple[Any, ...], ...], names: list[str], time: str, series: str, **form: Any
) -> tuple[np.ndarray[Any, Any], Any, Any, int]:
    """Readings in a file of delimited text, as `frame_series` gives them."""
    frame = read_text_table(path, [one for one in (*names, time, series) if one], columns, **form)
    first = form["skip"] + form["header"] + 1
    return frame_series(
        frame, path.name, columns, names, time, series, first, form["blanks"], form["decimal"]
    )


def dealt_in_time(n: int, keys: Tensor | None, *, validation: float, test: float) -> dict[str, Tensor]:
    """The first rows to train, later ones for validation, the last for test; `keys` are times, if any."""
    order = torch.arange(n) if keys is None else keys.argsort(stable=True)
    trained = n - round(validation * n) - round(test * n)
    return {
        "train": order[:trained],
        "validation": order[trained : n - round(test * n)],
        "test": order[n - round(test * n) :],
    }


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(1, 32, batch_first=True)
        self.forecast = nn.Linear(32, 1)

    def forward(self, window: Tensor) -> Tensor:  # (N, 52, 1)
        _, h = self.gru(window)
        x = h[-1]                                 # (N, 32)
        return self.forecast(x)                   # (N, 1)


def objective(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses of a batch; training minimises "loss"."""
    forecast = model(batch["window"])
    return {"loss": F.mse_loss(forecast, batch["next"])}


def measure(model: Model, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    """The losses and metrics of a batch."""
    forecast = model(batch["window"])
    return {
        "loss": F.mse_loss(forecast, batch["next"]),
        "absolute_error": F.l1_loss(forecast, batch["next"]),
    }


def load(folder: Path, device: str) -> dict[str, dict[str, Tensor]]:
    """{split: {column: values}} for train, validation and test: window (N, 52, 1); next (N, 1)."""
    return load_series(
        folder,
        device,
        file="co2.csv",
        columns=(("date", "date", "time", "%Y-%m-%d"), ("co2", "number", "input")),
        read=read_text_series,
        table={
            "delimiter": ",",
            "quote": '"',
            "decimal": ".",
            "header": True,
            "skip": 0,
            "blanks": (),
            "encoding": "utf-8",
        },
        inputs=("co2",),
        targets=("co2",),
        time="date",
        series="",
        order="as in the file",
        skip=0,
        most=None,
        lag=52,
        horizon=1,
        stride=1,
        reach_back=False,
        between=0,
        missing="interpolate",
        difference=1,
        standardise=True,
        clock=False,
        deal=dealt_in_time,
        validation=0.2,
        test=0.2,
    )


def batches(split: dict[str, Tensor], shuffle: torch.Generator | None = None) -> Iterator[dict[str, Tensor]]:
    n = len(split["window"])
    order = torch.arange(n) if shuffle is None else torch.randperm(n, generator=shuffle)
    for rows in order.split(BATCH):
        yield {name: column.index_select(0, rows.to(column.device)) for name, column in split.items()}


@torch.no_grad()
def evaluate(model: Model, split: dict[str, Tensor]) -> dict[str, float]:
    """The means over a split, with dropout off."""
    model.eval()
    n = 0
    sums: dict[str, float] = {}
    for batch in batches(split):
        size = len(batch["window"])
        n += size
        for name, value in measure(model, batch).items():
            sums[name] = sums.get(name, 0.0) + size * value.item()
    model.train()
    return {name: value / n for name, value in sums.items()}


def optimiser_for(model: Model) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=0.005)


def report(values: dict[str, float], as_json: bool) -> None:
    shown = "  ".join(f"{name} {value:.4g}" for name, value in values.items())
    print(json.dumps(values) if as_json else shown)


def train(model: Model, data: dict[str, dict[str, Tensor]], seed: int, epochs: int, as_json: bool) -> None:
    optimiser = optimiser_for(model)
    shuffle = torch.Generator().manual_seed(seed)
    step = 0
    best = float("inf")
    kept = None
    for epoch in range(epochs):
        for batch in batches(data["train"], shuffle):
            optimiser.zero_grad()
            loss = objective(model, batch)["loss"]
            value = loss.item()
            if not math.isfinite(value):
                raise SystemExit(f"The loss is {value} after {step} steps: a lower rate may help.")
            loss.backward()
            optimiser.step()
            step += 1
            if as_json:
                print(json.dumps({"step": step, "epoch": epoch, "loss": value}))
        found = evaluate(model, data["validation"])
        values = {f"val_{name}": value for name, value in found.items()}
        report({"epoch": epoch, **values}, as_json)
        if found["loss"] < best:
            best = found["loss"]
            kept = {name: value.clone() for name, value in model.state_dict().items()}
    if kept is not None:
        model.load_state_dict(kept)


def main() -> None:
    parser = argparse.ArgumentParser(description="CO2 at Mauna Loa")
    parser.add_argument(
        "--data", type=Path, default=Path(__file__).parent / "files", help="folder that holds co2.csv"
    )
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--seed", type=int, default=SEED)
    device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    parser.add_argument("--device", default=device)
    parser.add_argument("--save", type=Path, help="write the trained weights here (a state_dict)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    model = Model().to(args.device)
    data = load(args.data, args.device)
    train(model, data, args.seed, args.epochs, args.json)
    found = evaluate(model, data["test"])
    report({f"test_{name}": value for name, value in found.items()}, args.json)
    if args.save:
        torch.save(model.state_dict(), args.save)


if __name__ == "__main__":
    main()
