"""The parts of a script by the file that they belong to: what stands where follows from what reads what."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.data.portable import names_read
from engine.emit.entry import Constants
from engine.emit.statements import WIDTH, Statement, printed

Lines = Sequence[Statement]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a script, the names that it defines and those that it reads."""

    lines: Lines
    defines: frozenset[str]
    reads: frozenset[str]


def parts_of(parts: Iterable[Lines]) -> list[Part]:
    """Parts of a script with the names in them."""
    return [_read(one) for one in parts]


def _read(lines: Lines) -> Part:
    parsed = ast.parse("\n".join(line.plain for line in printed(lines)))
    defines: set[str] = set()
    reads: set[str] = set()
    for one in parsed.body:
        reads.update(names_read(one))
        if isinstance(one, (ast.FunctionDef, ast.ClassDef)):
            defines.add(one.name)
        else:
            names = [node for node in ast.walk(one) if isinstance(node, ast.Name)]
            defines.update(node.id for node in names if isinstance(node.ctx, ast.Store))
    return Part(lines, frozenset(defines), frozenset(reads))


def needed(parts: Sequence[Part], wanted: Collection[str]) -> list[Part]:
    """The parts that define `wanted` names, and all that these read, in order."""
    found: set[int] = set()
    names = set(wanted)
    while True:
        new = [at for at, one in enumerate(parts) if at not in found and one.defines & names]
        if not new:
            return [one for at, one in enumerate(parts) if at in found]
        found.update(new)
        names = {name for at in new for name in parts[at].reads}


def split(parts: Sequence[Part], wanted: Mapping[str, Collection[str]]) -> dict[str, list[Part]]:
    """{file: parts}: each file has what its `wanted` names need and no file before it has; the last the rest.

    No file reads a name of a later one but where two read each other's parts, which none of ours do.
    """
    found: dict[str, list[Part]] = {}
    rest = list(parts)
    for file, names in wanted.items():
        found[file] = needed(rest, names) if names else rest
        rest = [one for one in rest if one not in found[file]]
    return found


def constants_in(
    files: Mapping[str, Sequence[Part]], constants: Sequence[Constants]
) -> dict[str, list[Constants]]:
    """The constants of each file: those that it is the first to read; the last has the rest."""
    left = {name for one in constants for name in one.values}
    found: dict[str, list[Constants]] = {}
    for file, parts in files.items():
        last = file == list(files)[-1]
        own = left if last else left & {name for one in parts for name in one.reads}
        found[file] = [some for one in constants if (some := one.only(own)).values]
        left = left - own
    return found


def import_line(module: str, names: Collection[str]) -> list[Statement]:
    """`from .data import batches, load`, a name a line where it is long."""
    ordered = sorted(names, key=_place)
    whole = f"from {module} import {', '.join(ordered)}"
    if len(whole) <= WIDTH:
        return [Statement(whole)]
    body = tuple(Statement(f"{name},") for name in ordered)
    return [Statement(f"from {module} import (", body=body), Statement(")")]


def _place(name: str) -> tuple[int, list[tuple[int, str]], str]:
    """Where a name stands among others, as linters sort them: constants, classes, functions."""
    kind = 0 if len(name) > 1 and name.isupper() else 1 if name[:1].isupper() else 2
    pieces = re.findall(r"\d+|\D+", name.lower())
    return kind, [(int(one), "") if one.isdigit() else (-1, one) for one in pieces], name
