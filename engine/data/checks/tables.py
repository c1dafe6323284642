"""What the user should know of the columns of a table, as its file has them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from engine.data.checks.findings import Asked, Change, Finding
from engine.data.tables.looks import ColumnLook, TableLook

MOST_LOOKED = 50_000  # rows that are looked at where a column determines another
_IN_A_SERIES = {  # a row that is left out would shift all that follow
    "interpolate": "they are put on the line between the readings around them",
    "carry forward": "the reading before stands in for them",
    "stop": "the series cannot be read until Missing readings says what is put there",
}


def in_columns(look: TableLook, asked: Asked) -> Iterator[Finding]:
    """Columns that only number the rows, and blank cells."""
    of = "" if look.whole else f" of the first {look.rows:,} rows"
    for one in look.columns:
        if one.role not in ("input", "target") or one.trouble:
            continue
        if one.role == "input" and _counts_rows(one):
            words = f"“{one.name}” numbers the rows{of}: it says nothing of a row that is new."
            yield Finding("id", words, _leave_out(one.name, look))
        if one.missing and one.distinct > 1:
            yield _missing(one, asked, look.rows, of)


def constant_columns(look: TableLook) -> Iterator[Finding]:
    """Input columns that say nothing."""
    for one in look.columns:
        if one.role == "input" and not one.trouble and len(one.values) > 1 and one.distinct <= 1:
            words = f"“{one.name}” is the same in every row, so nothing can be learned from it."
            yield Finding("constant", words, _leave_out(one.name, look))


def between_columns(look: TableLook) -> Iterator[Finding]:
    """Inputs that are a target in another form."""
    for target in look.columns:
        if target.role != "target" or target.trouble or target.distinct < 2:
            continue
        for one in look.columns:
            if one.role == "input" and not one.trouble and one.distinct > 1 and not _counts_rows(one):
                how = determines(one, target)
                if how:
                    words = f"“{one.name}” {how} “{target.name}”, the target: the answer is among the inputs."
                    yield Finding("target-in-inputs", words, _leave_out(one.name, look), serious=True)


def _missing(one: ColumnLook, asked: Asked, rows: int, of: str) -> Finding:
    how, words = str(asked.params.get("missing", "")), one.kind in ("category", "yes-no")
    what, fix = "", None
    if one.role == "target" or how == "drop rows":
        what = "; such rows are left out"
    elif how in _IN_A_SERIES:
        what = f"; {_IN_A_SERIES[how]}"
    elif how:
        filled = "with the commonest class" if words else how.replace("fill with", "with the")
        what = f"; they are filled {filled} of the training rows"
    if one.role == "input" and how == "drop rows":
        label = "Fill with the commonest class" if words else "Fill with the median"
        fix = Change(label, {"missing": "fill with median"})
    elif one.role == "input" and how == "stop":
        fix = Change("Put them on the line between", {"missing": "interpolate"})
    elif one.role == "input" and how and how not in _IN_A_SERIES:
        fix = Change("Leave such rows out", {"missing": "drop rows"})
    cells = f"{one.missing:,} of {rows:,} cells{' looked at' if of else ''} of “{one.name}” are blank{what}."
    return Finding("missing", cells, fix)


def _counts_rows(one: ColumnLook) -> bool:
    """Whether a column is all different and nothing but numbers close together, or texts that never recur."""
    known = one.known
    if len(known) < 20 or one.distinct < len(known):
        return False
    if one.kind == "whole":
        return float(known.max() - known.min()) + 1 <= 1.2 * len(known)
    return one.kind == "category"


def determines(one: ColumnLook, target: ColumnLook) -> str:
    """Whether a column "equals" or "determines" the target in the rows where both are known; "" if not."""
    both = np.isfinite(one.values) & np.isfinite(target.values)
    x, y = one.values[both][:MOST_LOOKED], target.values[both][:MOST_LOOKED]
    if len(x) < 20 or x.min() == x.max() or y.min() == y.max():
        return ""
    if np.array_equal(x, y):
        return "equals"
    if target.kind in ("number", "whole", "date") and one.kind in ("number", "whole", "date"):
        slope, start = np.polyfit((x - x.mean()) / x.std(), y, 1)
        rest = y - (slope * (x - x.mean()) / x.std() + start)
        return "determines" if np.abs(rest).max() <= 1e-6 * y.std() else ""
    keys, at = np.unique(x, return_inverse=True)
    if len(keys) > len(x) / 5:
        return ""  # few rows of each value: they agree by accident
    low, high = np.full(len(keys), np.inf), np.full(len(keys), -np.inf)
    np.minimum.at(low, at, y)
    np.maximum.at(high, at, y)
    return "determines" if np.array_equal(low, high) else ""


def _leave_out(name: str, look: TableLook) -> Change | None:
    """Another role for a column, unless nothing would be left to learn from."""
    if sum(one.role == "input" for one in look.columns) < 2:
        return None
    return Change(f"Leave out {name}" if len(name) <= 24 else "Leave it out", roles={name: "ignore"})
