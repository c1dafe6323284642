"""Calls in a script of what it carries, for definitions that take less than they did."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from engine.catalogue.symbols import Expr
from engine.emit.carried.specialise import Cut
from engine.emit.statements import Statement, walked

# what to put around a piece of Python to make it whole, and the brackets to take off again
FRAMES = (("", ""), ("", " pass"), ("{", "}"), ("_(", ")"))


def unreadable(parts: Iterable[Sequence[Statement]], names: Collection[str]) -> set[str]:
    """Those of the names that stand in a statement which cannot be read by itself."""
    found: set[str] = set()
    for part in parts:
        for one in walked(part):
            for code in _codes(one):
                said = _said(code, names)
                if said and isinstance(code, str) and _read(code) is None:
                    found |= said
    return found


def with_cuts(part: Sequence[Statement], cuts: Mapping[str, Sequence[Cut]]) -> list[Statement]:
    """Statements whose calls give what the definitions take."""
    return [_cut(one, cuts) for one in part] if cuts else [*part]


def _cut(one: Statement, cuts: Mapping[str, Sequence[Cut]]) -> Statement:
    twin = None if one.twin is None else _code(one.twin, cuts)
    return replace(
        one, code=_code(one.code, cuts), twin=twin, body=tuple(_cut(part, cuts) for part in one.body)
    )


def _code(code: str | Expr, cuts: Mapping[str, Sequence[Cut]]) -> str | Expr:
    if not _said(code, cuts):
        return code
    if isinstance(code, Expr):
        tree = copy.deepcopy(code.tree)
        _apply(tree, cuts)
        return Expr(tree, code.carries)
    read = _read(code)
    assert read is not None, code
    tree_, frame = read
    _apply(tree_, cuts)
    text = ast.unparse(tree_)
    start, end = frame
    if end == " pass":
        return text.rsplit("\n", 1)[0]
    if start:
        comma = "," if code.rstrip().endswith(",") else ""
        return f"{text[len(start) : len(text) - len(end)]}{comma}"
    return text


def _apply(tree: ast.AST, cuts: Mapping[str, Sequence[Cut]]) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            for cut in cuts.get(node.func.id, ()):
                cut.applied(node)


def _read(code: str) -> tuple[ast.Module, tuple[str, str]] | None:
    item = code.rstrip().endswith(",")  # of a display or a call, not a tuple
    for frame in FRAMES[2:] if item else FRAMES:
        try:
            return ast.parse(f"{frame[0]}{code}{frame[1]}"), frame
        except SyntaxError:
            continue
    return None


def _codes(one: Statement) -> Iterator[str | Expr]:
    yield one.code
    if one.twin is not None:
        yield one.twin


def _said(code: str | Expr, names: Collection[str]) -> set[str]:
    if isinstance(code, Expr):
        words = {node.id for node in ast.walk(code.tree) if isinstance(node, ast.Name)}
    else:
        words = set(re.findall(r"\w+", code))
    return words.intersection(names)
