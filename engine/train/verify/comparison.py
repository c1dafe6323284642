"""What an export and the application find, line by line: equal to the last bit, or where they part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.values import counted

COUNTED = ("step", "phase", "epoch")  # what is counted, not measured
Record = dict[str, Any]
Row = tuple[str, float, float]


@dataclass(frozen=True, slots=True)
class Difference:
    """Where the two part: what is compared, and what each has there; None where it has nothing."""

    where: str
    application: Any
    export: Any

    def sentence(self) -> str:
        """The difference in words."""
        if self.application is None:
            return f"{self.where}: {self.export!r} in the export, nothing in the application."
        if self.export is None:
            return f"{self.where}: {self.application!r} in the application, nothing in the export."
        return f"{self.where}: {self.application!r} in the application, {self.export!r} in the export."


@dataclass(frozen=True, slots=True)
class Comparison:
    """How far both agree: `rows` are (what, in the application, in the export) for each value of a step."""

    steps: int
    rows: tuple[Row, ...] = ()
    difference: Difference | None = None
    over: bool = False

    @property
    def equal(self) -> bool:
        """Whether both have come to the end without a difference."""
        return self.over and self.difference is None

    def sentence(self) -> str:
        """What was found, for the user."""
        if self.difference is not None:
            return self.difference.sentence()
        many = counted(self.steps, "step")
        return f"{many}: the losses are equal to the last bit." if self.over else f"Equal so far: {many}."

    def to_json(self) -> dict[str, Any]:
        found = self.difference
        return {
            "steps": self.steps,
            "equal": self.equal,
            "losses": [list(row) for row in self.rows],
            "difference": None if found is None else [found.where, found.application, found.export],
        }


def compared(application: Sequence[Record], export: Sequence[Record], over: bool) -> Comparison:
    """Two lists of records, to the shorter end, or to the end of both where they are `over`."""
    rows: list[Row] = []
    steps = 0
    for at in range(max(len(application), len(export)) if over else min(len(application), len(export))):
        ours = application[at] if at < len(application) else {}
        other = export[at] if at < len(export) else {}
        where = _where(ours or other)
        for name in {**ours, **other}:
            what, one, two = f"{where}, {name}", ours.get(name), other.get(name)
            if one is None or two is None or not _same(one, two):
                return Comparison(steps, tuple(rows), Difference(what, one, two), over=True)
            if "step" in ours and name not in COUNTED:
                rows.append((what, one, two))
        steps += "step" in ours
    return Comparison(steps, tuple(rows), None, over)


def _where(record: Record) -> str:
    if "step" in record:
        return f"Step {record['step']}"
    return f"End of epoch {record['epoch'] + 1}" if "epoch" in record else "Test"


def _same(one: float, other: float) -> bool:
    """Whether two numbers are the same to the last bit; not a number is the same as itself."""
    if isinstance(one, float) and isinstance(other, float):
        return one.hex() == other.hex()
    return type(one) is type(other) and one == other
