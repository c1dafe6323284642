"""Columns of a data set in words, for the table of columns."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from app.charts.plot import number
from app.data.facts import DataFacts
from app.data.roles import Row
from app.data.table import Line, spread_of
from engine.data.tables.looks import ColumnLook, TableLook

MOST = 400


def lines_of(
    facts: DataFacts,
    split: str,
    names: Mapping[str, tuple[str, ...]],
    rows: Mapping[str, Row],
    scaled: Mapping[str, str],
) -> list[Line]:
    """The columns of a table's file, else those of a split; `names` are of classes, `rows` hold roles.

    `scaled` says what was done to the numbers of a column, in a word.
    """
    if facts.look is not None:
        return [_of_file(one, facts.look) for one in facts.look.columns[:MOST]]
    found = []
    for name, one in list(facts.summary.columns.get(split, {}).items())[:MOST]:
        shape = "×".join(str(size) for size in one.shape) or "scalar"
        # What is left of a mean that was subtracted is rounding, not a mean.
        mean = 0.0 if abs(one.mean) < 1e-6 * one.deviation else one.mean
        classes = len(names.get(name, ()))
        middle = f"{classes} classes" if classes else f"{number(mean)} ± {number(one.deviation)}"
        reach = f"{number(one.minimum)} to {number(one.maximum)}"
        sample = facts.samples.get(split, {}).get(name)
        values = np.asarray(sample, np.float64).ravel() if sample is not None else np.empty(0)
        gone = int((~np.isfinite(values)).sum())
        if classes and len(one.classes):
            counts = np.asarray(one.classes[:60], np.float64)
            spread = counts / max(1.0, counts.max())
        else:
            spread = spread_of(values)
        tip = f"of {one.sampled:,} rows spread over the split" if one.sampled else ""
        role = str(rows[name][2]) if name in rows else ""
        kind = " · ".join(filter(None, (shape, one.dtype, scaled.get(name, ""))))
        cells = (kind, reach, middle, f"{gone:,}" if gone else "0", "")
        found.append(Line(name, role, cells, spread, bool(classes), tip))
    return found


def _of_file(one: ColumnLook, look: TableLook) -> Line:
    known = one.known
    form = one.kind in ("number", "whole") and bool(one.details)
    reach = middle = ""
    classes = 0
    if one.trouble:
        middle = "cannot be read"
    elif one.kind in ("category", "yes-no"):
        classes = len(one.details)
        middle = f"{classes} classes"
    elif one.kind == "date" and len(known):
        reach = f"{_day(known.min())} to {_day(known.max())}"
    elif one.kind in ("number", "whole") and len(known):
        reach = f"{number(float(known.min()))} to {number(float(known.max()))}"
        middle = f"{number(float(known.mean()))} ± {number(float(known.std()))}"
    spread = None if one.trouble or one.kind in ("text", "path") else spread_of(known, classes)
    missing = f"{one.missing:,}"
    if one.missing:
        missing += f" · {one.missing / max(1, look.rows):.0%}".replace("%", " %")
    tip = one.trouble or ("" if look.whole else f"of the first {look.rows:,} rows")
    return Line(
        one.name,
        one.role,
        (f"{one.kind} · {one.details[0]}" if form else one.kind, reach, middle, missing, f"{one.distinct:,}"),
        spread,
        bool(classes),
        tip,
    )


def _day(days: float) -> str:
    return str(np.datetime64("1970-01-01") + np.timedelta64(int(days), "D"))
