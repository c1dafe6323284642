"""Spreadsheets, opened once it is known that they fit into memory. Portable: exports carry this source."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any


def opened_book(path: Path) -> Any:
    """A spreadsheet as fastexcel opens it. Errors: `ValueError` where it is larger than may be read."""
    import fastexcel

    check_book(path)
    return fastexcel.read_excel(path.read_bytes())  # a name may be of bytes that are no letters


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
