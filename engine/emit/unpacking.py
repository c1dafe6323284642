"""How a tuple is taken apart: `output, (h, c) = self.lstm(x)`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.catalogue.emitter import Pattern


def flat(pattern: Pattern) -> Iterator[str]:
    """The names of a pattern, one after the other."""
    for part in pattern:
        if isinstance(part, str):
            yield part
        else:
            yield from flat(part)


def pattern_text(pattern: Pattern, read: set[str], renamed: dict[str, str], nested: bool = False) -> str:
    """A pattern as the target of an assignment; what nobody reads is `_`."""
    parts = []
    for part in pattern:
        if not isinstance(part, str):
            inner = pattern_text(part, read, renamed, nested=True)
            parts.append("_" if not set(inner) - set("(_, )") else inner)
        else:
            parts.append(renamed.get(part, part) if part in read else "_")
    text = f"{parts[0]}," if len(parts) == 1 else ", ".join(parts)
    return f"({text})" if nested else text


def ports_of_pattern(pattern: Pattern, bare: dict[str, str]) -> tuple[Any, ...]:
    """The pattern with the port that each part is, None for parts that are no port by themselves."""
    return tuple(
        bare.get(part) if isinstance(part, str) else ports_of_pattern(part, bare) for part in pattern
    )
