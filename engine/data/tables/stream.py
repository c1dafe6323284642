"""Looks through a table that is too large to hold as text, piece by piece, with progress and cancel."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from copy import deepcopy
from pathlib import Path
from typing import Any

from engine.data.tables.cells import written_numbers
from engine.data.tables.column_kinds import MOST_TARGETS, SURE, Guess, guesses, rows_hit
from engine.data.tables.column_roles import roles
from engine.data.tables.number_forms import number_form
from engine.data.tables.pieces import rows_about
from engine.data.tables.reading import read_text_table, text_form, text_trouble
from engine.data.tables.sniff import BLANKS, Form
from engine.data.watch import Watch

SAMPLE = 20_000  # rows that the kinds are guessed from
PIECE = 100_000  # rows at a time
TYPED = ("number", "whole")


def streamed(path: Path, form: Form, watch: Watch) -> tuple[list[Guess], int, int]:
    """What each column holds, how many rows there are, and how many of them lack an input.

    Kinds are guessed from the beginning; where a later cell contradicts, its column is read as text.
    Errors: `ValueError`, `Stopped`.
    """
    import polars as pl

    given = {
        key: getattr(form, key) for key in ("delimiter", "quote", "decimal", "encoding", "header", "skip")
    }
    sample = read_text_table(path, None, **given, blanks=(), most=SAMPLE)
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
    total = rows_about(path)
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
        rows = hit = 0
        try:
            for piece in frame.collect_batches(chunk_size=PIECE, maintain_order=True, lazy=True):
                lost = {tally.guess.name for tally in tallies if tally.add(piece[tally.guess.name])}
                rows += len(piece)
                hit += rows_hit(piece, [name for name in inputs if name in lost], SURE)
                watch.look(min(1.0, rows / total), "reading")
            return [tally.made(form.decimal, marks, odds[tally.guess.name]) for tally in tallies], rows, hit
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
