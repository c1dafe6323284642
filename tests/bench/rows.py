"""The rows of the bench: a name, what is measured, its unit and the bound it has to keep."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

_COMPARE = {">=": operator.ge, "<=": operator.le, "==": operator.eq}


@dataclass(frozen=True)
class Target:
    """A bound such as `>= 0.9`."""

    sign: str
    bound: float

    def __str__(self) -> str:
        return f"{self.sign} {self.bound:.10g}"

    def holds(self, value: float) -> bool:
        """Whether a value keeps the bound."""
        return bool(_COMPARE[self.sign](value, self.bound))


@dataclass(frozen=True)
class Row:
    """One measurement: `measure` returns the value, and remarks that a reader needs to trust it."""

    name: str
    about: str
    unit: str
    target: Target | None
    measure: Callable[[], tuple[float, str]]


@dataclass(frozen=True)
class Result:
    """A row measured; `holds` is None without a bound, `peak_mib` the most memory its process held."""

    name: str
    value: float | None
    unit: str
    target: str
    holds: bool | None
    peak_mib: float
    remark: str

    def as_json(self) -> dict[str, Any]:
        """The fields as JSON takes them."""
        return asdict(self)


ROWS: dict[str, Row] = {}


def row(
    name: str, about: str, unit: str, target: str = ""
) -> Callable[[Callable[[], tuple[float, str]]], Any]:
    """Register the decorated function as a row; `target` is a sign and a number, or nothing."""
    bound = None
    if target:
        sign, number = target.split()
        bound = Target(sign, float(number))

    def register(measure: Callable[[], tuple[float, str]]) -> Callable[[], tuple[float, str]]:
        ROWS[name] = Row(name, about, unit, bound, measure)
        return measure

    return register
