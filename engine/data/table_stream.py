"""Looks through a table that is too large to hold as text, piece by piece, with progress and cancel."""

from __future__ import annotations

import re
from collections import Counter
from copy import deepcopy
from pathlib import Path
from typing import Any

from engine.data.column_kinds import MOST_TARGETS, SURE, Guess, guesses, rows_hit
from engine.data.column_roles import roles
from engine.data.opening import Watch
from engine.data.sniff import BLANKS, Form
from engine.data.table_reading import read_text_table, text_form, text_trouble

SAMPLE = 50_000  # rows that the kinds are guessed from
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
    found = guesses(sample, form.decimal, Watch(stopped=watch.stopped))
    as_numbers = {one.name for one in found if one.kind in TYPED or one.details == ("0", "1")}
    inputs = [
        one.name
        for one, role in zip(found, roles(deepcopy(found), len(sample)).roles, strict=True)
        if role == "input"
    ]
    del sample
    how, names = text_form(path, path, form.delimiter, form.quote, form.header, form.skip)
    marks = {*SURE, *(mark for one in found for mark in one.blanks)}
    total = _rows_about(path)
    while True:
        tallies = [Tally(one, one.name in as_numbers) for one in found]
        frame = pl.scan_csv(
            path,
            **how,
            with_column_names=lambda _, names=names: names,
            schema_overrides={name: pl.Float64 for name in as_numbers},
            decimal_comma=form.decimal == "," and bool(as_numbers),
            null_values=["", *sorted(marks)],
        )
        rows = hit = 0
        try:
            for piece in frame.collect_batches(chunk_size=PIECE, maintain_order=True, lazy=True):
                for tally in tallies:
                    tally.add(piece[tally.guess.name])
                rows += len(piece)
                hit += rows_hit(piece, inputs, ())
                watch.look(min(1.0, rows / total), "reading")
            return [tally.made(form.decimal, marks) for tally in tallies], rows, hit
        except pl.exceptions.PolarsError as error:
            odd = re.search(r"could not parse `(.*)` as dtype `f64` at column '(.*)' \(column", str(error))
            if odd is None or odd[2] not in as_numbers:
                raise ValueError(text_trouble(path, path, error, {**how, "new_columns": names})) from error
            if odd[1] in BLANKS:
                marks.add(odd[1])
            else:
                as_numbers.discard(odd[2])


class Tally:
    """What was seen of one column so far."""

    def __init__(self, guess: Guess, numeric: bool) -> None:
        self.guess, self.numeric = guess, numeric
        self.rows = self.missing = 0
        self.total = self.squares = 0.0
        self.counts: Counter[str] | None = Counter()
        if numeric and guess.distinct > MOST_TARGETS:
            self.counts = None
        self.last: float | None = None
        self.steps = guess.steps
        self.whole = guess.kind != "number"

    def add(self, cells: Any) -> None:
        """Take the next rows into account."""
        import polars as pl

        known = cells.drop_nulls()
        if self.numeric:
            finite = known.is_finite()
            known = known if finite.all() else known.filter(finite)
            self.total += float(known.sum())
            self.squares += float(known.dot(known)) if len(known) else 0.0
            self.whole = self.whole and bool((known == known.floor()).all())
            if self.steps and len(known):
                carried = self.last is None or known[0] == self.last + 1
                self.steps = carried and bool((known.diff().drop_nulls() == 1).all())
                self.last = float(known[-1])
        self.rows += len(cells)
        self.missing += len(cells) - len(known)
        if self.counts is not None and len(known):
            texts = known.cast(pl.Int64).cast(pl.String) if self.numeric and self.whole else known
            for text, often in texts.value_counts().iter_rows():
                self.counts[str(text).strip()] += often
            if len(self.counts) > MOST_TARGETS:
                self.counts = None

    def made(self, decimal: str, marks: set[str]) -> Guess:
        """The guess on the whole column."""
        import polars as pl

        one = self.guess
        known = self.rows - self.missing
        if not self.numeric and self.counts is not None and one.kind != "date":
            made = guesses(
                pl.DataFrame({one.name: list(self.counts)}, {one.name: pl.String}), decimal, Watch()
            )
            one = made[0]
            if one.kind == "text" and len(self.counts) <= min(MOST_TARGETS, known / 2):
                one.kind, one.details = "category", tuple(sorted(self.counts))
        elif not self.numeric and one.kind not in ("date", "path"):
            one.kind, one.details = "text", ()
        if self.numeric:
            one.kind, one.details = ("whole" if self.whole else "number"), ()
            if self.counts is not None and set(self.counts) == {"0", "1"}:
                one.kind, one.details = "yes-no", ("0", "1")
            one.middle = self.total / max(known, 1)
            one.spread = max(0.0, self.squares / max(known, 1) - one.middle**2) ** 0.5
            one.steps = self.steps
        one.missing, one.odd, one.odds = self.missing, (), 0
        one.blanks = tuple(sorted(marks)) if self.missing else ()
        one.counts = dict(self.counts or {})
        one.distinct = len(self.counts) if self.counts is not None else known
        return one


def _rows_about(path: Path) -> float:
    """About how many rows there are, by the lines of the beginning."""
    with open(path, "rb") as file:
        head = file.read(1 << 20)
    return max(1.0, path.stat().st_size / len(head) * max(1, head.count(b"\n"), head.count(b"\r")))
