"""What is written for a project that was read, beside the file it was read from.

Layers, losses, data and objectives are read line by line, and say themselves what they do not know. All else
of a script follows from the project: it is written once more, and where the file has something else, that
line is named.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from engine.catalogue import Catalogue
from engine.document.graph import Project
from engine.emit.script import write_script
from engine.errors import NeuroloomError
from engine.importers.constants import plainly, put_in
from engine.importers.findings import Findings, quoted_code
from engine.importers.likeness import lines_of, normal
from engine.importers.roles import constants_of

Function = ast.FunctionDef


def compare(
    project: Project,
    catalogue: Catalogue,
    tree: ast.Module,
    read: Collection[str],
    findings: Findings,
    notebook: bool,
) -> None:
    """Name the lines of a file that the project does not write; `read` are functions read by lines."""
    try:
        script = write_script(project, catalogue, procedures="all", notebook=notebook)
    except NeuroloomError:
        return  # the problems of the project say why
    parsed = plainly(ast.parse(script.plain.text))
    written = functions_of(put_in(parsed, constants_of(parsed)))
    there = {name: one for name, one in functions_of(tree).items() if name not in read}
    names = _renamed(there, written)
    for name, one in there.items():
        other = written.get(names.get(name, name))
        if other is None:
            if _is_called(name, tree):
                findings.add(one, f"`{name}` is a function of its own, which the project does not hold.")
            continue
        _differing(one, other, names, findings)


def functions_of(tree: ast.Module) -> dict[str, Function]:
    return {one.name: one for one in tree.body if isinstance(one, Function)}


def _renamed(there: Mapping[str, Function], written: Mapping[str, Function]) -> dict[str, str]:
    """What functions that have other names in the file are called where they are written."""
    found: dict[str, str] = {}
    left = {name: one for name, one in written.items() if name not in there}
    for name, one in there.items():
        if name in written:
            continue
        mine = _shape(one, {*there, *written})
        same = next((other for other, two in left.items() if _shape(two, {*there, *written}) == mine), None)
        if same is not None:
            found[name] = same
            del left[same]
    return found


def _shape(one: Function, masked: Collection[str]) -> list[str]:
    return lines_of([one], dict.fromkeys(masked, "function"))


def _differing(one: Function, other: Function, names: Mapping[str, str], findings: Findings) -> None:
    """Name the statements of a function that the written one lacks, and what it has instead."""
    mine = [*_flat(normal([one], names))]
    theirs = [*_flat(normal([other]))]
    texts, others = ([text for text, _ in found] for found in (mine, theirs))
    by_line = {node.lineno: node for node in ast.walk(one) if isinstance(node, ast.stmt)}
    for kind, start, end, first, last in SequenceMatcher(None, texts, others, autojunk=False).get_opcodes():
        if kind in ("insert", "replace") and start == end and first < last:
            findings.add(one, f"`{one.name}` lacks `{others[first]}`, which the project does.")
        for _, line in mine[start:end] if kind != "equal" else ():
            findings.add(
                line,
                f"{quoted_code(_head(by_line[line]))} is not what the project does here; it is left out.",
            )


def _head(statement: ast.stmt) -> ast.stmt:
    """A statement without those in it."""
    if not hasattr(statement, "body"):
        return statement
    return (
        ast.parse(f"{ast.unparse(statement).splitlines()[0]} ...").body[0]
        if not isinstance(statement, ast.Try)
        else statement
    )


def _flat(body: Sequence[ast.stmt]) -> Iterator[tuple[str, int]]:
    """Each statement as a line of text, with its line in the file; those inside after their heads."""
    for one in body:
        yield ast.unparse(one).splitlines()[0 if not getattr(one, "decorator_list", []) else -1], one.lineno
        for name in ("body", "handlers", "orelse", "finalbody"):
            inner = [part for part in getattr(one, name, []) if isinstance(part, ast.stmt)]
            for part in getattr(one, name, []):
                if isinstance(part, ast.ExceptHandler):
                    inner += part.body
            yield from _flat(inner)


def _is_called(name: str, tree: ast.Module) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(tree))
