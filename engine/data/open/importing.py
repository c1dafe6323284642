"""How a file of text is read in a form that the user chooses: a preview, and the rows that do not fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from engine.data.open.opening import Opened
from engine.data.tables.reading import beginning, cell_form, decoded, text_form, text_rows
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
        found = preview(path, form)
        if found.trouble or len(found.odd) > MOST_ODD:
            raise DataError(found.said)
        form = replace(form, aside=tuple(sorted({*form.aside, *found.odd})))
        return open_as(path, params_of(form), watch)
    except OSError as error:
        raise DataError(f'"{path.name}" cannot be read: {error.strerror or error}.') from error
    except ValueError as error:
        raise DataError(f'"{path.name}" is no table of text: {reason_of(error)}.') from error


def preview(path: Path, form: Form) -> Preview:
    """What a form makes of a file; its `aside` lines are shown, as they are what the user may bring back."""
    if form.delimiter == form.decimal and form.quote == "":
        return Preview(trouble=CLASH)
    try:
        source = decoded(path, form.encoding, form.delimiter, form.quote)
        _, names = text_form(path, source, form.delimiter, form.quote, form.header, form.skip)
    except (OSError, ValueError) as error:
        how = replace(form, quote="", header=False)
        return Preview((), _first(path, how), (), reason_of(error))
    found = _rows(path, form)
    if form.header:
        next(found, None)
    rows: list[tuple[int, tuple[str, ...]]] = []
    odd: list[int] = []
    for lines, cells in found:
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
        return tuple((lines[0], tuple(cells)) for lines, cells in islice(_rows(path, form, True), SHOWN))
    except (OSError, ValueError):
        return ()


def _rows(path: Path, form: Form, few: bool = False) -> Iterator[tuple[range, list[str]]]:
    source = decoded(path, form.encoding, form.delimiter, form.quote)
    how = cell_form(source, form.delimiter, form.quote, form.skip)
    return text_rows(beginning(source) if few else source, how)
