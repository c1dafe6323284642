"""Reading tables from files with polars, which are never written. Portable: exports carry this source."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from engine.data.file_there import file_there
from engine.data.tables.nested import flattened
from engine.data.tables.sheet_size import sheet_cells


def check_columns(file: str, names: list[str], wanted: list[str]) -> None:
    """Errors: `ValueError` where the file lacks a column that is wanted."""
    lost = [name for name in wanted if name not in names]
    if lost:
        held = ", ".join(f'"{name}"' for name in names[:8]) + (", ..." if len(names) > 8 else "")
        raise ValueError(
            f'"{file}" has no column "{lost[0]}"; it has {held}. Open it again, or set that column to ignore.'
        )


def column_names(cells: list[Any]) -> list[str]:
    """Names as a header's cells give them: in one line, none empty, each once."""
    found: list[str] = []
    taken: set[str] = set()
    for at, cell in enumerate(cells, start=1):
        cell = re.sub(r"^#\s*(?=\w)", "", str(cell or "")) if at == 1 else cell  # a mark before a header
        plain = "".join(letter if letter.isprintable() else " " for letter in str(cell or "")[:400])
        name = wanted = " ".join(plain.split())[:120] or f"column {at}"
        number = 2
        while name in taken:
            name, number = f"{wanted} ({number})", number + 1
        taken.add(name)
        found.append(name)
    return found


def read_text_table(
    path: Path,
    wanted: list[str] | None,
    columns: tuple[tuple[Any, ...], ...] = (),
    *,
    delimiter: str,
    quote: str,
    decimal: str,
    encoding: str,
    header: bool,
    skip: int,
    blanks: tuple[str, ...],
    aside: tuple[int, ...] = (),
    most: int | None = None,
) -> Any:
    """The wanted columns (all by default) as a polars frame of text, numbers where `columns` say so.

    Lines set `aside` (numbers from 1) are read as blank ones. Only the first `most` rows where that is given.
    Errors: `ValueError` where a row is longer than the first, or bytes are not of the encoding.
    """
    import polars as pl

    source = decoded(file_there(path), encoding, delimiter, quote, aside)
    form, names = text_form(path, source, delimiter, quote, header, skip)
    if wanted is not None:
        check_columns(path.name, names, wanted)
    numeric = {row[0]: pl.Float64 for row in columns if row[1] in ("number", "whole") and len(row) < 4}
    form |= {"new_columns": names, "null_values": ["", *blanks], "n_rows": most}
    for types in (numeric, {}):  # as text where some number is written in a way of its own
        try:
            comma = decimal == "," and bool(types)
            # every column is read, as polars only then notices rows that are too long
            frame = pl.read_csv(source, **form, schema_overrides=types, decimal_comma=comma)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            if not types:
                raise ValueError(text_trouble(path, source, error, form)) from error
        else:
            return frame if wanted is None else frame.select(wanted)
    raise AssertionError("never reached")


def text_form(
    path: Path, source: Any, delimiter: str, quote: str, header: bool, skip: int
) -> tuple[dict[str, Any], list[str]]:
    """How polars is to read a text table, and the names of its columns."""
    import polars as pl

    form = cell_form(source, delimiter, quote, skip)
    top, begun = None, beginning(source)
    check_width(path, begun, form)
    for given in (begun, source):  # of a large file, polars would look at much more for one row
        try:
            top = pl.read_csv(given, has_header=False, n_rows=1, truncate_ragged_lines=True, **form)
            break
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            if given is source:
                raise ValueError(text_trouble(path, source, error, form)) from error
    assert top is not None
    form["has_header"] = header and bool(len(top))
    if not form["has_header"]:
        return form, column_names([None] * top.width)
    names = named_by(list(top.row(0)), source, form)
    if len(names) > top.width:
        form |= {"has_header": False, "skip_lines": skip + 1}
    return form, column_names(names)


def check_width(path: Path, source: Any, form: dict[str, Any], most: int = 100_000) -> None:
    """Errors: `ValueError` where the first row may have more than `most` cells: each column takes memory."""
    lines = lines_of(source, form["eol_char"])
    for _ in range(form["skip_lines"]):
        next(lines, None)
    marks = next(lines, "").count(form["separator"])
    if marks > most:
        raise ValueError(
            f'"{path.name}" has {marks + 1:,} columns; at most {most:,} can be read. '
            "Choose another delimiter, or save it with fewer."
        )


def cell_form(source: Any, delimiter: str, quote: str, skip: int) -> dict[str, Any]:
    """How polars is to part cells."""
    return {
        "separator": separator(delimiter),
        "quote_char": quote[-1:] or None,
        "skip_lines": skip,
        "eol_char": line_end(source) if isinstance(source, Path) else "\n",
        "infer_schema": False,
        "glob": False,  # a name with * or [1] in it is a name
    }


