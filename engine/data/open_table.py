"""Opens a table of a person's own: finds its form, the kind of each column and what each is for.

Everything that is guessed becomes a parameter of the node; what a person should know becomes a remark.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.data.column_kinds import Guess, guesses
from engine.data.column_roles import Plan, roles
from engine.data.opening import Opened, Watch, stamp
from engine.data.sniff import Form, encoding_of, form_of
from engine.data.table_reading import read_sheet, read_text_table, read_typed_table
from engine.errors import DataError
from engine.values import Value

HEAD = 4 << 20  # bytes that the form and the kinds are guessed from
SHEETS = (".xlsx", ".xls", ".xlsb", ".xlsm", ".ods")
TYPED = (b"PAR1", b"ARROW1")
WIDEST = 100_000  # columns


def open_it(path: Path, watch: Watch) -> Opened:
    """A table node for a file. Errors: `DataError` with what is wrong and where; `Stopped`."""
    with open(path, "rb") as file:
        head = file.read(HEAD)
    try:
        if path.suffix.casefold() in SHEETS:
            params, frame, remarks = _sheet(path)
        elif head.startswith(TYPED):
            params, frame, remarks = {}, read_typed_table(path, None), []
        else:
            params, frame, remarks = _text(path, head)
    except (ValueError, ImportError) as error:
        raise DataError(str(error)) from error
    watch.look(0.5, "looking at the columns")
    if not len(frame):
        raise DataError(f'"{path.name}" names columns, but has no row below them.')
    if frame.width > WIDEST:
        raise DataError(f'"{path.name}" has {frame.width:,} columns; at most {WIDEST:,} can be read.')
    found = guesses(frame, str(params.get("decimal", ".")), watch)
    return _opened(path, params, found, len(frame), remarks)


def _opened(
    path: Path, params: dict[str, Value], found: list[Guess], rows: int, remarks: list[str]
) -> Opened:
    plan: Plan = roles(found, rows)
    table = tuple(
        (one.name, one.kind, role, *one.details) for one, role in zip(found, plan.roles, strict=True)
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
    return Opened("TableFile", values, path.stem, (*remarks, *plan.remarks))


def _sheet(path: Path) -> tuple[dict[str, Value], Any, list[str]]:
    frame = read_sheet(path, "", header=True, skip=0)
    return {}, frame, []


def _text(path: Path, head: bytes) -> tuple[dict[str, Value], Any, list[str]]:
    try:
        encoding = encoding_of(head, whole=len(head) < HEAD)
    except ValueError as error:
        raise ValueError(f'"{path.name}" is no table: {error}.') from error
    form = form_of(head.decode(encoding, "ignore").removeprefix("\ufeff"), encoding)
    frame = read_text_table(
        path,
        None,
        delimiter=form.delimiter,
        quote=form.quote,
        decimal=form.decimal,
        encoding=form.encoding,
        header=form.header,
        skip=form.skip,
        blanks=(),
    )
    return written(form), frame, []


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
