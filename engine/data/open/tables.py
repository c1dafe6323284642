"""Opens a table of the user: finds its form, the kind of each column and what each is for.

Everything that is guessed becomes a parameter of the node; what the user should know becomes a remark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from copy import deepcopy
from dataclasses import asdict, replace
from functools import partial
from io import BytesIO
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

from engine.catalogue.traits import FileForm
from engine.data.images.listing import natural_key
from engine.data.open.opening import Opened, reader, stamp
from engine.data.open.typed import WIDEST, by_columns
from engine.data.tables.cells import blank_rows
from engine.data.tables.column_kinds import Guess, guesses, rows_hit
from engine.data.tables.column_roles import TARGETS, Plan, listed, roles, say_missing
from engine.data.tables.plain import found_plain, reads_text, reads_typed
from engine.data.tables.reading import (
    cell_form,
    decoded,
    is_plain,
    parquet_or_arrow,
    read_sheet,
    read_text_table,
    read_typed_table,
    scanned,
    sheet_names,
    text_rows,
    utf8_lines,
)
from engine.data.tables.records import read_records
from engine.data.tables.sizes import MEMORY, bytes_to_read, features_of
from engine.data.tables.sniff import (
    DELIMITERS,
    RECORDS,
    SHEETS,
    Form,
    encoding_of,
    form_in,
    form_of,
    header_in,
    is_blank,
    written,
)
from engine.data.tables.stream import Seen, as_plain_text, streamed
from engine.data.telling import listening
from engine.data.watch import Watch
from engine.errors import DataError, reason_of
from engine.values import Value

LARGE = 64 << 20  # bytes above which a file is looked through piece by piece
HEAD = 4 << 20  # bytes that the form and the kinds are guessed from
IMAGES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"BM", b"II*", b"MM")  # what their bytes begin with
FEW_BESIDE = 3  # columns beside one of images; with more of them it is a table
MARKS = (b"PAR1", b"ARROW1")
FORM = (
    "delimiter",
    "quote",
    "decimal",
    "encoding",
    "header",
    "skip",
    "aside",
    "sheet",
)  # parameters that say how
LETTERS = 'Quotes are read as letters, as some are never closed: each line is a row ("Quote").'


def open_it(path: Path, watch: Watch) -> Opened:
    """A table node for a file. Errors: `DataError` with what is wrong and where; `Stopped`."""
    with open(path, "rb") as file:
        head = file.read(HEAD)
    try:
        if path.suffix.casefold() in SHEETS:
            with _watched(watch, "the spreadsheet"):
                return _from_sheet(path, watch)
        if head.startswith(MARKS) and (large := by_columns(path, watch)) is not None:
            params, said = _in_seconds(path, [one.name for one in large.found])
            hit = large.hit(_inputs_that_lack(large.found, large.rows))
            return _opened(path, params, large.found, large.rows, hit, said, 1)
        if head.startswith(MARKS):
            frame = read_typed_table(path, None)
            found = _images_in(path, frame, watch)
            params, said = _in_seconds(path, frame.columns)
            params |= found_plain(reads_typed(path, frame), frame)
            return found or _from_frame(path, frame, params, said, 1, watch)
        if path.suffix.casefold() in RECORDS:
            with _watched(watch, "the table"):
                frame = read_records(path, None)
            return _from_frame(path, frame, found_plain(reads_typed(path, frame), frame), [], 1, watch)
        from engine.data.open.images import names_images, open_list

        return open_list(path, watch) if names_images(path) else _from_text(path, head, watch)
    except (ValueError, ImportError) as error:
        raise DataError(reason_of(error)) from error


def _in_seconds(path: Path, names: list[str]) -> tuple[dict[str, Value], list[str]]:
    """The units of durations and times of day in a file that knows kinds of columns, and a sentence."""
    import polars as pl

    schema = scanned(path, parquet_or_arrow(path)).collect_schema()
    timed = [name for name in names if schema.get(name) in (pl.Duration, pl.Time)]
    if not timed:
        return {}, []
    said = f"Durations and times of day are read as seconds: {listed(timed)}."
    return {"units": tuple("s" if name in timed else "" for name in names)}, [said]


def _images_in(path: Path, frame: Any, watch: Watch) -> Opened | None:
    """A node of images, where a column holds them and another their classes; None for any other table."""
    import polars as pl

    found = None
    for name, kind in frame.schema.items():
        images = (
            frame[name].struct.field("bytes")
            if kind == pl.Struct and "bytes" in frame[name].struct.fields
            else frame[name]
        )
        first = images.drop_nulls().head(1).to_list() if images.dtype == pl.Binary else []
        found = name if first and first[0].startswith(IMAGES) else found
    rest = [one for one in frame.columns if one != found]
    if found is None or len(rest) > FEW_BESIDE:
        return None
    beside = guesses(frame.select(rest), ".", watch)
    labels = [
        one for one in beside if one.counts and not one.missing and 1 < len(one.counts) <= len(frame) / 2
    ]
    label = next((one for one in labels if one.name.casefold() in TARGETS), next(iter(labels), None))
    if label is None:
        return None
    from engine.data.open.images import open_table

    classes = tuple(sorted(label.counts, key=natural_key))
    try:
        return open_table(path, found, label.name, classes, watch)
    except DataError:
        return None  # none of them can be read: the rest may be a table


def open_as(path: Path, params: Mapping[str, Value], watch: Watch) -> Opened:
    """A table node for a file whose form the user has set in `params`, of a node with its defaults filled in.

    Errors: `DataError`, `Stopped`.
    """
    kept = {name: params[name] for name in FORM if name in params}
    form = form_in(params)
    header, skip, aside = form.header, form.skip, form.aside
    try:
        if path.suffix.casefold() in SHEETS:
            with _watched(watch, "the spreadsheet"):
                frame = read_sheet(path, str(params["sheet"]), header=header, skip=skip, aside=aside)
            kept |= found_plain("plain", frame)
            return _from_frame(path, frame, kept, [], skip + header + 1, watch)
        with open(path, "rb") as file:
            if file.read(8).startswith(MARKS) or path.suffix.casefold() in RECORDS:
                return open_it(path, watch)
        return _read_as(path, form, kept, [], watch)
    except (ValueError, ImportError) as error:
        raise DataError(reason_of(error)) from error


def _watched(watch: Watch, what: str) -> AbstractContextManager[None]:
    """Inside, who watches sees for how long a file is read that is read apart, and may stop it."""
    return listening(lambda done, most, _: watch.look(done / most, f"reading {what}"))


def _from_sheet(path: Path, watch: Watch) -> Opened:
    names = sheet_names(path)
    name, rows = names[0], _top_of(path, names[0])
    for other in names[1:] if _wide(rows) < 2 else ():
        watch.look(None, f"looking at the sheet {other}")
        if _wide(found := _top_of(path, other)) > 1:
            name, rows = other, found
            break
    skip, header, below = header_in(rows, ".")
    aside = tuple(skip + 2 + at for at in range(below))
    params: dict[str, Value] = {"sheet": name} if len(names) > 1 else {}
    params |= written(Form(header=header, skip=skip, aside=aside))
    remarks = _lines_above(skip)
    if len(names) > 1:
        others = [one for one in names if one != name]
        remarks.append(f'Read is the sheet "{name}"; there are also {listed(others)} ("Sheet").')
    if below:
        params["units"] = units_of(rows[skip + 1])
        remarks += _say_units(rows[skip], rows[skip + 1], aside)
    frame = read_sheet(path, name, header=header, skip=skip, aside=aside)
    params |= found_plain("plain", frame)
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
    remarks = [f'The letters are read as {encoding} ("Encoding").'] if encoding != "utf-8" else []
    try:
        return _read_as(path, form, {}, remarks, watch, guessed=True)
    except ValueError as error:
        # what comes late in a file may show that it is not what its beginning looks like
        if form.encoding != "utf-8" or "is not utf-8" not in str(error):
            raise
        said = str(error).replace(". Choose another encoding", "")
        remarks = [f'{said}: all of it is read as latin-1 ("Encoding").']
        return _read_as(path, replace(form, encoding="latin-1"), {}, remarks, watch, guessed=True)


def _read_as(
    path: Path, form: Form, params: dict[str, Value], remarks: list[str], watch: Watch, guessed: bool = False
) -> Opened:
    """The node of a text table of this form; where it is `guessed`, quotes may turn out to be letters."""
    remarks = [*remarks, *_lines_above(form.skip)]
    first = form.skip + form.header + 1
    large = path.stat().st_size > LARGE
    if large:
        form, seen, said = _looked_through(path, form, watch, guessed)
        names, rows = [one.name for one in seen.found], seen.rows
        lost = seen.found[-1].missing
    else:
        form, frame, said = _quoted(path, form, guessed)
        names, rows = frame.columns, len(frame)
        lost = frame[:, -1].null_count() if frame.width else 0
    if len(names) > 1 and lost == rows and names[-1] == f"column {len(names)}":
        said += [
            "Rows end in a delimiter: the column after it, which is empty and has no name, is no column."
        ]
        names.pop()
    elif len(names) > 1 and lost:
        said += _short_rows(path, form, len(names), partial(watch.look, 1.0 if large else None))
    if form.aside and guessed:
        upper = takewhile(lambda row: row[0][0] <= form.aside[-1], _rows(path, replace(form, aside=())))
        units = next((cells for lines, cells in upper if lines[0] in form.aside), [])
        params = {**params, "units": units_of(units)}
        said += _say_units(names, units, form.aside)
    elif form.aside:
        lines = "1 line is" if len(form.aside) == 1 else f"{len(form.aside):,} lines are"
        said.append(f'{lines} skipped ("Skipped lines").')
    params = {**params, **written(form)}
    remarks = [*remarks, *said]
    if large:
        remarks += _say_blank(seen.blank)
        found = seen.found[: len(names)]
        return _opened(path, params, found, seen.rows, seen.hit, remarks, first)
    frame = frame.select(names)
    params |= found_plain(reads_text(path, form, frame), frame)
    return _from_frame(path, frame, params, remarks, first, watch)


def _looked_through(path: Path, form: Form, watch: Watch, guessed: bool) -> tuple[Form, Seen, list[str]]:
    """As `_quoted`, of a table that is too large to hold."""
    seen, trouble, said = None, ValueError(), list[str]()
    with as_plain_text(path, form, watch) as (source, how):
        try:
            seen = streamed(source, how, watch, form.aside)
            said = _say_inside(source, how, seen.read)
        except ValueError as error:
            trouble = error
    if (said or seen is None) and _all_even(path, form, guessed):
        form, seen, said = _looked_through(path, replace(form, quote=""), watch, False)
        said = [*said, LETTERS]
    if seen is None:
        raise trouble
    return form, seen, said


def _rows(path: Path, form: Form) -> Iterator[tuple[range, list[str]]]:
    """Each row of a text table with its lines, with the header; they are read on as rows are asked for."""
    how = cell_form(path, form.delimiter, form.quote, form.skip)
    if is_plain(path, form.encoding, form.delimiter, form.quote, form.aside):
        return text_rows(path, how)
    lines = utf8_lines(path, form.encoding, form.delimiter, form.quote, form.aside)
    return text_rows(lines, {**how, "eol_char": "\n"})


def _all_even(path: Path, form: Form, guessed: bool) -> bool:
    """Whether quotes were only `guessed`, and every line is a row of as many cells without them."""
    if not (guessed and form.quote and form.delimiter in DELIMITERS):
        return False
    sizes = {len(cells) for _, cells in _rows(path, replace(form, quote="")) if cells}
    return len(sizes) == 1 and sizes.pop() > 1


def _quoted(path: Path, form: Form, guessed: bool) -> tuple[Form, Any, list[str]]:
    """The table, with quotes as letters where they are never closed and every line is a row without them.

    With it the form, and a sentence on what quotes did.
    """
    frame, trouble = None, ValueError()
    try:
        frame = read_text_table(path, None, **asdict(form), blanks=())
        said = _say_inside(path, form, len(frame))
    except ValueError as error:
        trouble, said = error, []
    if (said or frame is None) and _all_even(path, form, guessed):
        form = replace(form, quote="")
        frame = read_text_table(path, None, **asdict(form), blanks=())
        said = [LETTERS]
    if frame is None:
        raise trouble
    return form, frame, said


def _say_inside(path: Path, form: Form, rows: int) -> list[str]:
    """A sentence on lines that are no rows, as quotes go over their ends."""
    if not form.quote:
        return []
    source = decoded(path, form.encoding, form.delimiter, form.quote, form.aside)
    count, end = 0, cell_form(source, form.delimiter, form.quote, 0)["eol_char"].encode()
    with open(source, "rb") if isinstance(source, Path) else BytesIO(source) as file:
        last = end
        while piece := file.read(1 << 22):
            count, last = count + piece.count(end), piece[-1:]
    inside = count + (last != end) - form.skip - form.header - rows
    if inside <= 0:
        return []
    rest = "line goes on with the row above it" if inside == 1 else "lines go on with the row above them"
    first = next((lines for lines, _ in _rows(path, form) if len(lines) > 1), None)
    where = f": the first row of several is in lines {first[0]:,} to {first[-1]:,}" if first else ""
    return [f"{inside:,} {rest}, as they are in quotes{where}."]


def units_of(cells: list[str]) -> tuple[str, ...]:
    """Units as a row below the header says them, "" for a column without one."""
    return tuple("" if is_blank(cell) else cell.strip() for cell in cells)


def _say_units(names: list[str], units: list[str], aside: tuple[int, ...]) -> list[str]:
    """A sentence on rows below the header that are no examples."""
    held = listed(
        [f"{name}: {unit}" for name, unit in zip(names, units, strict=False) if not is_blank(unit)],
        quote=False,
    )
    which = f"Line {aside[0]:,} holds" if len(aside) == 1 else f"Lines {aside[0]:,} to {aside[-1]:,} hold"
    return [f'{which} the units of the columns, no examples ("Skipped lines"): {held}.']


def _lines_above(skip: int) -> list[str]:
    if not skip:
        return []
    lines = "1 line above the table is" if skip == 1 else f"{skip:,} lines above the table are"
    return [f'{lines} skipped ("Lines before").']


def _say_blank(inside: int) -> list[str]:
    return [f"{inside:,} blank lines between the rows are skipped."] if inside else []


def _short_rows(path: Path, form: Form, width: int, look: Callable[[str], None]) -> list[str]:
    """A sentence on rows that end before the last column, which only a count of their cells shows."""
    count = first = 0
    for number, (lines, cells) in enumerate(_rows(path, form)):
        if number % 100_000 == 0:
            look("counting cells")
        if 0 < len(cells) < width and any(cell.strip() for cell in cells):
            count, first = count + 1, first or lines[0]
    if not count:
        return []
    rows = "row ends" if count == 1 else "rows end"
    return [f"{count:,} {rows} before the last column, the first in row {first:,}: their rest is blank."]


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
        empty[[at for line in form_in(params).aside if 0 <= (at := line - first) < len(empty)]] = False
        inside = int(empty[: there[-1]].sum())
        remarks = [*remarks, *_say_blank(inside)]
    found = guesses(frame, str(params.get("decimal", ".")), watch)
    for one in found:
        one.odd = tuple((int(there[at]), text) for at, text in one.odd)
    rows = len(frame)
    marks = tuple({text for one in found for text in one.blanks})
    inputs = _inputs_that_lack(found, rows)
    return _opened(path, params, found, rows, rows_hit(frame, inputs, marks), remarks, first)


def _inputs_that_lack(found: list[Guess], rows: int) -> list[str]:
    """The columns that would be inputs and have missing cells."""
    plan = roles(deepcopy(found), rows)
    return [one.name for one, role in zip(found, plan.roles, strict=True) if role == "input" and one.missing]


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
        "plain": False,
        "loose": False,
        "table": table,
        **params,
        **plan.params,
        **({"missing_as": tuple(blanks)} if blanks else {}),
    }
    return Opened(reader(FileForm.TABLE), values, path.stem, (*remarks, *plan.remarks), tuple(remarks))
