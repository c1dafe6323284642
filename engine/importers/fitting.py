"""Values of parameters that write what stands there: one after the other is changed while that gets nearer.

Nothing is known of what a parameter means. Candidates are the choices it has, and the literals of the code
that it has to explain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, islice, product
from typing import Any

from engine.catalogue.params import ParamSpec
from engine.errors import NeuroloomError
from engine.values import Value

Cost = Callable[[Mapping[str, Value]], int | None]
ROUNDS = 4  # a parameter may count only where another has its value
PAIRS = 300  # of choices tried together
MOST = 400  # candidates tried for one node


def fitted(
    params: Sequence[ParamSpec], cost: Cost, literals: Sequence[Any], start: Mapping[str, Value] | None = None
) -> tuple[dict[str, Value], int | None]:
    """Values other than the defaults that cost least, and what they cost; None where nothing can be written.

    `cost` is how far what a node of these values writes is from what stands there.
    """
    values: dict[str, Value] = dict(start or {})
    least = cost(values)
    tried = 0
    for _ in range(ROUNDS):
        before = least
        for spec in params:
            if least == 0 or tried > MOST:
                break
            for candidate in candidates(spec, literals):
                if candidate == values.get(spec.name, spec.default):
                    continue
                tried += 1
                changed = {**values, spec.name: candidate}
                found = cost(changed)
                if found is not None and (least is None or found < least):
                    values, least = changed, found
                    if least == 0:
                        break
        if least == 0:
            break
        if least == before:
            pair = _two_at_once(params, values, cost, least, literals)
            if pair is None:
                break
            values, least = pair
    return tidied(params, values, cost, least), least


def _two_at_once(
    params: Sequence[ParamSpec],
    values: Mapping[str, Value],
    cost: Cost,
    least: int | None,
    literals: Sequence[Any],
) -> tuple[dict[str, Value], int] | None:
    """Two choices that get nearer together, or one with a row of numbers, where none does alone.

    None where no two do.
    """
    switches: list[tuple[ParamSpec, Value]]
    switches = [
        (spec, one)
        for spec in params
        if spec.kind in ("choice", "bool")
        for one in (spec.choices if spec.kind == "choice" else (True, False))
        if one != values.get(spec.name, spec.default)
    ]
    numbers = [
        (spec, one)
        for spec in params
        if spec.kind in ("floats", "ints")
        for one in candidates(spec, literals)
    ]
    together = [*combinations(switches, 2), *product(switches, numbers)]
    for (spec, one), (another, other) in islice(together, PAIRS):
        if spec.name == another.name:
            continue
        changed = {**values, spec.name: one, another.name: other}
        found = cost(changed)
        if found is not None and (least is None or found < least):
            return changed, found
    return None


def tidied(
    params: Sequence[ParamSpec], values: Mapping[str, Value], cost: Cost, least: int | None
) -> dict[str, Value]:
    """The values without those that make no difference."""
    kept = dict(values)
    for spec in params:
        if spec.name in kept and kept[spec.name] == spec.default:
            del kept[spec.name]
    return kept


def candidates(spec: ParamSpec, literals: Sequence[Any]) -> Iterator[Value]:
    """Values that a parameter may have, as the parameter itself has them."""
    seen: set[str] = set()
    for raw in _raw(spec, literals):
        try:
            value = spec.check(raw)
        except NeuroloomError:
            continue
        if repr(value) not in seen:
            seen.add(repr(value))
            yield value


def _raw(spec: ParamSpec, literals: Sequence[Any]) -> Iterator[Any]:
    if spec.optional:
        yield None
    if spec.kind == "bool":
        yield from (True, False)
        return
    if spec.kind == "choice":
        yield from spec.choices
        return
    yield from spec.words
    yield from literals
    if spec.kind == "text":  # numbers in a row are typed as text
        yield from (" ".join(str(part) for part in one) for one in literals if isinstance(one, tuple))
    if spec.kind == "rows":
        yield from (_rows(one) for one in literals if isinstance(one, tuple))
    if spec.kind in ("int", "float"):
        yield from (0, 1)
        for one in literals:
            if isinstance(one, int | float) and not isinstance(one, bool):
                yield from (1 - one, one + 1, one - 1, -one, *([1 / one] if one else []))


def _rows(texts: Sequence[Any]) -> list[list[int | float | str]]:
    """Rows that are written as text: numbers with spaces between them, a comma behind each row."""
    parts = [part.split() for one in texts if isinstance(one, str) for part in one.split(",")]
    return [[_number(cell) for cell in part] for part in parts if part]


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
