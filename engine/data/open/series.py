"""Opens a file as time series: which columns are readings, which says the time, what is odd."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from engine.catalogue.traits import FileForm
from engine.data.open import tables as open_table
from engine.data.open.opening import Opened, reader, stamp
from engine.data.series.files import form_for, numpy_numbers, reader_of, series_in_order
from engine.data.tables.sniff import number_in
from engine.data.watch import Watch
from engine.errors import DataError, reason_of
from engine.values import Value

KEPT = (
    *("path", "stamp", "rows", "plain", "loose", "delimiter", "quote", "decimal", "encoding", "header"),
    *("missing_as", "aside"),
)
NUMBERS = ("number", "whole")
USUAL = {"delimiter": ",", "quote": '"', "decimal": ".", "encoding": "utf-8", "header": True}
DAY = 86_400.0


def open_it(path: Path, watch: Watch) -> Opened:
    """A time series node for a file. Errors: `DataError` with what is wrong and where; `Stopped`."""
    try:
        if path.suffix.casefold() == ".npy":
            return _numpy(path)
        return _table(path, watch)
    except (ValueError, ImportError) as error:
        raise DataError(reason_of(error)) from error


def _numpy(path: Path) -> Opened:
    values = numpy_numbers(path).astype(np.float64)
    table = tuple((str(at + 1), "number", "input") for at in range(values.shape[1]))
    params: dict[str, Value] = {"path": str(path), "stamp": stamp(path), "rows": len(values), "table": table}
    remarks = _about(values, None, [np.arange(len(values))], params)
    return Opened(reader(FileForm.SERIES), params, path.stem, tuple(remarks))


def _table(path: Path, watch: Watch) -> Opened:
    opened = open_table.open_it(path, watch)
    params = {name: value for name, value in opened.params.items() if name in KEPT}
    if opened.params.get("skip"):
        params["lines_before"] = opened.params["skip"]
    found = opened.params["table"]
    assert isinstance(found, tuple)
    table = [list(row) for row in found if isinstance(row, tuple)]
    for row in table:  # in a table a whole number may be a class; in a series it is a reading
        if row[1] in ("category", "yes-no") and all(number_in(str(one)) is not None for one in row[3:]):
            row[1:] = ["whole", "input"]
    time = next((str(row[0]) for row in table if row[1] == "date"), "") or _counting(table)
    for row in table:
        row[2] = "time" if row[0] == time else "input" if row[1] in NUMBERS else "ignore"
    names = [str(row[0]) for row in table if row[2] == "input"]
    if not names:
        raise DataError(f'"{path.name}" has no column of numbers, so it holds no series.')
    group = next((str(row[0]) for row in table if row[1] == "category"), "") if time else ""
    form = {**USUAL, **{name: params[name] for name in USUAL if name in params}}
    form["delimiter"] = {"tab": "\t"}.get(str(form["delimiter"]), form["delimiter"])
    form["quote"] = "" if form["quote"] == "none" else form["quote"]
    form |= {"skip": params.get("lines_before", 0), "blanks": params.get("missing_as", ())}
    form |= {"aside": params.get("aside", ())}
    form = form_for(path, {**form, "sheet": ""})
    columns = tuple(tuple(row) for row in table)
    values, times, parted, _ = reader_of(path)(path, columns, names, time, group, **form)
    if len(values) < 3:
        raise DataError(f'"{path.name}" has {len(values)} readings: too few for a series.')
    if group and times is not None and len(np.unique(times)) < len(times):
        for row in table:
            row[2] = "group" if row[0] == group else row[2]
    else:
        parted = None
    params |= {"table": tuple(tuple(row) for row in table), "rows": len(values)}
    remarks = [
        *opened.reading,
        f"Predicted from the past: {', '.join(names[:8])}{', ...' if len(names) > 8 else ''}.",
    ]
    left = [str(row[0]) for row in table if row[2] == "ignore"]
    if left:
        remarks.append(f"Left out, as no numbers: {', '.join(left[:8])}.")
    if parted is not None:
        remarks.append(f"{int(parted.max()) + 1:,} series, one for each value of {group}.")
    rows = series_in_order(None, parted, len(values), 0, None)
    remarks += _about(values, times, rows, params, dates=any(row[1] == "date" for row in table))
    return Opened(reader(FileForm.SERIES), params, opened.name, tuple(remarks))


def _counting(table: list[list[Value]]) -> str:
    """A column that by its name says the time as a number."""
    names = ("time", "t", "year", "timestamp", "step", "second", "seconds")
    found = (str(row[0]) for row in table if row[1] in NUMBERS and str(row[0]).casefold() in names)
    return next(found, "") if sum(row[1] in NUMBERS for row in table) > 1 else ""


def _about(
    values: np.ndarray[Any, Any],
    times: np.ndarray[Any, Any] | None,
    rows: list[np.ndarray[Any, Any]],
    params: dict[str, Value],
    dates: bool = False,
) -> list[str]:
    """Sets the parameters that the readings ask for, and says why."""
    remarks = []
    lost = int(np.isnan(values).sum())
    if lost:
        params["missing"] = "interpolate"
        remarks.append(
            f"{lost:,} reading{'' if lost == 1 else 's'} missing: interpolated; other ways can be chosen."
        )
    if times is not None:
        if any((np.diff(times[part]) < 0).any() for part in rows):
            params["order"] = "by time"
            remarks.append("The rows are not in the order of time: they are sorted by time.")
        steps = np.concatenate([np.diff(np.sort(times[part])) for part in rows])
        if len(steps):
            usual = float(np.median(steps))
            same = int((steps == 0).sum())
            odd = int((np.abs(steps - usual) > 1e-6 * max(abs(usual), 1e-9)).sum()) - same
            if same:
                remarks.append(f"{same:,} readings have the time of another one.")
            if odd > 0:
                step = f"{usual / DAY:g} days" if dates else f"{usual:g}"
                remarks.append(
                    f"{odd:,} of {len(steps):,} steps in time are not the usual {step}: windows count "
                    "readings, whatever the time between them."
                )
    shortest = min(len(part) for part in rows)
    params["lag"] = max(1, min(24, shortest // 10))
    return remarks
