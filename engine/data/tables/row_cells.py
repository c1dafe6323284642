"""Cells of a row as people read them, and the numbers that they become: classes, dates, plain numbers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from engine.catalogue import Column, Data
from engine.shapes.heads import names_of

BEGIN = datetime(1970, 1, 1, tzinfo=UTC)
NUMBER, WHOLE, CATEGORY, YES_NO, DATE = "number", "whole", "category", "yes-no", "date"


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a row: of number `first` on, `count` numbers of its column stand for it.

    `details` are the classes of a category, the words for no and yes, or how a date is written.
    """

    name: str
    kind: str
    first: int
    count: int = 1
    details: tuple[str, ...] = ()

    @property
    def chosen(self) -> bool:
        """Whether it is one of a few classes."""
        return self.kind in (CATEGORY, YES_NO)

    def read(self, numbers: np.ndarray) -> float:
        """What the numbers `(count,)` stand for: a number, days since 1970, a class; NaN for none of them."""
        if self.kind == CATEGORY:
            return float(numbers.argmax()) if numbers.max() > 0.5 else float("nan")
        return float(numbers[0])

    def write(self, value: float, numbers: np.ndarray) -> None:
        """Put a value into the numbers `(count,)` of a row."""
        from engine.data.tables.columns import feature_fit, feature_parts  # torch comes with it

        one, row = np.array([value]), np.array([0])
        dates = "days and cycles" if self.count > 1 else "days"
        fit = feature_fit(one, self.kind, self.details, row, "drop rows", "none", dates)
        numbers[:] = [float(part[0]) for part in feature_parts(one, fit)]


def cells_of(data: Data, column: Column) -> tuple[Cell, ...]:
    """The cells that a column `(k,)` or `()` is made of: a number each unless a table says more."""
    size = column.shape[0] if column.shape else 1
    table = getattr(data, "table", ())
    if column.name == "features" and table and hasattr(data, "dates"):
        found, first = [], 0
        for name, kind, role, *details in table:
            if role != "input":
                continue
            dated = kind == DATE and data.dates == "days and cycles"
            count = len(details) if kind == CATEGORY else 7 if dated else 1
            found.append(Cell(str(name), str(kind), first, count, tuple(str(one) for one in details)))
            first += count
        if first == size:
            return tuple(found)
    return tuple(Cell(name, NUMBER, index) for index, name in enumerate(names_of(column)))


def date_text(days: float, form: str = "") -> str:
    """Days since 1970 as a file writes dates; with the time of day where no form says how."""
    when = BEGIN + timedelta(days=days)
    when = (when + timedelta(milliseconds=500)).replace(microsecond=0)
    if form:
        try:
            return when.strftime(form)
        except ValueError:
            pass
    return when.strftime("%Y-%m-%d" if not (when.hour or when.minute or when.second) else "%Y-%m-%d %H:%M:%S")


def date_days(text: str, form: str = "") -> float | None:
    """Days since 1970 of a date as the file writes it, or as 2021-03-31; None where it is no date."""
    for iso in (False, True):
        try:
            when = datetime.fromisoformat(text) if iso else datetime.strptime(text, form)
        except ValueError:
            continue
        when = when if when.tzinfo is not None else when.replace(tzinfo=UTC)
        return (when - BEGIN) / timedelta(days=1)
    return None
