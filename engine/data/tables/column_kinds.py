"""What the columns of a table hold: numbers, classes, dates, texts, and what marks a missing cell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.data.tables.cells import written_numbers
from engine.data.tables.number_forms import number_form, unsure_comma
from engine.data.tables.sniff import BLANKS, DATES, IMAGE_ENDINGS, TIMES, YES_NO, ZONES
from engine.data.watch import Watch

SURE = ("NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "null", "NULL", "Null", "?", "#NULL!", "\\N")
MOST_CLASSES = 100  # of an input; more of them are texts
MOST_TARGETS = 1000
ODD = 0.05  # fraction of cells that may be odd in a column of numbers, and count as missing then
TOGETHER = 2000  # columns that are looked at at once
INTEGER = r"^[-+−]?(0|[1-9]\d*)$"
EXACT = 2**53  # larger whole numbers are names: as numbers, neighbours become equal
DAYS = (19_000_101, 21_001_231)  # whole numbers between which may be days, as 20210131 is


@dataclass(slots=True)
class Guess:
    """One column: `details` are its classes, its words for no and yes, or the form of its dates or numbers.

    `distinct` counts different values, `missing` the blank cells; `odd` says in which row (from 0; -1: not
    known) something that is no number stands among numbers; `counts` are rows a class. `steps`: it counts up
    row by row.
    """

    name: str
    kind: str
    details: tuple[str, ...] = ()
    missing: int = 0
    blanks: tuple[str, ...] = ()
    distinct: int = 0
    odd: tuple[tuple[int, str], ...] = ()
    odds: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    steps: bool = False
    spread: float = 0.0
    middle: float = 0.0
    holds: str = ""  # what is no number, text or time, in words
    unsure: bool = False  # day and month could be the other way round, or a comma stand between thousands


def guesses(frame: Any, decimal: str, watch: Watch) -> list[Guess]:
    """What each column of a frame holds."""
    found = []
    plain: dict[str, Guess] = {}
    for at, name in enumerate(frame.columns):
        if not at % 50:
            watch.look(0.5 + 0.5 * at / frame.width, "looking at the columns")
        if not at % TOGETHER:
            plain = _plain_numbers(frame[:, at : at + TOGETHER], decimal)
        found.append(plain.get(name) or _guess(name, frame[name], decimal))
    return found


def _plain_numbers(frame: Any, decimal: str) -> dict[str, Guess]:
    """Guesses on columns in which every cell is written as a number, all at once: tables may be wide."""
    import polars as pl

    frame = frame.select(pl.col(pl.String).str.strip_chars())
    if not frame.width or not len(frame):
        return {}
    numbers = frame.select(as_numbers(pl.all(), decimal))
    finite = pl.all().is_finite().fill_null(False).all()
    days = pl.all().is_between(*DAYS).all()  # they need a closer look, as names do
    sure = numbers.select(
        finite & (pl.all().abs().max() <= EXACT).fill_null(False) & ~days.fill_null(False)
    ).row(0)
    padded = frame.select(pl.all().str.contains(r"^[-+]?0\d").any()).row(0)
    names = [
        name
        for name, yes, no in zip(frame.columns, sure, padded, strict=True)
        if yes and not no and not (decimal == "," and unsure_comma(frame[name]))
    ]
    if not names:
        return {}
    frame, numbers = frame.select(names), numbers.select(names)
    every = pl.all()
    measured = zip(
        names,
        frame.select(every.str.contains(INTEGER).all()).row(0),
        numbers.select(every.n_unique()).row(0),
        numbers.select(every.mean()).row(0),
        numbers.select(every.std(ddof=0)).row(0),
        numbers.select((every.diff().drop_nulls() == 1).all()).row(0),
        strict=True,
    )
    found = {}
    for name, whole, distinct, middle, spread, steps in measured:
        guess = Guess(name, "whole" if whole else "number", distinct=distinct)
        guess.middle, guess.spread = float(middle), float(spread or 0.0)
        guess.steps = whole and len(frame) > 1 and steps
        if whole and distinct <= MOST_TARGETS:
            _count_values(guess, frame[name])
        found[name] = guess
    return found


def _guess(name: str, series: Any, decimal: str) -> Guess:
    import polars as pl

    if series.dtype in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    if series.dtype == pl.String:
        return _of_texts(name, series.str.strip_chars(), decimal)
    missing = series.null_count()
    if series.dtype == pl.Boolean:
        return Guess(name, "yes-no", ("no", "yes"), missing, distinct=series.drop_nulls().n_unique())
    if series.dtype.is_numeric():
        if series.dtype.is_integer() and _no_plain_numbers(series):
            return _of_texts(name, series.cast(pl.String), decimal)
        numbers = series.cast(pl.Float64)
        lost = int((~numbers.is_finite()).sum())
        whole = series.dtype.is_integer()
        return _of_numbers(
            Guess(name, "whole" if whole else "number", missing=missing + lost), numbers, series
        )
    if series.dtype in (pl.Date, pl.Datetime):
        return Guess(name, "date", (), missing, distinct=series.drop_nulls().n_unique())
    return Guess(name, "text", (), missing, holds=_in_words(series.dtype) if missing < len(series) else "")


def _in_words(kind: Any) -> str:
    """What a column of Parquet holds that is no single number, text or time."""
    import polars as pl

    if isinstance(kind, pl.Struct):
        return "structs of bytes, as images are: save those as files"
    if isinstance(kind, (pl.List, pl.Array)):
        return "lists of different lengths"
    return "bytes" if kind == pl.Binary else str(kind)


def _no_plain_numbers(numbers: Any) -> bool:
    """Whether numbers may be something else: too large to differ as floats, or all of them days."""
    least, most = numbers.min(), numbers.max()
    return least is not None and (max(-least, most) > EXACT or DAYS[0] <= least <= most <= DAYS[1])


def _of_texts(name: str, series: Any, decimal: str) -> Guess:
    empty = series.is_null() | (series == "")
    sure, _ = _without(series, empty, SURE)
    marked, marks = _without(series, empty, BLANKS)
    if marked.null_count() == len(series):
        return Guess(name, "text", (), len(series))
    numbers = as_numbers(marked, decimal)
    if numbers.null_count() == marked.null_count() and _no_plain_numbers(numbers):
        days = _follows(marked.drop_nulls(), "%Y%m%d") and marked.str.len_chars().max() == 8
        if days:
            made = Guess(
                name, "date", ("%Y%m%d",), marked.null_count(), marks, marked.drop_nulls().n_unique()
            )
            made.unsure = True
            return made
        if numbers.abs().max() > EXACT and marked.drop_nulls().str.contains(INTEGER).all():
            numbers = numbers.clear(len(numbers))  # names
    if numbers.null_count() > marked.null_count() and (form := number_form(marked.drop_nulls(), decimal)):
        return _of_form(name, marked, form, marks)
    endless = (~numbers.is_finite()).fill_null(False)  # no number that anything can be learned from
    odd = marked.is_not_null() & numbers.is_null()
    known = len(series) - marked.null_count()
    if odd.sum() <= ODD * known and known - odd.sum() - endless.sum() > 0:
        odd, numbers = odd | endless, numbers.set(endless, None)
        texts = marked.filter(odd)
        if texts.n_unique() <= 5:
            where = tuple((int(at), str(series[int(at)])) for at in odd.arg_true()[:1])
            marks = tuple(dict.fromkeys((*marks, *texts.unique(maintain_order=True))))
            plain = marked.set(odd, None)
            if not plain.str.contains(r"^[-+]?0\d").any():
                whole = plain.drop_nulls().str.contains(INTEGER).all()
                guess = Guess(name, "whole" if whole else "number", (), plain.null_count(), marks)
                guess.odd, guess.odds = where, int(odd.sum())
                guess.unsure = decimal == "," and unsure_comma(plain.drop_nulls())
                return _of_numbers(guess, numbers, plain)
    texts = sure.drop_nulls()
    found = Guess(name, "text", (), sure.null_count(), _without(series, empty, SURE)[1], texts.n_unique())
    yes_no = _yes_no(texts) if found.distinct == 2 else ()
    if yes_no:
        found.kind, found.details = "yes-no", yes_no
    elif dates := _date_form(texts):
        found.kind, found.details = "date", dates[:1]
        found.unsure = len(dates) > 1
    elif _image_paths(texts):
        found.kind = "path"
    elif found.distinct <= min(MOST_TARGETS, max(len(texts) / 2, min(20, len(texts) - 1))):
        found.kind, found.details = "category", tuple(sorted(texts.unique().to_list()))
    if found.kind in ("category", "yes-no"):
        found.counts = _counts(texts)
    if found.kind in ("category", "text") and odd.sum() < known / 2:  # numbers, but for these
        found.odd = tuple((int(at), str(series[int(at)])) for at in odd.arg_true()[:1])
        found.odds = int(odd.sum())
    return found


def _of_form(name: str, texts: Any, form: str, marks: tuple[str, ...]) -> Guess:
    """The guess on a column of numbers written in a form of their own."""
    numbers = written_numbers(texts, form)
    known = numbers.drop_nulls()
    point, unit = form[form.index("234") + 3], form.partition("5 ")[2]
    whole = not unit and not texts.str.contains(point, literal=True).any()
    guess = Guess(name, "whole" if whole else "number", (form,), texts.null_count(), marks)
    guess.distinct = known.n_unique()
    guess.middle, guess.spread = float(known.mean()), float(known.std(ddof=0) or 0.0)
    guess.steps = whole and len(known) > 1 and bool((known.diff().drop_nulls() == 1).all())
    return guess


def _of_numbers(guess: Guess, numbers: Any, series: Any) -> Guess:
    """Completes the guess on a column of numbers; two values 0 and 1 are a yes or no."""
    import polars as pl

    known = numbers.drop_nulls().filter(numbers.drop_nulls().is_finite())
    guess.distinct = known.n_unique()
    if not len(known):
        return guess
    guess.middle, guess.spread = float(known.mean()), float(known.std(ddof=0) or 0.0)
    if guess.kind == "whole":
        guess.steps = len(known) > 1 and bool((known.diff().drop_nulls() == 1).all())
        if guess.distinct <= MOST_TARGETS:
            _count_values(guess, series.drop_nulls().cast(pl.String))
    return guess


def _count_values(guess: Guess, texts: Any) -> None:
    guess.counts = _counts(texts)
    if sorted(guess.counts) == ["0", "1"]:
        guess.kind, guess.details = "yes-no", ("0", "1")


def as_numbers(series: Any, decimal: str) -> Any:
    """Stripped texts as numbers, null where they are none."""
    import polars as pl

    plain = series.str.replace("−", "-", literal=True)
    if decimal == ",":
        plain = plain.str.replace(".", "?", literal=True).str.replace(",", ".", literal=True)
    return plain.cast(pl.Float64, strict=False)


def _without(series: Any, empty: Any, marks: tuple[str, ...]) -> tuple[Any, tuple[str, ...]]:
    """The series with null where a cell is empty or a mark, and the marks that occur."""
    marked = series.is_in(marks)
    found = tuple(sorted(series.filter(marked & ~empty).unique().to_list()))
    return series.set(empty | marked.fill_null(False), None), found


def rows_hit(frame: Any, names: list[str], marks: tuple[str, ...]) -> int:
    """How many rows have a missing cell in one of the columns; `marks` are texts that mean one."""
    return int(missing_in(frame, names, marks).sum()) if names else 0


def missing_in(frame: Any, names: list[str], marks: tuple[str, ...]) -> NDArray[np.bool_]:
    """Which rows (N,) have a missing cell in one of the columns, of which there is one at least."""
    import polars as pl

    gone = []
    for name in names:
        cell = pl.col(name)
        if frame[name].dtype == pl.String:
            plain = cell.str.strip_chars()
            gone.append(cell.is_null() | plain.is_in(["", *marks]))
        elif frame[name].dtype.is_float():
            gone.append(cell.is_null() | ~cell.is_finite())
        else:
            gone.append(cell.is_null())
    whole = frame.select(pl.any_horizontal(gone).fill_null(True)).to_series().to_numpy()
    return np.asarray(whole, bool)


def _yes_no(texts: Any) -> tuple[str, ...]:
    found = sorted(texts.unique().to_list())
    for no, yes in YES_NO:
        by_word = {text.casefold(): text for text in found}
        if set(by_word) == {no, yes}:
            return by_word[no], by_word[yes]
    return ()


def _counts(texts: Any) -> dict[str, int]:
    counted = texts.alias("text").value_counts().sort("text")  # a column may be called count, too
    return {str(text): int(often) for text, often in counted.iter_rows()}


def _image_paths(texts: Any) -> bool:
    if not len(texts):
        return False
    ends = "|".join(re.escape(end) for end in IMAGE_ENDINGS)
    return bool(texts.str.contains(f"(?i)({ends})$").mean() > 0.9)


def _date_form(texts: Any) -> tuple[str, ...]:
    """The forms that all texts follow as dates, at most two; none where they don't."""
    sample = texts.head(200)
    if (
        not len(sample)
        or not sample.str.contains(r"^[\dA-Za-z].*\d").all()
        or sample.str.len_chars().max() > 40
    ):
        return ()
    found = [form for form in _forms(str(sample[0])) if _follows(sample, form)]
    found = [form for form in found if _follows(texts, form)]
    others = [form for form in found[1:] if not _times(texts, form).equals(_times(texts, found[0]))]
    return (*found[:1], *others[:1])


def _forms(text: str) -> Iterator[str]:
    for date in DATES:
        for time in (*TIMES, *ZONES):
            if (":" in text) == bool(time) and (date != "%Y%m%d" or time):
                yield date + time


def _follows(texts: Any, form: str) -> bool:
    if "%Y" in form and not texts.str.contains(r"\d{4}").all():
        return False  # a year of two digits is none of the first century
    return not _times(texts, form).null_count()


def _times(texts: Any, form: str) -> Any:
    return texts.str.to_datetime(form, strict=False, time_unit="us")
