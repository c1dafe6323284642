"""What the lines of several kinds of source have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.catalogue.identifiers import NameBook, slug
from engine.emit.statements import WIDTH, Statement, quoted, tree, under


@dataclass
class Beside:
    """The functions and classes that a script has beside its `load`, and who gives their names."""

    names: NameBook
    parts: list[list[Statement]] = field(default_factory=list)

    def add(self, template: str, title: str, nearest: Callable[[str, str], str] = slug, **given: Any) -> str:
        """The name of one more, in whose template it is `$name`."""
        found = self.names.give(title, nearest=nearest)
        self.parts.append(tree(template, name=found, **given))
        return found


def listed_lines(target: str, items: Sequence[str], call: str = "") -> list[Statement]:
    """`target = ("a", "b")` of items as they are written, or a `call` with a list of them.

    There are as many in a line as fit.
    """
    first, last = (f"{call}([", "])") if call else ("(", ")")
    whole = f"{first}{', '.join(items)}{last}" if call else tuple_text(items)
    if len(whole) + len(target) < WIDTH - 16:
        return [Statement(whole, target=target)]
    lines = [""]
    for item in items:
        if lines[-1] and len(lines[-1]) + len(item) > WIDTH - 16:
            lines.append("")
        lines[-1] += f"{' ' if lines[-1] else ''}{item},"
    return [under(f"{target} = {first}", map(Statement, lines)), Statement(last)]


def literal(value: object) -> str:
    """A value as Python, a text so that any editor shows it."""
    if not isinstance(value, str):
        return repr(value)
    return quoted(value) if value.isprintable() else ascii(value)


def tuple_text(items: Sequence[str]) -> str:
    """A tuple of items as they are written."""
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def class_lines(classes: Sequence[str]) -> list[Statement]:
    """The classes by their numbers."""
    return listed_lines("classes", [quoted(one) for one in classes])


def divided(columns: Mapping[str, str]) -> tuple[Statement, str]:
    """A line that gathers columns, tensors (N, ...), and each split's part of them as an expression."""
    items = ", ".join(f"{quoted(name)}: {value}" for name, value in columns.items())
    part = "{name: one[at].to(device) for name, one in columns.items()}"
    return Statement(f"{{{items}}}", target="columns"), f"{{split: {part} for split, at in rows.items()}}"


def divided_each(columns: Mapping[str, str]) -> tuple[list[Statement], str]:
    """Lines that make the columns of each split, expressions of the rows `at`; and what they have made."""
    items = ", ".join(f"{quoted(name)}: {value}" for name, value in columns.items())
    loop = under("for split, at in rows.items():", [Statement(f"parts[split] = {{{items}}}")])
    return [Statement("parts: dict[str, dict[str, Any]] = {}"), loop], "parts"
