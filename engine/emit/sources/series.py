"""Time series: readings in the order of time, filled, and cut into windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.data.series.files import read_numpy_series, read_sheet_series, read_typed_series
from engine.data.series.windows import clock_of, cut_windows, series_parts
from engine.data.splits import split_in_time
from engine.emit.sources.parts import literal
from engine.emit.sources.straight import Function, Reading, Straight
from engine.emit.sources.table_reading import (
    Cell,
    read_lines,
    readable,
    sheet_source,
    text_source,
    typed_source,
)
from engine.emit.sources.tables import DAY
from engine.emit.sources.tables import MAY_CARRY as OF_TABLES
from engine.emit.statements import Statement, tree, walked

MAY_CARRY: tuple[Function, ...] = (clock_of, cut_windows, series_parts, *OF_TABLES)
HELD = 20_000_000  # numbers of windows that are cut at once

NUMPY = """
file = folder / $file
try:
    values = np.load(file)
    values = values.reshape(len(values), -1)[:, $columns].astype(np.float64)
except Exception as error:  # a damaged file may fail in any way
    raise SystemExit(f"{file} is no longer as it was: {error}") from error
"""

READINGS = """
values = $table.to_numpy(order="c", writable=True)
values = values[: np.flatnonzero(~np.isnan(values).all(1)).max(initial=-1) + 1]  # blank lines may follow
times = $times[: len(values)]  #? timed
if np.isnan(times).any():  #? timed
    raise SystemExit(f"{file} has readings without a time.")  #? timed
names = table[$series].fill_null("").to_numpy()[: len(values)]  #? several
order = np.argsort(times, kind="stable")  #? ordered
values = values[order]  #? ordered
times = times[order]  #? ordered_clock
names = names[order]  #? ordered_several
values = values[$span]  #? cut
times = times[$span]  #? cut_clock
"""

PREPARED = """
n = len($values)
<borders>
if np.isnan($values).any():  #? stop
    raise SystemExit(f"{file} has readings that are missing.")  #? stop
if np.isnan($values).all(0).any():  #? not stop
    raise SystemExit(f"{file} has a series without any reading.")  #? not stop
<filled>
for _ in range($difference):  #? twice
    $values = np.diff($values, axis=0, prepend=np.nan)  #? twice
$values = np.diff($values, axis=0, prepend=np.nan)  #? once
"""

FILLED = """
ends = sorted({at for part in $parts.values() for at in part if at} | {n})
for column, lost in zip($values.T, np.isnan($values.T), strict=True):
    for begin, end in zip([0, *ends], ends, strict=False):  # no part sees a later one
        there = np.flatnonzero(~lost[:end])
        gaps = begin + np.flatnonzero(lost[begin:end])
        if len(gaps) and len(there):
            column[gaps] = $found
"""

TIME = """
held, tested = round($validation * n), round($test * n)
$parts = {
    "train": (0, n - held - tested),
    "validation": (n - held - tested, n - tested),
    "test": (n - tested, n),
}
"""

BLOCKS = """
end = n - round($test * n)
first, last = end * $before // $count, end * $after // $count
$parts = {"train": (0, first), "validation": (first, last), "test": (end, n)}
"""

ALONE = """
<prepared>
readings = torch.from_numpy(values)
deviation, mean = torch.std_mean(readings[$difference : parts["train"][1]], 0, correction=0)  #? scaled
readings = (readings - mean) / torch.where(deviation > 0, deviation, 1.0)  #? scaled
"""

TOGETHER = """
start = 0
each = []
parts = []
known = []  #? scaled
clocks = []  #? clock
for name in np.unique(names):
    part = values[names == name]$span
    <prepared>
    each.append(part)
    known.append(torch.from_numpy(part[$difference : here["train"][1]]))  #? scaled
    clocks.append(times[names == name]$span)  #? clock
    parts.append({split: (start + first, start + end) for split, (first, end) in here.items()})
    start += n
