"""Large tables, read piece by piece into a file of numbers. Portable: exports carry this source."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from engine.data.tables.cells import Cells, blank_rows
from engine.data.tables.reading import (
    check_columns,
    is_plain,
    parquet_or_arrow,
    text_form,
    text_trouble,
    typed_scan,
    typed_trouble,
    utf8_lines,
)
from engine.data.telling import tell


def text_numbers(
    path: Path,
    folder: Path,
    used: list[tuple[str, str, str, tuple[Any, ...]]],
    *,
    delimiter: str,
    quote: str,
    decimal: str,
    encoding: str,
    header: bool,
    skip: int,
    blanks: tuple[str, ...],
    aside: tuple[int, ...] = (),
) -> None:
    """Write the numbers of a text table into `folder`. Errors: `ValueError` as `read_text_table` has."""
    import polars as pl

    source = text_as_utf8(path, folder / "text", encoding, delimiter, quote, aside)
    form, names = text_form(path, source, delimiter, quote, header, skip)
    wanted = [name for name, *_ in used]
    check_columns(path.name, names, wanted)
    numeric = {
        name: pl.Float64 for name, kind, _, details in used if kind in ("number", "whole") and not details
    }
    count = rows_about(source)
    for types in (numeric, {}):  # as text where some number is written in a way of its own
        frame = pl.scan_csv(
            source,
            **form,
            with_column_names=lambda _: names,
            null_values=["", *blanks],
            schema_overrides=types,
            decimal_comma=decimal == "," and bool(types),
        )
        try:
            # every column is read, as polars only then notices rows that are too long
            pieces = (piece.select(wanted) for piece in in_pieces(frame, len(names)))
            write_numbers(folder, pieces, used, path.name, skip + header + 1, blanks, decimal, count)
            break
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            if not types:
                raise ValueError(text_trouble(path, source, error, {**form, "new_columns": names})) from error
    (folder / "text").unlink(missing_ok=True)


def typed_numbers(
    path: Path,
    folder: Path,
    used: list[tuple[str, str, str, tuple[Any, ...]]],
    *,
    blanks: tuple[str, ...],
) -> None:
    """Write the numbers of a Parquet or Arrow file into `folder`. Errors: `ValueError`."""
    import shutil

    import polars as pl

    parquet = parquet_or_arrow(path)
    wanted = [name for name, *_ in used]
    try:
        frame, names = typed_scan(path, parquet)
        check_columns(path.name, names, wanted)
        count = int(frame.select(pl.len()).collect().item())
        needed, free = 8 * count * len(used), shutil.disk_usage(folder).free
        if needed > free:  # a small file may hold a thousand million rows
            raise ValueError(
                f'The numbers of "{path.name}" take {needed / 2**30:,.1f} GiB on disk, where '
                f"{free / 2**30:,.1f} are free: {folder.parent}."
            )
        pieces = in_pieces(frame.select(wanted), len(wanted))
        write_numbers(folder, pieces, used, path.name, 1, blanks, ".", count)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise ValueError(typed_trouble(path, parquet)) from error


def rows_about(path: Path) -> int:
    """How many rows a text file may have, by the lines of its beginning: a round number."""
    with open(path, "rb") as file:
        head = file.read(2**20)
    lines = max(1, head.count(b"\n"), head.count(b"\r"))
    count = path.stat().st_size / max(1, len(head)) * lines
    return max(1, int(float(f"{count:.2g}")))


def in_pieces(frame: Any, width: int) -> Iterator[Any]:
    """The rows of a lazy frame of `width` columns in their order, some at a time."""
    rows = max(1000, min(100_000, 2_000_000 // max(1, width)))
    yield from frame.collect_batches(chunk_size=rows, maintain_order=True, lazy=True)


def write_numbers(
    folder: Path,
    pieces: Iterator[Any],
    used: list[tuple[str, str, str, tuple[Any, ...]]],
    file: str,
    first: int,
    blanks: tuple[str, ...],
    decimal: str,
    count: int,
) -> None:
    """Write rows (N, C) of float64 to "numbers", and what they are to "about.json"; blank rows are none.

    There are about `count` of them.
    Columns of groups and splits hold a number for each text, in the order in which the texts come.
    """
    texts: dict[str, dict[str, int]] = {name: {} for name, _, role, _ in used if role in ("group", "split")}
    rows = seen = 0
    with open(folder / "numbers", "wb") as out:
        for piece in pieces:
            table = np.empty((len(piece), len(used)), np.float64)
            for at, (name, kind, _, details) in enumerate(used):
                cells = Cells(piece[name], name, file, first + seen, blanks, decimal)
                if name in texts:
                    table[:, at] = text_codes(cells.keys(), texts[name])
                else:
                    table[:, at] = cells.values(kind, details)
            seen += len(piece)
            tell(seen, max(seen, count), "rows")
            table = table[~blank_rows(piece, blanks)]
            rows += len(table)
            out.write(table.tobytes())
    about = {
        "file": file,
        "rows": rows,
        "names": [name for name, *_ in used],
        "texts": {name: list(known) for name, known in texts.items()},
    }
    (folder / "about.json").write_text(json.dumps(about), "utf-8")


def text_codes(texts: np.ndarray[Any, Any], known: dict[str, int]) -> np.ndarray[Any, Any]:
    """A number for each text, those of `known`, which grows."""
    found, at = np.unique(texts, return_inverse=True)
    codes = np.array([known.setdefault(str(text), len(known)) for text in found], np.float64)
    numbers: np.ndarray[Any, Any] = codes[at]
    return numbers


def text_as_utf8(
    path: Path, copy: Path, encoding: str, delimiter: str, quote: str, aside: tuple[int, ...]
) -> Path:
    """The file itself where polars can read it, or a `copy` of its text that it can.

    Errors: `ValueError` with the byte that is not of the encoding.
    """
    if is_plain(path, encoding, delimiter, quote, aside):
        return path
    count = rows_about(path)
    with open(copy, "w", encoding="utf-8", errors="surrogatepass", newline="\n") as out:
        for number, line in enumerate(utf8_lines(path, encoding, delimiter, quote, aside)):
            if number % 100_000 == 0:
                tell(number, max(number, count), "lines")
            out.write(line)
    return copy
