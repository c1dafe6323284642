"""Another file in the place of the one that a data node reads: what the user has set stays."""

from __future__ import annotations

from collections.abc import Mapping

from engine.values import Value

SPLITTING = ("split", "validation", "test", "folds", "fold", "gap", "seed", "repeats", "balance")


def replaced(old: Mapping[str, Value], found: Mapping[str, Value]) -> dict[str, Value]:
    """The parameters of a node that read `old` and will read what was `found` in another file.

    How rows are split stays, and so do the roles of columns that both files have. A table of columns is
    called `table`; its rows begin with name, kind and role.
    """
    kept = {name: value for name, value in old.items() if name not in found or name in SPLITTING}
    new = {**found, **kept}
    before, after = old.get("table"), found.get("table")
    if isinstance(before, tuple) and isinstance(after, tuple):
        new["table"] = _with_roles(before, after)
    return new


def _with_roles(before: tuple[Value, ...], after: tuple[Value, ...]) -> tuple[Value, ...]:
    roles = {row[0]: row[2] for row in before if isinstance(row, tuple) and len(row) > 2}
    names = {row[0] for row in after if isinstance(row, tuple) and row}
    if not roles.keys() & names:
        return after
    return tuple(
        (*row[:2], roles[row[0]], *row[3:])
        if isinstance(row, tuple) and len(row) > 2 and row[0] in roles
        else row
        for row in after
    )
