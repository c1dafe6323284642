"""What a file of Python said that a project cannot hold, each with its line."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

LONGEST = 80  # letters of code that a sentence quotes


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A line of a file: `file` is its name where several were read."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}" if self.file else f"line {self.line}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was not read as it stands, as a sentence; `node_id` is the node that stands for it."""

    place: Place | None
    message: str
    node_id: str | None = None
    line: int | None = None  # of the text that was put together

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


@dataclass(slots=True)
class Findings:
    """All that was found; a line is named once for the same reason."""

    places: dict[int, Place] = field(default_factory=dict)  # by the line of the text that was put together
    found: list[Finding] = field(default_factory=list)

    def add(self, at: ast.AST | int | None, message: str, node_id: str | None = None) -> None:
        line = at if isinstance(at, int) or at is None else getattr(at, "lineno", None)
        place = None if line is None else self.places.get(line, Place("", line))
        made = Finding(place, message, node_id, line)
        if all((one.place, one.message) != (made.place, made.message) for one in self.found):
            self.found.append(made)

    def lines(self) -> set[int]:
        """The lines of the text that was put together of which something is said."""
        return {one.line for one in self.found if one.line is not None}

    def in_order(self) -> list[Finding]:
        return sorted(self.found, key=lambda one: one.place or Place("", 0))


def quoted_code(node: ast.AST) -> str:
    """Code in backquotes, cut where it is long."""
    text = " ".join(ast.unparse(node).split())
    return f"`{text if len(text) <= LONGEST else text[: LONGEST - 1] + '…'}`"
