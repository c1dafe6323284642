"""Trees of expressions: the layers they call, what is inside them, and other things put in their place."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from engine.importers.matching import HOLE, SELF
from engine.importers.spelling import Spelling, spelled

PLACE = "place_"  # begins the names of values that are known


def attributes(tree: ast.AST) -> list[str]:
    """The layers that a tree calls, in order."""
    return list(
        dict.fromkeys(
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == SELF
        )
    )


def cuts(tree: ast.expr, places: frozenset[str]) -> Iterator[list[ast.expr]]:
    """What may be read first of a nested expression: the innermost calls, then those around them."""
    depths: dict[int, list[ast.expr]] = {}

    def visit(node: ast.AST) -> int:
        below = max((visit(child) for child in ast.iter_child_nodes(node)), default=-1)
        if isinstance(node, ast.Name) and node.id in places:
            return 0
        if below < 0:
            return -1
        if isinstance(node, ast.Call | ast.BinOp | ast.Subscript) and node is not tree:
            depths.setdefault(below + 1, []).append(node)
            return below + 1
        return below

    visit(tree)
    for depth in sorted(depths):
        chosen: list[ast.expr] = []
        for level in range(depth, 0, -1):
            for one in depths.get(level, ()):
                if not any(one in ast.walk(other) for other in chosen):
                    chosen.append(one)
        yield chosen


def with_variables(tree: ast.expr, marked: Mapping[str, ast.expr]) -> ast.expr:
    return replaced(tree, {ast.dump(one): ast.Name(key, ast.Load()) for key, one in marked.items()})


class _Replace(ast.NodeTransformer):
    def __init__(self, by_dump: Mapping[str, ast.expr]) -> None:
        self.by_dump = by_dump

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.expr) and (found := self.by_dump.get(ast.dump(node))) is not None:
            return found
        return self.generic_visit(node)


def replaced(tree: ast.expr, by_dump: Mapping[str, ast.expr]) -> ast.expr:
    made = _Replace(by_dump).visit(deepcopy(tree))
    assert isinstance(made, ast.expr)
    return made


def with_names(tree: ast.expr, names: Mapping[str, ast.expr]) -> ast.expr:
    return spelled(tree, Spelling(names=names))


class _There(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, ast.expr], layers: Mapping[str, str]) -> None:
        self.names, self.layers = names, layers

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.names.get(node.id, node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id == SELF:
            return ast.Attribute(node.value, self.layers.get(node.attr, node.attr), ast.Load())
        return ast.Attribute(self.visit(node.value), node.attr, ast.Load())


def as_there(tree: ast.expr, names: Mapping[str, ast.expr], layers: Mapping[str, str]) -> ast.expr:
    made = _There(names, layers).visit(deepcopy(tree))
    assert isinstance(made, ast.expr)
    return made


def shown_tree(tree: ast.expr) -> ast.expr:
    """A tree as a reader of a message sees it."""

    class Plain(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return ast.Name("x", ast.Load()) if node.id.startswith((PLACE, HOLE)) else node

    made = Plain().visit(deepcopy(tree))
    assert isinstance(made, ast.expr)
    return made


def values_in(tree: ast.expr, places: frozenset[str]) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in places:
            yield node
