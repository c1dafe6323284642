"""Columns of Parquet and Arrow that hold more than one value a row. Portable: exports carry this source."""

from __future__ import annotations

from typing import Any


def flattened(frame: Any) -> Any:
    """A lazy polars frame with one value a row in each column, wherever that can be.

    A struct becomes a column for each field, lists of one length a column for each place, numbered from 1;
    durations and times of day become seconds.
    """
    import polars as pl

    longest, widest = 10_000, 100_000  # values of a list, and columns; lists beyond are left as they are
    for _ in range(4):  # lists may lie in structs, and structs in lists
        schema = frame.collect_schema()
        lists = [name for name, kind in schema.items() if isinstance(kind, pl.List)]
        lengths = list_lengths(frame, lists, longest)
        found: dict[str, Any] = {}
        for name, kind in schema.items():
            cell = pl.col(name)
            parts = {name: cell}
            if isinstance(kind, pl.Struct) and pl.Binary not in [field.dtype for field in kind.fields]:
                parts = {f"{name}.{one.name}": cell.struct.field(one.name) for one in kind.fields}
            elif isinstance(kind, pl.Array) and kind.shape[0] <= min(longest, widest - len(found)):
                parts = {f"{name} {at + 1}": cell.arr.get(at) for at in range(kind.shape[0])}
            elif name in lengths and lengths[name] <= widest - len(found):
                parts = {f"{name} {at + 1}": cell.list.get(at) for at in range(lengths[name])}
            elif kind == pl.Duration:
                parts = {name: cell.dt.total_microseconds() / 1e6}
            elif kind == pl.Time:
                parts = {name: cell.cast(pl.Int64) / 1e9}
            for part, value in parts.items():
                while part in found or (part != name and part in schema):
                    part += " (2)"
                found[part] = value.alias(part)
        if not any(kind.is_nested() or kind in (pl.Duration, pl.Time) for kind in schema.dtypes()):
            return frame
        frame = frame.select(list(found.values()))
    return frame


def list_lengths(frame: Any, names: list[str], most: int) -> dict[str, int]:
    """How many values each row of a column of lists has, for those where all have as many, at most `most`."""
    import polars as pl

    if not names:
        return {}
    sizes = pl.col(names).list.len()
    least, largest = frame.select(sizes.min()).collect(), frame.select(sizes.max()).collect()
    rows = zip(names, least.row(0), largest.row(0), strict=True)
    return {name: few for name, few, many in rows if few is not None and 0 < few == many <= most}