def named_by(header: list[Any], source: Any, form: dict[str, Any]) -> list[Any]:
    """The cells of a header, with None for a column that it lacks, by the first rows.

    R leaves the names of its rows unnamed, and rows may end in a delimiter that the header lacks.
    """
    rows = [cells for _, (_, cells) in zip(range(200), text_rows(beginning(source), form), strict=False)]
    longer = [cells for cells in rows[1:] if len(cells) == len(header) + 1]
    if not longer or longer[0] is not rows[1]:  # polars goes by the first
        return header
    if not any(cells[-1].strip() for cells in longer):
        return [*header, None]
    whole = len(longer) > 1 and len(longer) == sum(bool(cells) for cells in rows[1:])
    return [None, *header] if whole else header


def beginning(source: Any) -> Any:
    """The whole lines at the beginning of a file; all of what is small, or held in memory."""
    if not isinstance(source, Path):
        return source
    with open(source, "rb") as file:
        head = file.read(1 << 18)
    return head[: head.rfind(b"\n") + 1] or source


def decoded(path: Path, encoding: str, delimiter: str, quote: str = '"', aside: tuple[int, ...] = ()) -> Any:
    """What polars can read: the file itself where it is plain UTF-8, or its text again so.

    Errors: `ValueError` with the byte that is not of the encoding.
    """
    if is_plain(path, encoding, delimiter, quote, aside):
        return path
    text = io.BytesIO()
    for line in utf8_lines(path, encoding, delimiter, quote, aside):
        text.write(line.encode("utf-8", "surrogatepass"))
    return text.getvalue()


def utf8_lines(
    path: Path, encoding: str, delimiter: str, quote: str = '"', aside: tuple[int, ...] = ()
) -> Iterator[str]:
    """The lines of a text as polars can read them, each with a line feed; one at a time is held.

    Errors: `ValueError` with the byte that is not of the encoding.
    """
    try:
        with open(path, encoding="utf-8-sig" if encoding == "utf-8" else encoding) as file:
            lines = (
                line.removesuffix("\n").removeprefix("" if at else "\ufeff") for at, line in enumerate(file)
            )
            yield from (f"{line}\n" for line in plain_lines(lines, delimiter, quote, aside))
    except UnicodeError as error:  # of UTF-16 without a mark in front, too
        raise ValueError(
            f'"{path.name}" is not {encoding} from byte {undecodable(path, encoding):,} on. '
            "Choose another encoding."
        ) from error


def undecodable(path: Path, encoding: str) -> int:
    """The first byte of a file, from 1, that is not of an encoding; 0 where all are."""
    import codecs

    decoder, done, last = codecs.getincrementaldecoder(encoding)(), 0, False
    with open(path, "rb") as file:
        while not last:
            piece = file.read(1 << 20)
            last, done = not piece, done + len(piece)
            try:
                decoder.decode(piece, last)
            except UnicodeDecodeError as error:
                return done - len(error.object) + error.start + 1
            except UnicodeError:  # without the mark that says in which order bytes come
                return 1
    return 0


def separator(delimiter: str) -> str:
    """What parts the cells once the lines are plain."""
    return {"spaces": "\t", "arff": ","}.get(delimiter, delimiter)


def is_plain(path: Path, encoding: str, delimiter: str, quote: str, aside: tuple[int, ...]) -> bool:
    """Whether polars can read a file as it is."""
    as_it_is = delimiter == separator(delimiter) and len(quote) < 2 and not aside
    return as_it_is and encoding == "utf-8" and nameable(path)


def plain_lines(
    lines: Iterable[str], delimiter: str, quote: str, aside: tuple[int, ...] = ()
) -> Iterator[str]:
    """Lines without their ends as polars can read them.

    Words are parted by tabs, a quote in quotes is doubled in place of its backslash, and what is set `aside`
    is blank. A mark before a header is no word; the names of columns in Weka's files become a header.
    """
    blank, names = set(aside), list[str]()
    attribute = re.compile(r"(?i)\s*@attribute\s+('[^']*'|\"[^\"]*\"|\S+)")
    for number, line in enumerate(lines, start=1):
        if number in blank:
            line = ""
        elif delimiter == "spaces":
            line = "\t".join(re.findall(r'"[^"]*"|\S+', re.sub(r"^\s*#\s*(?=[^\W\d])", "", line)))
        elif delimiter == "arff" and line.lstrip()[:1] in ("@", "%"):
            names += attribute.findall(line)
            line = ",".join(names) if line.lstrip()[:5].casefold() == "@data" else ""
        if len(quote) > 1:
            line = re.sub(r'\\(["\\])', lambda found: found[1] * (1 + (found[1] == '"')), line)
        yield line


