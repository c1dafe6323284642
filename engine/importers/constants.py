"""Numbers that a file names at its top, put where they are used: `WIDTH = 64`, and `nn.Linear(9, WIDTH)`."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

OWN = ("SEED", "BATCH", "EPOCHS", "PATIENCE", "WORLD")  # of every script, which the plan is read from


def put_in(tree: ast.Module, constants: Mapping[str, ast.expr]) -> ast.Module:
    """The tree with the file's own numbers and texts in the place of their names."""
    plain = {name: value for name, value in constants.items() if name not in OWN and _is_plain(value)}
    stored = {
        node.id
        for one in tree.body
        if isinstance(one, ast.FunctionDef | ast.ClassDef)
        for node in ast.walk(one)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    made = _Put({name: value for name, value in plain.items() if name not in stored}).visit(tree)
    assert isinstance(made, ast.Module)
    return made


def _is_plain(value: ast.expr) -> bool:
    try:
        found: Any = ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError):
        return False
    return isinstance(found, bool | int | float | str) or found is None


class _Put(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.AST:
        found = self.values.get(node.id)
        if found is None or not isinstance(node.ctx, ast.Load):
            return node
        return ast.copy_location(ast.parse(ast.unparse(found), mode="eval").body, node)