readings = torch.from_numpy(np.concatenate(each))
times = np.concatenate(clocks)  #? clock
deviation, mean = torch.std_mean(torch.cat(known), 0, correction=0)  #? scaled
readings = (readings - mean) / torch.where(deviation > 0, deviation, 1.0)  #? scaled
"""

WINDOWS = """
seen = readings$inputs.float()  #? seen
wanted = readings$targets.float()  #? wanted
clock = clock_of(times)  #? clock
windows: dict[str, dict[str, Tensor]] = {}
for split, (first, end) in parts.items():  #? alone
    begin = max($difference, first$back)
    starts = torch.arange(begin, max(begin, end - $reach)$stride)
    <found>
for split in ("train", "validation", "test"):  #? not alone
    pairs = [(max(here["train"][0]$past, here[split][0]$back), here[split][1] - $reach) for here in parts]
    starts = torch.cat([torch.arange(begin, max(begin, end)$stride) for begin, end in pairs])
    <found>
"""

FOUND = """
if not len(starts):
    raise SystemExit(f"{file} has too few readings for a window in {split}.")
windows[split] = {$columns}
"""


def write_series(reading: Reading) -> Straight | None:
    """The lines for `load_series`; None where a file is read in a way of its own."""
    how = reading.options
    names = list(dict.fromkeys([*how["inputs"], *how["targets"]]))
    ordered, clock = how["order"] == "by time", "clock" in reading.wanted
    several = bool(how["series"])
    found = _read(reading, names, ordered or clock)
    if found is None:
        return None
    lines, carried = found
    first, last = how["skip"], "" if how["most"] is None else str(how["skip"] + how["most"])
    span = f"{first or ''}:{last}" if first or last else ""
    about = {"difference": how["difference"], "scaled": how["standardise"], "clock": clock}
    prepared = _prepared(how, "part" if several else "values", "here" if several else "parts")
    flags = {
        "ordered": ordered,
        "ordered_clock": ordered and clock,
        "ordered_several": ordered and several,
        "cut": bool(span) and not several,
        "cut_clock": bool(span) and not several and clock,
    }
    if how["read"] is not read_numpy_series:
        lines += _readings(how, names, span, flags, ordered or clock)
    elif flags["cut"]:
        lines += tree("values = values[$span]", span=span)
    whole = f"[{span}]" if span else ""
    lines += tree(TOGETHER if several else ALONE, prepared=prepared, span=whole, **about)
    lines += _windows(reading, names, clock, several)
    carries: list[Function] = [*carried, *([clock_of] if clock else [])]
    if any("cut_windows(" in one.plain for one in walked(lines)):
        carries.append(cut_windows)
    if how["between"]:
        carries += [series_parts, how["splitter"]]
    return Straight(lines, "windows", carries)


def _read(
    reading: Reading, names: Sequence[str], timed: bool
) -> tuple[list[Statement], Sequence[Function]] | None:
    """Lines that read a file as `table`, or as `values` (n, F), and what they carry."""
    how = reading.options
    if how["read"] is read_numpy_series:
        at = [int(name) - 1 for name in names]
        return tree(NUMPY, file=literal(how["file"]), columns=at), ()
    about = {str(name): (str(kind), tuple(map(str, rest))) for name, kind, _, *rest in how["columns"]}
    if not {about[name][0] for name in names} <= {"number", "whole", "yes-no"}:
        return None
    cells = [Cell(name, about[name][0], "input", about[name][1]) for name in names]
    if timed:
        cells += [Cell(how["time"], about[how["time"]][0], "time", about[how["time"]][1])]
    if how["series"]:
        cells += [Cell(how["series"], "category", "group", ())]
    if not readable(cells):
        return None
    if how["read"] is read_sheet_series:
        source = sheet_source(reading, how["table"])
    elif how["read"] is read_typed_series:
        source = typed_source(reading, ())
    else:
        source = text_source(reading, how["table"], [one.name for one in cells])
    return None if source is None else (read_lines(cells, how["file"], source), source.carries)


def _readings(
    how: Mapping[str, Any], names: Sequence[str], span: str, flags: Mapping[str, bool], timed: bool
) -> list[Statement]:
    """Lines that take the readings of a table, in the order of time if asked."""
    about = {str(name): str(kind) for name, kind, *_ in how["columns"]}
    flagged = any(about[name] == "yes-no" for name in names)
    table = f"table.select({', '.join(map(literal, names))})" if timed or how["series"] else "table"
    if flagged:
        table = f"table.select(pl.col({', '.join(map(literal, names))}).to_physical().cast(pl.Float64))"
    times = ""
    if timed:
        times = f"table[{literal(how['time'])}]"
        date = about[how["time"]] == "date"
        times = f"({times}.to_physical().to_numpy() / {DAY} * 86_400.0)" if date else f"{times}.to_numpy()"
    given = {"table": table, "times": times, "timed": timed, "series": literal(how["series"]), "span": span}
    return tree(READINGS, **given, several=bool(how["series"]), **flags)


def _prepared(how: Mapping[str, Any], values: str, parts: str) -> list[Statement]:
    """Lines that part readings in time, fill what is missing and make them differences."""
    options = {name: how[name] for name in ("validation", "test", "folds", "fold", "gap") if name in how}
    if how["between"]:
        call = "$parts = series_parts(n, $splitter, $between, $options)"
        given = {"splitter": how["splitter"].__name__, "between": how["between"], "options": options}
        borders = tree(call, parts=parts, **given)
    elif how["splitter"] is split_in_time:
        borders = tree(TIME, parts=parts, validation=how["validation"], test=how["test"])
    else:
        count = how["folds"] + 1
        given = {"before": how["fold"] + 1, "after": how["fold"] + 2, "count": count}
        borders = tree(BLOCKS, parts=parts, test=how["test"], **given)
    filled = []
    if how["missing"] != "stop":
        line = "np.interp(gaps, there, column[there])"
        before = "column[there[np.maximum(np.searchsorted(there, gaps) - 1, 0)]]"
        found = line if how["missing"] == "interpolate" else before
        filled = tree(FILLED, parts=parts, values=values, found=found)
    times = how["difference"]
    given = {"stop": how["missing"] == "stop", "once": times == 1, "twice": times > 1, "difference": times}
    return tree(PREPARED, values=values, borders=borders, filled=filled, **given)


def _windows(reading: Reading, names: Sequence[str], clock: bool, several: bool) -> list[Statement]:
    """Lines that cut windows, and what follows each."""
    how, rows = reading.options, reading.data.row_count() // reading.options["stride"] + 1
    lag, horizon, difference = how["lag"], how["horizon"], how["difference"]
    at = {key: [names.index(name) for name in how[key]] for key in ("inputs", "targets")}
    chosen = {key: "" if one == list(range(len(names))) else f"[:, {one}]" for key, one in at.items()}
    if horizon > 1 and len(at["targets"]) == 1:
        chosen["targets"] = f"[:, {at['targets'][0]}]"

    def cut(values: str, starts: str, length: int, size: int) -> str:
        if rows * max(1, length) * size > HELD or not reading.data.row_count():
            return f"cut_windows({values}, {starts}, {length}, device)"
        first = f"({starts})" if "+" in starts else starts
        index = f"{first}[:, None] + torch.arange({length})"
        return f"{values}[{index if length else starts}].to(device)"

    alike = chosen["inputs"] == chosen["targets"] and horizon == 1
    following = "seen" if alike else "wanted"
    columns = {
        "window": cut("seen", "starts", lag, len(at["inputs"])),
        "next": cut(following, f"starts + {lag}", 0 if horizon == 1 else horizon, len(at["targets"])),
        "clock": cut("clock", "starts", lag, 6),
    }
    kept = [name for name in columns if name in reading.wanted]
    items = ", ".join(f'"{name}": {columns[name]}' for name in kept)
    return tree(
        WINDOWS,
        **chosen,
        seen="window" in kept or (alike and "next" in kept),
        wanted="next" in kept and not alike,
        clock=clock,
        alone=not several,
        difference=difference,
        past=f" + {difference}" if difference else "",
        back=f" - {lag}" if how["reach_back"] else "",
        reach=lag + horizon - 1,
        stride=f", {how['stride']}" if how["stride"] > 1 else "",
        found=tree(FOUND, columns=items),
    )
