"""Looks through a table that is too large to hold as text, piece by piece, with progress and cancel."""

from __future__ import annotations

import math
import re
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.data.tables.cache import tables_folder
from engine.data.tables.cells import blank_rows, written_numbers
from engine.data.tables.column_kinds import MOST_TARGETS, SURE, Guess, guesses, rows_hit
from engine.data.tables.column_roles import roles
from engine.data.tables.number_forms import number_form
from engine.data.tables.pieces import rows_about, text_as_utf8
from engine.data.tables.reading import (
    is_plain,
    nameable,
    read_text_table,
    separator,
    text_form,
    text_trouble,
)
from engine.data.tables.sniff import BLANKS, Form
from engine.data.telling import listening
from engine.data.watch import Watch

SAMPLE = 20_000  # rows that the kinds are guessed from
PIECE = 100_000  # rows at a time
TYPED = ("number", "whole")


@dataclass(frozen=True)
class Seen:
    """What was found in a table: a guess a column, and its rows, of which `hit` lack an input.

    Rows in which every cell is blank are none of them: `blank` are counted, up to the last that is not, but
    for those whose lines are set aside. `read` is how many there are with all blank ones.
    """

    found: list[Guess]
    rows: int
    hit: int
    blank: int
    read: int


@contextmanager
def as_plain_text(path: Path, form: Form, watch: Watch) -> Iterator[tuple[Path, Form]]:
    """A table that polars can read as it is, with its form: the file, or a copy on disk that is then removed.

    The copy has the same lines in the same places, those set aside as blank ones. Errors: `ValueError` where
    bytes are not of the encoding, or there is no room; `Stopped`.
    """
    if is_plain(path, form.encoding, form.delimiter, form.quote, form.aside):
        yield path, form
        return
    home = tables_folder()
    folder = Path(tempfile.mkdtemp(prefix="part-", dir=home))
    name = path.name if nameable(path) else path.name.encode("utf-8", "replace").decode()
    try:
        with listening(lambda done, most, _: watch.look(done / most, "reading the lines")):
            try:
                copy = text_as_utf8(
                    path, folder / name, form.encoding, form.delimiter, form.quote, form.aside
                )
            except OSError as error:
                if error.filename == str(path):
                    raise
                raise ValueError(
                    f'A copy of "{path.name}" cannot be kept in {home} while it is read: '
                    f"{error.strerror or error}."
                ) from error
        apart, quote = separator(form.delimiter), form.quote[-1:]
        yield copy, replace(form, encoding="utf-8", delimiter=apart, quote=quote, aside=())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def streamed(path: Path, form: Form, watch: Watch, aside: tuple[int, ...] = ()) -> Seen:
    """What a table holds that polars can read as it is; the lines set `aside` are blank in it already.

    Kinds are guessed from the beginning; where a later cell contradicts, its column is read as text.
    Errors: `ValueError`, `Stopped`.
    """
    import polars as pl

    given = {
        key: getattr(form, key) for key in ("delimiter", "quote", "decimal", "encoding", "header", "skip")
    }
    sample = read_text_table(path, None, **given, blanks=(), most=SAMPLE)
    sample = sample.filter(~blank_rows(sample, ()))
    watch.look(0.0, "looking at the columns")
    found = guesses(sample, form.decimal, Watch(stopped=watch.stopped))
    watch.look(0.0, "reading")
    forms = {one.name: one.details[0] for one in found if one.kind in TYPED and one.details}
    as_numbers = {one.name for one in found if one.kind in TYPED or one.details == ("0", "1")} - {*forms}
    inputs = [
        one.name
        for one, role in zip(found, roles(deepcopy(found), len(sample)).roles, strict=True)
        if role == "input"
    ]
    del sample
    how, names = text_form(path, path, form.delimiter, form.quote, form.header, form.skip)
    marks = {mark for one in found if one.name in as_numbers for mark in one.blanks}
    total, first = rows_about(path), form.skip + form.header + 1
    odds: dict[str, list[str]] = defaultdict(list)
    while True:
        tallies = [Tally(one, one.name in as_numbers, forms.get(one.name, "")) for one in found]
        frame = pl.scan_csv(
            path,
            **how,
            with_column_names=lambda _: names,
            schema_overrides={name: pl.Float64 for name in as_numbers},
            decimal_comma=form.decimal == "," and bool(as_numbers),
            # each of them slows every cell down, so only what is known to stand among numbers
            null_values=sorted(marks.union(*odds.values())) or None,
        )
        rows = hit = blank = trailing = read = 0
        try:
            for piece in frame.collect_batches(chunk_size=PIECE, maintain_order=True, lazy=True):
                begun, read = read, read + len(piece)
                piece, inside, below = without_blank(piece, [line - first - begun for line in aside])
                if len(piece):
                    blank, trailing = blank + trailing + inside, 0
                trailing += below
                lost = {tally.guess.name for tally in tallies if tally.add(piece[tally.guess.name])}
                rows += len(piece)
                hit += rows_hit(piece, [name for name in inputs if name in lost], SURE)
                watch.look(min(1.0, read / total), "reading")
            if not rows:
                raise ValueError(f'"{path.name}" has no row with anything in it.')
            made = [tally.made(form.decimal, marks, odds[tally.guess.name]) for tally in tallies]
            return Seen(made, rows, hit, blank, read)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            odd = re.search(r"could not parse `(.*)` as dtype `f64` at column '(.*)' \(column", str(error))
            if odd is None or odd[2] not in as_numbers:
                raise ValueError(text_trouble(path, path, error, {**how, "new_columns": names})) from error
            text, name = odd[1], odd[2]
            written = number_form(pl.Series([text.strip()]), form.decimal)
            if text in BLANKS:
                marks.add(text)
            elif written:  # the beginning may have had small numbers only, that nothing parts
                forms[name] = written
                as_numbers.discard(name)
            elif len(odds[name]) < 5 and len(text) <= 40:
                odds[name].append(text)  # counts as missing, and is told
            else:
                as_numbers.discard(name)
                del odds[name]


