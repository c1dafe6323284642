"""Tables as JSON: a list of rows, an object of columns, a row a line. Portable: exports carry this source."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine.data.file_there import file_there
from engine.data.tables.apart import apart
from engine.data.tables.reading import check_columns


def read_records(path: Path, wanted: list[str] | None) -> Any:
    """The wanted columns (all by default) of a file of JSON as a polars frame; lists and objects become text.

    Errors: `ValueError` where it holds no table, or more than can be held, with the line where it is no JSON.
    """
    import polars as pl

    most = 512  # MiB: as objects of Python it takes twenty times as much at the worst
    if file_there(path).stat().st_size > most << 20:
        raise ValueError(f'"{path.name}" is larger than {most} MiB of JSON: save it as Parquet or CSV.')
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f'"{path.name}" is not utf-8 from byte {error.start + 1:,} on.') from error
    try:
        found = json.loads(text)
    except ValueError as error:
        found = lines_of_records(path, text, error)
    except RecursionError as error:
        raise ValueError(f'"{path.name}" holds lists within lists too deep to be a table.') from error
    columns = columns_of_records(path, found)
    if wanted is not None:
        check_columns(path.name, list(columns), wanted)
        columns = {name: columns[name] for name in wanted}
    try:
        return pl.DataFrame({name: pl.Series(name, cells_of(values)) for name, values in columns.items()})
    except (pl.exceptions.PolarsError, TypeError, OverflowError) as error:
        raise ValueError(f'"{path.name}" cannot be read as a table: {str(error).splitlines()[0]}.') from error


def lines_of_records(path: Path, text: str, error: ValueError) -> list[Any]:
    """One value a line. Errors: `ValueError` with the line; that of the whole where no line is JSON."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            found.append(json.loads(line))
        except (ValueError, RecursionError):
            at = number if found else getattr(error, "lineno", number)
            raise ValueError(f'"{path.name}" is no whole JSON: line {at:,} cannot be read.') from error
    return found


def columns_of_records(path: Path, found: Any, most: int = 50_000_000) -> dict[str, list[Any]]:
    """What JSON holds as {column: values}; a row that lacks a name has None there.

    Errors: `ValueError` where that would be more than `most` cells, few of which are filled.
    """
    if isinstance(found, list) and found and all(isinstance(row, dict) for row in found):
        names = list(dict.fromkeys(str(name) for row in found for name in row))
        if len(names) * len(found) > max(most, 20 * sum(map(len, found))):  # every row has names of its own
            raise ValueError(
                f'"{path.name}" has {len(found):,} rows with {len(names):,} names in all, but '
                f"{sum(map(len, found)):,} values: it is no table."
            )
        return {name: [row.get(name) for row in found] for name in names}
    if isinstance(found, dict) and found:
        columns = {
            str(name): list(values.values()) if isinstance(values, dict) else values
            for name, values in found.items()
        }
        if all(isinstance(values, list) for values in columns.values()):
            if len({len(values) for values in columns.values()}) == 1:
                return columns
            sizes = ", ".join(f"{name}: {len(values):,}" for name, values in list(columns.items())[:4])
            raise ValueError(f'The columns of "{path.name}" are not equally long ({sizes}).')
    raise ValueError(
        f'"{path.name}" holds no table: a list of objects, one a row, or an object of columns is read.'
    )


def cells_of(values: list[Any]) -> list[Any]:
    """Values of one kind: numbers, yes or no, or else text; null stays null."""
    kinds = {bool if isinstance(one, bool) else type(one) for one in values if one is not None}
    if kinds <= {int, float}:
        return [None if one is None else float(one) for one in values] if float in kinds else values
    if kinds <= {str} or kinds <= {bool}:
        return values
    return [one if one is None or isinstance(one, str) else json.dumps(one) for one in values]


def records_trouble(path: Path, error: BaseException) -> str:
    """Why JSON could not be read that was no fault of its form."""
    if isinstance(error, MemoryError):
        return f'"{path.name}" needs more memory than JSON may take: save it as Parquet or CSV.'
    return f'"{path.name}" cannot be read as a table.'


# Under the same name, which a script has for the one in it.
globals()["read_records"] = apart(read_records, "a file of JSON", records_trouble, above=8 << 20)
