"""How a file of text is read in a form that the user chooses: a preview, and the rows that do not fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import islice
from pathlib import Path

from engine.data.open.opening import Opened
from engine.data.tables.reading import cell_form, is_plain, text_form, text_rows, utf8_lines
from engine.data.tables.sniff import Form, encoding_of, form_of, params_of
from engine.data.watch import Watch
from engine.errors import DataError, reason_of

HEAD = 1 << 18  # bytes that a form is guessed from
SHOWN = 100  # rows
MOST_ODD = 1000  # rows that may be left out one by one; a file with more is written in another way
CLASH = "A comma parts the cells, so it cannot be the decimal mark, too: choose another of the two."


@dataclass(frozen=True)
class Preview:
    """The first rows, each with its first line in the file (from 1), and the lines of `odd` rows.

    An odd row has more cells than the header, so it cannot be read. `trouble` says why nothing can.
    """

    names: tuple[str, ...] = ()
    rows: tuple[tuple[int, tuple[str, ...]], ...] = ()
    odd: tuple[int, ...] = ()
    trouble: str = ""

    @property
    def said(self) -> str:
        """What the user should know, as a sentence; "" where all rows fit."""
        if self.trouble or not self.odd:
            return self.trouble
        if len(self.odd) > MOST_ODD:
            return f"More than {MOST_ODD:,} rows have more cells than the header: choose another delimiter."
        first = ", ".join(f"{line:,}" for line in self.odd[:5]) + (", …" if len(self.odd) > 5 else "")
        one = len(self.odd) == 1
        rows, skip = ("1 row has", "skip it") if one else (f"{len(self.odd):,} rows have", "skip them")
        return f"{rows} more cells than the header, in line {first}: {skip}, or choose another delimiter."


def is_text(path: Path) -> bool:
    """Whether a file is one of text, whatever it says."""
    try:
        with open(path, "rb") as file:
            head = file.read(HEAD)
        encoding_of(head, whole=len(head) < HEAD)
    except (OSError, ValueError):
        return False
    return bool(head)


def guessed_form(path: Path) -> Form:
    """The form that a file's beginning suggests. Errors: `OSError`; `ValueError` where it is no text."""
    with open(path, "rb") as file:
        head = file.read(HEAD)
    encoding = encoding_of(head, whole=len(head) < HEAD)
    return form_of(head.decode(encoding, "ignore").removeprefix("\ufeff"), encoding)


def without_odd_rows(path: Path, watch: Watch) -> Opened:
    """A table of text that skips the rows which don't fit. Errors: `DataError` where that is not enough."""
    from engine.data.open.tables import open_as

    try:
        form = guessed_form(path)
        found = preview(path, form, watch)
        if found.trouble or len(found.odd) > MOST_ODD:
            raise DataError(found.said)
        form = replace(form, aside=tuple(sorted({*form.aside, *found.odd})))
        return open_as(path, params_of(form), watch)
    except OSError as error:
        raise DataError(f'"{path.name}" cannot be read: {error.strerror or error}.') from error
    except ValueError as error:
        raise DataError(f'"{path.name}" is no table of text: {reason_of(error)}.') from error


def preview(path: Path, form: Form, watch: Watch | None = None) -> Preview:
    """What a form makes of a file; its `aside` lines are shown, as they are what the user may bring back.

    The file is read on line by line, and a few of its rows are held. Errors: `Stopped`.
    """
    if form.delimiter == form.decimal and form.quote == "":
        return Preview(trouble=CLASH)
    try:
        return _preview(path, form, watch or Watch())
    except (OSError, ValueError) as error:
        how = replace(form, quote="", header=False)
        return Preview((), _first(path, how), (), reason_of(error))


def _preview(path: Path, form: Form, watch: Watch) -> Preview:
    _, names = text_form(path, _top(path, form), form.delimiter, form.quote, form.header, form.skip)
    found = _rows(path, form)
    if form.header:
        next(found, None)
    rows: list[tuple[int, tuple[str, ...]]] = []
    odd: list[int] = []
    for number, (lines, cells) in enumerate(found):
        if number % 100_000 == 0:
            watch.look(None, "looking for rows that do not fit")
        if len(rows) < SHOWN:
            rows.append((lines[0], tuple(cells)))
        if len(cells) > len(names):
            odd += lines
            if len(rows) == SHOWN and len(odd) <= SHOWN:
                rows.append((lines[0], tuple(cells)))
        if len(odd) > MOST_ODD:
            break
    return Preview(tuple(names), tuple(rows), tuple(odd))


def _first(path: Path, form: Form) -> tuple[tuple[int, tuple[str, ...]], ...]:
    try:
        return tuple((lines[0], tuple(cells)) for lines, cells in islice(_rows(path, form), SHOWN))
    except (OSError, ValueError):
        return ()


def _top(path: Path, form: Form) -> Path | bytes:
    """What polars finds the names of columns in: the file, or the lines that its table begins with."""
    if is_plain(path, form.encoding, form.delimiter, form.quote, ()):
        return path
    text = BytesIO()
    for number, line in enumerate(utf8_lines(path, form.encoding, form.delimiter, form.quote)):
        text.write(line.encode("utf-8", "surrogatepass"))
        if number > form.skip and text.tell() > HEAD:
            break
    return text.getvalue()


def _rows(path: Path, form: Form) -> Iterator[tuple[range, list[str]]]:
    how = cell_form(path, form.delimiter, form.quote, form.skip)
    if is_plain(path, form.encoding, form.delimiter, form.quote, ()):
        return text_rows(path, how)
    return text_rows(utf8_lines(path, form.encoding, form.delimiter, form.quote), how)