def without_blank(piece: Any, aside: list[int]) -> tuple[Any, int, int]:
    """Rows with something in them, and how many others stand between or below them.

    Of the others, rows `aside` (from 0) are not counted.
    """
    empty = blank_rows(piece[:, :1], ())  # seldom any, and much cheaper than to look at every cell
    empty = blank_rows(piece, ()) if empty.any() else empty
    if not empty.any():
        return piece, 0, 0
    there = np.flatnonzero(~empty)
    counted = empty.copy()
    counted[[at for at in aside if 0 <= at < len(empty)]] = False
    inside = int(counted[: there[-1]].sum()) if len(there) else 0
    return piece.filter(~empty), inside, int(counted.sum()) - inside


class Tally:
    """What was seen of one column so far."""

    def __init__(self, guess: Guess, numeric: bool, form: str = "") -> None:
        self.guess, self.numeric, self.form = guess, numeric or bool(form), form
        self.rows = self.missing = 0
        self.marks: set[str] = set()  # of missing cells among numbers in a form
        self.counts: Counter[Any] | None = Counter()
        if form or (numeric and guess.distinct > MOST_TARGETS):
            self.counts = None
        self.last: float | None = None
        self.steps = guess.steps
        self.whole = guess.kind != "number"

    def add(self, cells: Any) -> bool:
        """Take the next rows into account; returns whether some of them may be missing."""
        if self.form:
            cells = self.written(cells)
        known = cells.drop_nulls() if cells.null_count() else cells
        if self.numeric:
            if not math.isfinite(known.sum()):  # seldom, and much cheaper than to look at every number
                known = known.filter(known.is_finite())
            if self.whole and self.counts is None:
                self.whole = bool((known == known.floor()).all())
            if self.steps and len(known):
                carried = self.last is None or known[0] == self.last + 1
                self.steps = carried and bool((known.diff().drop_nulls() == 1).all())
                self.last = float(known[-1])
        if self.counts is not None and len(known):
            for value, often in known.alias("value").value_counts().iter_rows():
                self.counts[value] += often
            if self.numeric and self.whole:
                self.whole = all(float(value).is_integer() for value in self.counts)
            if len(self.counts) > MOST_TARGETS:
                self.counts = None
        self.rows += len(cells)
        self.missing += len(cells) - len(known)
        marked = not self.numeric and any(mark in (self.counts or ()) for mark in SURE)
        return len(known) < len(cells) or marked

    def written(self, cells: Any) -> Any:
        """Cells as numbers in the column's form; where one is none, the column is one of texts after all."""
        texts = cells.str.strip_chars()
        marked = texts.is_in([*SURE, *self.guess.blanks])
        self.marks.update(texts.filter(marked.fill_null(False)).unique())
        texts = texts.set(marked | (texts == ""), None)
        numbers = written_numbers(texts, self.form)
        if numbers.null_count() > texts.null_count() and self.form[1] == "2":
            point = self.form[self.form.index("234") + 3]
            wider = number_form(texts.drop_nulls(), point) or ""
            if wider.replace(wider[1:2], "", 1) == self.form:  # the first of them that is above 1000
                self.form, numbers = wider, written_numbers(texts, wider)
        if numbers.null_count() == texts.null_count():
            return numbers
        self.form, self.numeric, self.guess.kind = "", False, "text"
        return texts

    def named_counts(self) -> dict[str, int]:
        """Rows a value, by the value's text."""
        named: Counter[str] = Counter()
        for value, often in (self.counts or {}).items():
            named[str(int(value)) if self.numeric and self.whole else str(value).strip()] += often
        return dict(named)

    def made(self, decimal: str, marks: set[str], odds: list[str]) -> Guess:
        """The guess on the whole column."""
        import polars as pl

        one = self.guess
        known = self.rows - self.missing
        counts = self.named_counts()
        lost = {mark: often for mark, often in counts.items() if mark in SURE and not self.numeric}
        counts = {text: often for text, often in counts.items() if text not in lost}
        if not self.numeric and self.counts is not None and one.kind != "date":
            made = guesses(pl.DataFrame({one.name: list(counts)}, {one.name: pl.String}), decimal, Watch())
            one = made[0]
            if one.kind in ("text", *TYPED) and len(counts) <= min(MOST_TARGETS, known / 2):
                one.kind, one.details = "category", tuple(sorted(counts))
        elif not self.numeric and one.kind not in ("date", "path"):
            one.kind, one.details = "text", ()
        if self.numeric:
            one.kind, one.details = ("whole" if self.whole else "number"), (self.form,) if self.form else ()
            if set(counts) == {"0", "1"}:
                one.kind, one.details = "yes-no", ("0", "1")
            one.steps = self.steps
        one.missing, one.odds = self.missing + sum(lost.values()), len(odds)
        one.odd = tuple((-1, text) for text in odds[:1])
        one.blanks = (*sorted(marks if self.numeric and self.missing else lost), *odds)
        if self.form:
            one.blanks = tuple(sorted(self.marks))
        one.counts = counts
        one.distinct = len(counts) or known
        return one
