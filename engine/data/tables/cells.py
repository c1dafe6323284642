"""The cells of a column, read as numbers, days or classes. Portable: exports carry this source."""

from __future__ import annotations

import re
from typing import Any

import numpy as np


def blank_rows(frame: Any, blanks: tuple[str, ...]) -> np.ndarray[Any, Any]:
    """Which rows (N,) have nothing in any cell: lines between the rows, or below them."""
    import polars as pl

    if not frame.width:
        return np.zeros(len(frame), bool)
    empty = [
        pl.col(name).is_null() if kind != pl.String else pl.col(name).str.strip_chars().fill_null("") == ""
        for name, kind in frame.schema.items()
    ]
    whole: np.ndarray[Any, Any] = frame.select(pl.all_horizontal(empty)).to_series().to_numpy().astype(bool)
    return whole


class Cells:
    """The cells of one column, and where they stand, for the sentence on one that is odd."""

    def __init__(
        self, series: Any, name: str, file: str, first: int, blanks: tuple[str, ...], decimal: str
    ) -> None:
        import polars as pl

        self.name, self.file, self.first, self.decimal = name, file, first, decimal
        if series.dtype in (pl.Categorical, pl.Enum):
            series = series.cast(pl.String)
        if series.dtype == pl.String:
            series = series.str.strip_chars()
            series = series.set(series.is_in(["", *blanks]), None)
        self.series = series

    def values(self, kind: str, details: tuple[Any, ...]) -> np.ndarray[Any, Any]:
        """The column as (N,) float64, NaN where a cell is missing; classes are numbered from 0."""
        if kind in ("number", "whole"):
            return self.numbers(str(details[0]) if details else "")
        if kind == "date":
            return self.days(details[0] if details else "")
        if kind in ("category", "yes-no"):
            return self.classes([str(one) for one in details])
        raise ValueError(f'"{self.name}" holds texts, which are no numbers. Set the column to ignore.')

    def numbers(self, form: str = "") -> np.ndarray[Any, Any]:
        """As they are written: plainly, or in a `form` such as 1.234,5 €."""
        import polars as pl

        series = self.series
        if series.dtype == pl.String and form:
            series = written_numbers(series, form)
            self.check(series, f'is no number written as "{form}"')
        elif series.dtype == pl.String:
            plain = series.str.replace("−", "-", literal=True)
            if self.decimal == ",":
                plain = plain.str.replace(".", "?", literal=True).str.replace(",", ".", literal=True)
            series = plain.cast(pl.Float64, strict=False)
            self.check(series, "is no number")
        elif series.dtype.is_temporal() or series.dtype.is_nested():
            raise ValueError(f'"{self.name}" in "{self.file}" no longer holds numbers. Open the file again.')
        found = series.cast(pl.Float64).to_numpy().astype(np.float64)
        return np.where(np.isfinite(found), found, np.nan)

    def days(self, form: str) -> np.ndarray[Any, Any]:
        """Days since 1970-01-01."""
        import polars as pl

        series = self.series.cast(pl.String) if form and self.series.dtype.is_integer() else self.series
        if series.dtype == pl.String:
            series = series.str.to_datetime(form or None, strict=False, time_unit="us")
            self.check(series, f'is no date written as "{form}"')
        found = series.cast(pl.Datetime("us")).dt.epoch("us").cast(pl.Float64).to_numpy()
        days: np.ndarray[Any, Any] = found.astype(np.float64) / 86_400_000_000
        return days

    def classes(self, names: list[str]) -> np.ndarray[Any, Any]:
        import polars as pl

        series = self.texts()
        numbers = series.replace_strict(
            pl.Series(names, dtype=pl.String),
            pl.Series(range(len(names)), dtype=pl.Float64),
            default=None,
            return_dtype=pl.Float64,
        )
        self.check(numbers, "is none of the classes that were there when it was opened")
        found: np.ndarray[Any, Any] = numbers.to_numpy().astype(np.float64)
        return found

    def texts(self) -> Any:
        """The cells as text, as classes are named by it."""
        import polars as pl

        if self.series.dtype == pl.Boolean:
            return self.series.replace_strict([False, True], ["no", "yes"], return_dtype=pl.String)
        return self.series.cast(pl.String)

    def keys(self) -> np.ndarray[Any, Any]:
        """A number for each different text, in the order of texts; objects keep the texts."""
        texts: np.ndarray[Any, Any] = self.texts().fill_null("").to_numpy().astype(str)
        return texts

    def check(self, parsed: Any, what: str) -> None:
        """Errors: `ValueError` on the first cell that is not blank and was not understood."""
        odd = (self.series.is_not_null() & parsed.is_null()).arg_true()
        if len(odd):
            at = int(odd[0])
            more = f", and {len(odd) - 1:,} more like it" if len(odd) > 1 else ""
            raise ValueError(
                f'Row {self.first + at:,} of "{self.file}" has "{str(self.series[at])[:60]}" '
                f'in "{self.name}", '
                f"which {what}{more}. Fix it, open the file again, or change what the column is."
            )


def written_numbers(texts: Any, form: str) -> Any:
    """Stripped texts as numbers, null where they don't follow `form`, which shows 1234.5 as they would.

    A percent sign or a currency changes no value, the letters of 12k, 1.5M and 2B (the unit kMB) do; in
    parentheses stands what is below 0, as in books.
    """
    import polars as pl

    group, point, unit = re.fullmatch(r"1(\D?)234([.,])5(?: (.+))?", form).groups("")  # type: ignore[union-attr]
    spaces = "[ \u00a0\u2009\u202f]"
    part = {"": "", " ": spaces, "'": "['’]"}.get(group, f"[{group}]")
    number = (
        rf"(?:[1-9]\d{{0,2}}(?:{part}\d{{3}})+|\d+)(?:[{point}]\d*)?" if group else rf"\d+(?:[{point}]\d*)?"
    )
    beside = "".join(f"[{letter}]" for letter in unit)
    times = {"k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9} if unit == "kMB" else {}
    if times:
        number = rf"{number}{spaces}*[kKMB]?"
    elif unit:
        number = rf"(?:{beside}{spaces}*[-+]?{number}|{number}{spaces}*{beside})"
    texts = texts.str.replace("−", "-", literal=True)
    follows = texts.str.contains(rf"^(?:[-+]?{number}|\({number}\))$")
    plain = texts.str.replace_all(r"[^\d.,\-]", "")
    if group in (".", ","):
        plain = plain.str.replace_all(group, "", literal=True)
    found = plain.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
    if times:
        letter = texts.str.extract("([kKMB])$").fill_null("")
        found = found * letter.replace_strict(times, default=1.0, return_dtype=pl.Float64)
    found = (-found).zip_with(texts.str.starts_with("(").fill_null(False), found)
    return found.set(~follows.fill_null(False), None)
