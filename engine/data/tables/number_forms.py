"""How people write numbers in tables: with marks between thousands, percent signs and currencies.

A form shows the number 1234.5 as a column writes it, `1.234,5 €` say; `written_numbers` reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from engine.data.tables.cells import written_numbers

UNITS = (
    *("%", "‰", "$", "€", "£", "¥", "₹", "₩", "₽", "₺", "₴", "₫", "₪", "¢"),
    *("US$", "R$", "A$", "C$", "USD", "EUR", "GBP", "JPY", "CHF", "CNY", "kr", "zł", "Kč", "Ft"),
)
TIMES = {"", "k", "K", "M", "B"}  # thousands, millions, billions
SPACES = " \u00a0\u2009\u202f"
SAMPLE = 200  # cells that a form is looked for in
AMOUNT = re.compile(
    rf"[(]?[-+−]?(?:{'|'.join(re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True))})?"
    rf"[{SPACES}]*[-+−]?\d[\d.,'’{SPACES}]*(?:{'|'.join(re.escape(unit) for unit in UNITS)}|[kKMB])?[)]?"
)


def is_amount(cell: str) -> bool:
    """Whether a cell may be a number that the user has written."""
    return AMOUNT.fullmatch(cell.strip()) is not None


def number_form(texts: Any, decimal: str) -> str | None:
    """The form that all of some texts (stripped, none blank) follow; None where there is none.

    Plain numbers have none. Where two forms would do, that with the decimal mark of the file.
    """
    sample = texts.head(SAMPLE)
    if not len(sample) or not all(is_amount(str(cell)) for cell in sample):
        return None
    unit = _unit(sample)
    if unit is None:
        return None
    for form in _forms(unit, decimal):
        mark = {" ": SPACES, "'": "'’"}.get(form[1], form[1])
        if not unit and not texts.str.contains(rf"\d[{mark}]\d{{3}}(?:\D|$)").any():
            continue  # nothing is parted, so nothing says what the marks are
        if not written_numbers(sample, form).null_count() and not written_numbers(texts, form).null_count():
            return form
    return None


def thousands(cell: str, mark: str) -> bool:
    """Whether the marks in a cell stand where they would between thousands: as in 1,234, not in 0,125."""
    return re.fullmatch(rf"[-+−]?[1-9]\d{{0,2}}(?:[{mark}]\d{{3}})+", cell.strip()) is not None


def unsure_comma(texts: Any) -> bool:
    """Whether every comma in a column's cells may also stand between thousands."""
    commas = texts.filter(texts.str.contains(",", literal=True))
    return len(commas) > 0 and bool(commas.str.contains(r"^[-+−]?[1-9]\d{0,2}(?:,\d{3})+$").all())


def _unit(sample: Any) -> str | None:
    """What stands beside every number, "" for nothing; None where that differs or is not known."""
    found = {re.sub(rf"[-+−\d.,'’(){SPACES}]", "", str(cell)) for cell in sample}
    if found != {""} and found <= TIMES:
        return "kMB"
    unit = found.pop() if len(found) == 1 else None
    return unit if unit == "" or unit in UNITS else None


def _forms(unit: str, decimal: str) -> Iterator[str]:
    """Forms that may be: those with the file's decimal mark first; without marks only beside a unit."""
    behind = f" {unit}" if unit else ""
    for point in (decimal, "," if decimal == "." else "."):
        for mark in (("," if point == "." else "."), " ", "'"):
            if unit:
                yield f"1234{point}5{behind}"
            yield f"1{mark}234{point}5{behind}"
