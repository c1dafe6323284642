"""Passes over the tree of a script: each changes the statements that are marked for it, and no others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from engine.emit.statements import Mark, Statement, walked
from engine.errors import EmitError

Part = Sequence[Statement]
Change = Callable[[Statement], Sequence[Statement]]


def changed(
    parts: Sequence[Part], changes: Mapping[Mark, Change], optional: Iterable[Mark] = ()
) -> list[list[Statement]]:
    """The parts of a script with each statement that has one of these marks as its change says.

    What stands in a statement is changed before it is. Errors: `EmitError` where a mark that is not
    `optional` is met nowhere, or where a statement without one of the marks would be lost.
    """
    met: set[Mark] = set()

    def visit(part: Iterable[Statement]) -> Iterator[Statement]:
        for one in part:
            whole = replace(one, body=tuple(visit(one.body))) if one.body else one
            if one.mark is None or one.mark not in changes:
                yield whole
            else:
                met.add(one.mark)
                yield from changes[one.mark](whole)

    found = [list(visit(part)) for part in parts]
    missing = set(changes) - met - set(optional)
    if missing:
        named = ", ".join(sorted(mark.name for mark in missing))
        raise EmitError(f"The script has no statement any more that is marked {named}, to be changed in it.")
    _check_kept(parts, found, changes)
    return found


def _check_kept(before: Sequence[Part], after: Sequence[Part], changes: Mapping[Mark, Change]) -> None:
    """Errors: `EmitError` where a statement that a pass has no business with is gone, or out of order."""
    rest = iter([str(one.plain) for part in after for one in walked(part)])
    for part in before:
        for one in walked(part):
            if one.mark not in changes and not any(found == one.plain for found in rest):
                raise EmitError(f"A pass over the script has lost the statement {one.plain!r}.")
