"""How far two runs of statements are apart, whatever their variables are called."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field

TOKEN = re.compile(r"-?\d[\w.]*(?:e-\d+)?|\w+|'[^']*'|[^\w\s]")


class _Renamed(ast.NodeTransformer):
    """Calls what a function sets by numbers, in the order in which it is set."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Name(self.names.get(node.id, node.id), node.ctx), node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.copy_location(ast.arg(self.names.get(node.arg, node.arg)), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.name = self.names.get(node.name, node.name)
        node.returns = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        if node.value is None:
            return node
        return ast.copy_location(ast.Assign([node.target], node.value), node)

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        self.generic_visit(node)
        return node


def normal(
    body: Sequence[ast.stmt], known: Mapping[str, str] | None = None, *, numbered: bool = True
) -> list[ast.stmt]:
    """Statements without docstrings and types, their variables by numbers; `known` are other names' own."""
    kept = [one for one in deepcopy([*body]) if not _is_doc(one)]
    names: dict[str, str] = dict(known or {})
    for one in kept if numbered else ():
        for found in _stored(one):
            names.setdefault(found, f"v{len(names)}")
    made = [_Renamed(names).visit(one) for one in kept]
    for one in made:
        for node in ast.walk(one):
            if isinstance(node, ast.FunctionDef):
                node.body = [line for line in node.body if not _is_doc(line)] or [ast.Pass()]
    return [ast.fix_missing_locations(one) for one in made]


def _stored(tree: ast.AST) -> Iterable[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name


def _is_doc(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def lines_of(body: Sequence[ast.stmt], known: Mapping[str, str] | None = None) -> list[str]:
    """Statements as lines that are equal where what they do is."""
    return [
        line.strip() for one in normal(body, known) for line in ast.unparse(one).splitlines() if line.strip()
    ]


def apart(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words the lines differ in; 0 where they are equal, line by line."""
    if list(one) == list(other):
        return 0
    lines, others = Counter(one), Counter(other)
    left, right = lines - others, others - lines
    words, more = Counter[str](), Counter[str]()
    for counted, text in ((words, left), (more, right)):
        for line, times in text.items():
            found = ["", "", *TOKEN.findall(line)]
            for at in range(2, len(found)):  # a word counts with those before it: lr=0.5 is not momentum=0.5
                counted[" ".join(found[at - 2 : at + 1])] += times
    return 1 + sum(((words - more) + (more - words)).values())


@dataclass(frozen=True, slots=True)
class Masked:
    """Names that stand for any other, and what some names are called instead."""

    names: Collection[str] = ()
    known: Mapping[str, str] = field(default_factory=dict)


def masked(one: ast.stmt, names: Masked) -> ast.stmt:
    """A statement without types, whose masked names are all the same."""
    [made] = normal([one], {**dict.fromkeys(names.names, "_"), **names.known}, numbered=False)
    return made


def stored_in(body: Iterable[ast.stmt]) -> Iterable[str]:
    """The names that statements set, and those of what they define."""
    for one in body:
        yield from _stored(one)


def is_doc(node: ast.AST) -> bool:
    """Whether a statement is text alone."""
    return _is_doc(node)
