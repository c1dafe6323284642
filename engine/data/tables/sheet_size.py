"""Spreadsheets, opened once it is known that they fit into memory. Portable: exports carry this source."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from engine.data.tables.apart import apart


def sheet_cells(path: Path, sheet: str, skip: int) -> tuple[list[str], Any]:
    """The names of a book's sheets, and a polars frame of one's cells as text, below `skip` rows.

    The first sheet if not named. Errors: `ValueError` where there is none, or it is larger than may be read.
    """
    try:
        import fastexcel
    except ImportError as error:
        raise ImportError("Excel files are read with fastexcel: pip install fastexcel.") from error
    import polars as pl

    check_book(path)
    try:
        book = fastexcel.read_excel(path.read_bytes())  # a name may be of bytes that are no letters
        names = list(book.sheet_names)
        if not names:
            raise ValueError(f'"{path.name}" has no sheet.')
        if sheet and sheet not in names:
            raise ValueError(f'"{path.name}" has no sheet "{sheet}"; it has {", ".join(names[:8])}.')
        found = book.load_sheet(sheet or 0, header_row=None, skip_rows=skip, dtypes="string")
    except fastexcel.FastExcelError as error:
        raise ValueError(sheet_trouble(path, error)) from error
    return names, pl.DataFrame(found)


def sheet_trouble(path: Path, error: BaseException) -> str:
    """Why a spreadsheet could not be read."""
    if "password" in str(error).casefold():
        return f'"{path.name}" is locked with a password: save it without.'
    with open(path, "rb") as file:
        head = file.read(4096)
    if re.search(rb"(?i)<(html|table|!doctype html)", head):
        return f'"{path.name}" is an HTML table under the name of a spreadsheet: save it as .xlsx or .csv.'
    if b"\0" not in head:
        parts = {b"\t": "tabs", b";": "semicolons", b",": "commas"}
        by = next((name for mark, name in parts.items() if mark in head.split(b"\n")[0]), "lines")
        end = ".tsv" if by == "tabs" else ".csv"
        return f'"{path.name}" is text parted by {by} under the name of a spreadsheet: name it {end}.'
    return f'"{path.name}" is no whole spreadsheet: it is damaged, cut short or another kind of file.'


def check_book(path: Path, most_cells: int = 50_000_000, most_bytes: int = 2**31) -> None:
    """Errors: `ValueError` for a sheet whose cells, as numbered, would not fit; readers take room for all.

    One cell in the last row and the last column is enough to ask for half a terabyte.
    """
    import zipfile
    import zlib

    cell = re.compile(rb' r="([A-Z]{1,3})([0-9]{1,7})"')
    try:
        with zipfile.ZipFile(path) as book:
            size = sum(one.file_size for one in book.infolist())
            if size > most_bytes:
                raise ValueError(
                    f'"{path.name}" unpacks to {size / 2**20:,.0f} MiB; '
                    f"at most {most_bytes / 2**20:,.0f} are read."
                )
            for part in book.infolist():
                if not re.fullmatch(r"xl/worksheets/[^/]+\.xml", part.filename):
                    continue
                last_row = last_column = 1
                rest = b""
                with book.open(part) as file:
                    while piece := file.read(2**20):
                        for letters, digits in set(cell.findall(rest + piece)):
                            column = 0
                            for letter in letters:
                                column = 26 * column + letter - 64
                            last_row, last_column = max(last_row, int(digits)), max(last_column, column)
                        rest = piece[-32:]
                if last_row * last_column > most_cells:
                    raise ValueError(
                        f'"{path.name}" has a sheet of {last_row:,} rows and {last_column:,} columns; '
                        f"at most {most_cells:,} cells can be read. Remove what stands far from the table."
                    )
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError):
        return  # of another kind, or damaged: its reader says so


# Under the same name, which a script has for the one in it.
globals()["sheet_cells"] = apart(sheet_cells, "a spreadsheet", sheet_trouble)
