"""What a parameter or a place may hold: plain values that JSON carries without loss; and counts in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TypeGuard

from engine.errors import GraphError

Value = None | bool | int | float | str | tuple["Value", ...]

FARTHEST = 1e9  # scene units from the origin; beyond it a canvas can't place anything
DEEPEST = 16  # levels of nested lists; a kernel needs one, a table two


def counted(count: int, word: str, words: str = "") -> str:
    """A number and what it counts: "1 image", "1,200 images"."""
    return f"{count:,} {word if count == 1 else words or word + 's'}"


def frozen(value: object, depth: int = 0) -> Value:
    """Return `value` as an immutable Value; lists become tuples.

    Raises GraphError for anything a project file could not give back: NaN, infinities, objects.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return int(value)  # also strips enums and other subclasses, whose repr isn't a literal
    if isinstance(value, float):
        if not math.isfinite(value):
            raise GraphError(f"{value} is not a finite number.")
        return float(value)
    if isinstance(value, (list, tuple)):
        if depth >= DEEPEST:
            raise GraphError(f"A list is nested more than {DEEPEST} levels deep.")
        return tuple(frozen(item, depth + 1) for item in value)
    kind = "an object" if isinstance(value, Mapping) else f"a {type(value).__name__}"
    raise GraphError(f"A value is a number, text, true or false, nothing, or a list of these, not {kind}.")


def frozen_mapping(values: Mapping[str, object]) -> dict[str, Value]:
    """Return the values frozen and in order of their names, so that equal mappings save alike."""
    if not all(isinstance(name, str) for name in values):
        raise GraphError("A parameter's name is text.")
    return {name: frozen(values[name]) for name in sorted(values)}


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a number that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond the largest float
        return False


def shown(value: object) -> str:
    """A value as an error quotes it: long ones are cut, and of huge numbers only the length is told."""
    if isinstance(value, int) and value.bit_length() > 128:
        return f"a number of more than {value.bit_length() * 3 // 10} digits"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


@lru_cache(maxsize=65536)
def natural(text: str) -> tuple[str, int, str, str]:
    """Return a sort key that puts n2 before n10, and x9 before x10; any text has its own place."""
    head = text.rstrip("0123456789")
    digits = text[len(head) :].lstrip("0")
    return head, len(digits), digits, text


def place(position: Iterable[float], what: str = "node") -> tuple[float, float]:
    """Return a position as two floats, none of them -0.0; raises GraphError unless a canvas can show it."""
    x, y = (float(value) + 0.0 for value in position)
    if not all(math.isfinite(value) and abs(value) <= FARTHEST for value in (x, y)):
        raise GraphError(f"A {what} cannot be placed at ({x}, {y}).")
    return x, y
