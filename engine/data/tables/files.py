"""Tables in files of text, Parquet, Arrow and Excel. Portable: exports carry this source.

`columns` says a column a row: (name, kind, role, *details), in the order of the file. Details are the classes
of a category, the words for no and yes, or the format of a date. Files are read with polars, never written.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch import Tensor

from engine.data.tables.columns import split_table
from engine.data.tables.reading import check_columns, read_sheet, read_text_table


def load_text_table(
    folder: Path,
    device: str,
    *,
    file: str,
    columns: tuple[tuple[Any, ...], ...],
    delimiter: str = ",",
    quote: str = '"',
    decimal: str = ".",
    encoding: str = "utf-8",
    header: bool = True,
    skip: int = 0,
    blanks: tuple[str, ...] = (),
    aside: tuple[int, ...] = (),
    splitter: Callable[..., dict[str, Tensor]],
    **how: Any,
) -> dict[str, dict[str, Any]]:
    """A file of delimited text as {split: {column: values}}; `skip` lines stand before the table.

    Lines set `aside` (numbers from 1) are read as blank ones.

    Errors: `ValueError` with the row, counted from the file's first, and the column.
    """
    form: dict[str, Any] = {"delimiter": delimiter, "quote": quote, "decimal": decimal, "encoding": encoding}
    path, wanted = folder / file, wanted_columns(columns)
    form |= {"header": header, "skip": skip, "blanks": blanks, "aside": aside}
    frame = read_text_table(path, wanted, columns, **form)
    first = skip + header + 1
    return split_table(
        frame,
        columns,
        device,
        file=file,
        first=first,
        blanks=blanks,
        decimal=decimal,
        splitter=splitter,
        **how,
    )


def load_typed_table(
    folder: Path,
    device: str,
    *,
    file: str,
    read: Callable[..., Any],
    columns: tuple[tuple[Any, ...], ...],
    blanks: tuple[str, ...] = (),
    splitter: Callable[..., dict[str, Tensor]],
    **how: Any,
) -> dict[str, dict[str, Any]]:
    """A file of Parquet, Arrow or JSON, which `read` makes a frame of, as {split: {column: values}}."""
    frame = read(folder / file, wanted_columns(columns))
    return split_table(frame, columns, device, file=file, first=1, blanks=blanks, splitter=splitter, **how)


def load_sheet(
    folder: Path,
    device: str,
    *,
    file: str,
    columns: tuple[tuple[Any, ...], ...],
    sheet: str = "",
    header: bool = True,
    skip: int = 0,
    blanks: tuple[str, ...] = (),
    aside: tuple[int, ...] = (),
    splitter: Callable[..., dict[str, Tensor]],
    **how: Any,
) -> dict[str, dict[str, Any]]:
    """A sheet of an Excel or OpenDocument file as {split: {column: values}}; the first one if not named."""
    frame = read_sheet(folder / file, sheet, header=header, skip=skip, aside=aside)
    check_columns(file, list(frame.columns), wanted_columns(columns))
    first = skip + header + 1
    return split_table(
        frame, columns, device, file=file, first=first, blanks=blanks, splitter=splitter, **how
    )


def wanted_columns(columns: tuple[tuple[Any, ...], ...]) -> list[str]:
    """The names of the columns that are not ignored."""
    return [str(name) for name, _, role, *_ in columns if role != "ignore"]