def nameable(path: Path) -> bool:
    """Whether a path is made of letters, as polars needs them; names on disk may be any bytes."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def line_end(path: Path) -> str:
    """What ends a line: a carriage return alone in files of old Macintoshes."""
    with open(path, "rb") as file:
        head = file.read(1 << 20)
    return "\r" if b"\n" not in head and b"\r" in head else "\n"


def text_trouble(path: Path, source: Any, error: BaseException, form: dict[str, Any]) -> str:
    """Why a text table could not be read, and in which row."""
    text = str(error)
    if "utf-8" in text:
        byte = undecodable(path, "utf-8")
        if byte:
            return f'"{path.name}" is not utf-8 from byte {byte:,} on. Choose another encoding.'
    if "more fields" in text or "extra_columns" in text:
        long = longer_row(source, len(form["new_columns"]), form)
        if long:
            return (
                f'Row {long[0]:,} of "{path.name}" has {long[1]:,} cells, but the first has '
                f"{len(form['new_columns']):,}. Choose another delimiter or quote, or fix that row."
            )
    if text.startswith(('could not parse `"', "CSV malformed")):
        return f'"{path.name}" has a quote that nothing closes. Choose another quote, or fix that row.'
    if "skip_lines" in text:
        return f'"{path.name}" has nothing below the {form["skip_lines"]:,} lines that are before its table.'
    return f'"{path.name}" cannot be read as a table: {text.splitlines()[0].rstrip(".")}.'


def longer_row(source: Any, width: int, form: dict[str, Any]) -> tuple[int, int] | None:
    """The first row that has more cells than `width`: its number in the file from 1, and how many cells."""
    rows = enumerate(text_rows(source, form), start=form["skip_lines"] + 1)
    return next(((number, len(cells)) for number, (_, cells) in rows if len(cells) > width), None)


def text_rows(source: Any, form: dict[str, Any]) -> Iterator[tuple[range, list[str]]]:
    """Each row's lines in the file, from 1, and its cells; ends where quotes go wrong.

    The source is a file or its bytes, which are read on as rows are asked for, or lines with their ends.
    """
    mark = form["quote_char"]
    quoting: dict[str, Any] = {"quotechar": mark} if mark else {"quoting": csv.QUOTE_NONE}
    lines = lines_of(source, form["eol_char"]) if isinstance(source, Path | bytes) else source
    for _ in range(form["skip_lines"]):
        next(lines, None)
    begun = form["skip_lines"] + 1
    reader = csv.reader(lines, delimiter=form["separator"], **quoting)
    try:
        for cells in reader:
            ended = form["skip_lines"] + reader.line_num + 1
            yield range(begun, ended), cells
            begun = ended
    except csv.Error:
        return


def lines_of(source: Path | bytes, end: str) -> Iterator[str]:
    """The lines of a file or of its bytes in UTF-8, each with what ends it; one at a time is held."""
    how: dict[str, Any] = {"errors": "replace", "newline": None if end == "\r" else ""}
    with (
        open(source, "rb") if isinstance(source, Path) else io.BytesIO(source) as raw,
        io.TextIOWrapper(raw, encoding="utf-8-sig", **how) as lines,
    ):
        yield from lines


def read_typed_table(path: Path, wanted: list[str] | None) -> Any:
    """The wanted columns (all by default) of a Parquet or Arrow file as a polars frame."""
    import polars as pl

    parquet = parquet_or_arrow(file_there(path))
    try:
        frame, names = typed_scan(path, parquet)
        if wanted is not None:
            check_columns(path.name, names, wanted)
        return frame.select(names if wanted is None else wanted).collect()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise ValueError(typed_trouble(path, parquet)) from error


def typed_scan(path: Path, parquet: bool) -> tuple[Any, list[str]]:
    """A Parquet or Arrow file as a lazy polars frame, and the names of its columns."""
    frame = flattened(scanned(path, parquet))
    return frame, list(frame.collect_schema())


def scanned(path: Path, parquet: bool) -> Any:
    """A Parquet or Arrow file as it is, as a lazy polars frame."""
    import polars as pl

    source: Any = path if nameable(path) else path.read_bytes()
    return (pl.scan_parquet if parquet else pl.scan_ipc)(source, glob=False)


def parquet_or_arrow(path: Path) -> bool:
    """Whether a file begins as a Parquet file does."""
    with open(path, "rb") as file:
        return file.read(4) == b"PAR1"


def typed_trouble(path: Path, parquet: bool) -> str:
    """Why a Parquet or Arrow file could not be read: what readers say of it means little to the user."""
    kind = "Parquet" if parquet else "Arrow"
    return f'"{path.name}" is no whole {kind} file: it is damaged, cut short or another kind of file.'


def sheet_names(path: Path) -> list[str]:
    """The sheets of a spreadsheet. Errors: `ValueError` where it is none."""
    return sheet_cells(file_there(path), "", 0)[0]


def read_sheet(path: Path, sheet: str, *, header: bool, skip: int, aside: tuple[int, ...] = ()) -> Any:
    """A sheet as a polars frame of text; the first sheet if not named. Rows set `aside` are read as blank.

    Errors: `ValueError` where the file cannot be read or has no such sheet.
    """
    import polars as pl

    _, cells = sheet_cells(file_there(path), sheet, skip)
    names = column_names(list(cells.row(0)) if header and len(cells) else [None] * cells.width)
    if aside:
        blank = pl.int_range(skip + 1, skip + 1 + pl.len()).is_in(aside)
        cells = cells.select(pl.when(~blank).then(pl.all()).name.keep())
    return cells.slice(int(header)).rename(dict(zip(cells.columns, names, strict=True)))
