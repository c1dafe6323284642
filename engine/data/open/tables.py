"""Opens a table of the user: finds its form, the kind of each column and what each is for.

Everything that is guessed becomes a parameter of the node; what the user should know becomes a remark.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.catalogue.traits import FileForm
from engine.data.open.opening import Opened, reader, stamp
from engine.data.tables.cells import blank_rows
from engine.data.tables.column_kinds import Guess, guesses, rows_hit
from engine.data.tables.column_roles import Plan, listed, roles, say_missing
from engine.data.tables.reading import (
    decoded,
    nameable,
    read_sheet,
    read_text_table,
    read_typed_table,
    row_sizes,
    sheet_names,
    text_form,
)
from engine.data.tables.records import read_records
from engine.data.tables.sizes import MEMORY, bytes_to_read, features_of
from engine.data.tables.sniff import RECORDS, SHEETS, Form, encoding_of, form_of, header_in
from engine.data.tables.stream import streamed
from engine.data.watch import Watch
from engine.errors import DataError, reason_of
from engine.values import Value

LARGE = 64 << 20  # bytes above which a file is looked through piece by piece
HEAD = 4 << 20  # bytes that the form and the kinds are guessed from
MARKS = (b"PAR1", b"ARROW1")
FORM = ("delimiter", "quote", "decimal", "encoding", "header", "skip", "sheet")  # parameters that say how
WIDEST = 100_000  # columns


def open_it(path: Path, watch: Watch) -> Opened:
    """A table node for a file. Errors: `DataError` with what is wrong and where; `Stopped`."""
    with open(path, "rb") as file:
        head = file.read(HEAD)
    try:
        if path.suffix.casefold() in SHEETS:
            return _from_sheet(path, watch)
        if head.startswith(MARKS):
            return _from_frame(path, read_typed_table(path, None), {}, [], 1, watch)
        if path.suffix.casefold() in RECORDS:
            return _from_frame(path, read_records(path, None), {}, [], 1, watch)
        from engine.data.open.images import names_images, open_list

        return open_list(path, watch) if names_images(path) else _from_text(path, head, watch)
    except (ValueError, ImportError) as error:
        raise DataError(reason_of(error)) from error


def open_as(path: Path, params: Mapping[str, Value], watch: Watch) -> Opened:
    """A table node for a file whose form the user has set in `params`, of a node with its defaults filled in.

    Errors: `DataError`, `Stopped`.
    """
    kept = {name: params[name] for name in FORM}
    header, skip, sheet = bool(params["header"]), int(str(params["skip"])), str(params["sheet"])
    try:
        if path.suffix.casefold() in SHEETS:
            frame = read_sheet(path, sheet, header=header, skip=skip)
            return _from_frame(path, frame, kept, [], skip + header + 1, watch)
        with open(path, "rb") as file:
            if file.read(8).startswith(MARKS) or path.suffix.casefold() in RECORDS:
                return open_it(path, watch)
        form = Form(
            delimiter={"tab": "\t"}.get(str(params["delimiter"]), str(params["delimiter"])),
            quote="" if params["quote"] == "none" else str(params["quote"]),
            decimal=str(params["decimal"]),
            encoding=str(params["encoding"]),
            header=header,
            skip=skip,
        )
        first = skip + header + 1
        if _by_pieces(path, form):
            found, rows, hit = streamed(path, form, watch)
            return _opened(path, kept, found, rows, hit, [], first)
        frame = read_text_table(path, None, **asdict(form), blanks=())
        return _from_frame(path, frame, kept, [], first, watch)
    except (ValueError, ImportError) as error:
        raise DataError(reason_of(error)) from error


def _from_sheet(path: Path, watch: Watch) -> Opened:
    names = sheet_names(path)
    if not names:
        raise ValueError(f'"{path.name}" has no sheet.')
    name, rows = names[0], _top_of(path, names[0])
    for other in names[1:] if _wide(rows) < 2 else ():
        watch.look(None, f"looking at the sheet {other}")
        if _wide(found := _top_of(path, other)) > 1:
            name, rows = other, found
            break
    skip, header = header_in(rows, ".")
    params: dict[str, Value] = {"sheet": name} if len(names) > 1 else {}
    params |= ({"header": False} if not header else {}) | ({"skip": skip} if skip else {})
    remarks = _lines_above(skip)
    if len(names) > 1:
        others = [one for one in names if one != name]
        remarks.append(f'Read is the sheet "{name}"; there are also {listed(others)} ("Sheet").')
    frame = read_sheet(path, name, header=header, skip=skip)
    return _from_frame(path, frame, params, remarks, skip + header + 1, watch)


def _top_of(path: Path, sheet: str) -> list[list[str]]:
    """The first rows of a sheet as text."""
    top = read_sheet(path, sheet, header=False, skip=0)
    return [["" if cell is None else str(cell) for cell in row] for row in top.head(200).iter_rows()]


def _wide(rows: list[list[str]]) -> int:
    """How many cells of the fullest row are filled: a sheet of remarks has one a row."""
    return max((sum(bool(cell.strip()) for cell in row) for row in rows), default=0)


def _from_text(path: Path, head: bytes, watch: Watch) -> Opened:
    try:
        encoding = encoding_of(head, whole=len(head) < HEAD)
    except ValueError as error:
        raise ValueError(f'"{path.name}" is no table: {error}.') from error
    form = form_of(head[: 1 << 18].decode(encoding, "ignore").removeprefix("\ufeff"), encoding)
    params, first = written(form), form.skip + form.header + 1
    remarks = [f'The letters are read as {encoding} ("Encoding").'] if encoding != "utf-8" else []
    remarks += _lines_above(form.skip)
    large = _by_pieces(path, form)
    try:
        if large:
            found, rows, hit = streamed(path, form, watch)
            return _opened(path, params, found, rows, hit, remarks, first)
        frame = read_text_table(path, None, **asdict(form), blanks=())
    except ValueError as error:
        # what comes late in a file may show that it is not what its beginning looks like
        if form.encoding != "utf-8" or "is not utf-8" not in str(error):
            raise
        form = replace(form, encoding="latin-1")
        params = written(form)
        remarks = [
            str(error).replace(". Choose another encoding", "")
            + ': all of it is read as latin-1 ("Encoding").'
        ]
        frame = read_text_table(path, None, **asdict(form), blanks=())
    if len(frame) and frame[:, -1].null_count():
        remarks += _short_rows(path, form, frame.width)
    return _from_frame(path, frame, params, remarks, first, watch)


def _lines_above(skip: int) -> list[str]:
    if not skip:
        return []
    lines = "1 line above the table is" if skip == 1 else f"{skip:,} lines above the table are"
    return [f'{lines} passed over ("Lines before").']


def _by_pieces(path: Path, form: Form) -> bool:
    """Whether a file is looked through piece by piece: a large one that polars can read as it is."""
    plain = form.encoding == "utf-8" and form.delimiter != "spaces" and nameable(path)
    return plain and path.stat().st_size > LARGE


def _short_rows(path: Path, form: Form, width: int) -> list[str]:
    """A sentence on rows that end before the last column, which only a count of their cells shows."""
    source = decoded(path, form.encoding, form.delimiter)
    how, _ = text_form(path, source, form.delimiter, form.quote, form.header, form.skip)
    short = [at for at, size in row_sizes(source, how) if 0 < size < width]
    if not short:
        return []
    rows = "row ends" if len(short) == 1 else "rows end"
    return [
        f"{len(short):,} {rows} before the last column, the first in row {short[0]:,}: their rest is blank."
    ]


def _from_frame(
    path: Path, frame: Any, params: dict[str, Value], remarks: list[str], first: int, watch: Watch
) -> Opened:
    """The node of a table that is held in memory as polars reads it; `first` is its first row in the file."""
    watch.look(0.5, "looking at the columns")
    if frame.width > WIDEST:
        raise ValueError(f'"{path.name}" has {frame.width:,} columns; at most {WIDEST:,} can be read.')
    empty = blank_rows(frame, ())
    there = np.flatnonzero(~empty)
    if not len(there):
        raise ValueError(f'"{path.name}" has no row with anything in it.')
    if len(there) < len(frame):
        frame = frame[there]
        inside = int(empty[: there[-1]].sum())
        remarks = [
            *remarks,
            *([f"{inside:,} blank lines between the rows are passed over."] if inside else []),
        ]
    found = guesses(frame, str(params.get("decimal", ".")), watch)
    for one in found:
        one.odd = tuple((int(there[at]), text) for at, text in one.odd)
    rows = len(frame)
    plan = roles(deepcopy(found), rows)
    marks = tuple({text for one in found for text in one.blanks})
    inputs = [
        one.name for one, role in zip(found, plan.roles, strict=True) if role == "input" and one.missing
    ]
    return _opened(path, params, found, rows, rows_hit(frame, inputs, marks), remarks, first)


def _opened(
    path: Path,
    params: dict[str, Value],
    found: list[Guess],
    rows: int,
    hit: int,
    remarks: list[str],
    first: int,
) -> Opened:
    plan: Plan = roles(found, rows, first)
    say_missing(found, plan, rows, hit)
    table = tuple(
        (one.name, one.kind, role, *one.details) for one, role in zip(found, plan.roles, strict=True)
    )
    needed = bytes_to_read(rows, table, features_of(table)) / 2**20
    if needed > MEMORY and path.suffix.casefold() not in (*SHEETS, *RECORDS):
        plan.remarks.append(
            f"Read as a whole it would take about {needed / 1024:,.1f} GiB of memory: training reads it in "
            'pieces, once, and keeps its numbers on disk ("In memory up to").'
        )
    blanks = sorted({text for one in found for text in one.blanks})
    values: dict[str, Value] = {
        "path": str(path),
        "stamp": stamp(path),
        "rows": rows,
        "table": table,
        **params,
        **plan.params,
        **({"missing_as": tuple(blanks)} if blanks else {}),
    }
    return Opened(reader(FileForm.TABLE), values, path.stem, (*remarks, *plan.remarks))


def written(form: Form) -> dict[str, Value]:
    """The form as parameters of the node, those that differ from the usual."""
    usual = Form()
    values: dict[str, Value] = {
        "encoding": form.encoding,
        "delimiter": form.delimiter,
        "quote": form.quote,
        "decimal": form.decimal,
        "header": form.header,
        "skip": form.skip,
    }
    found = {key: value for key, value in values.items() if value != getattr(usual, key)}
    if form.delimiter == "\t":
        found["delimiter"] = "tab"
    return found
