"""Numbers that a file names at its top, put where they are used: `WIDTH = 64`, and `nn.Linear(9, WIDTH)`."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from typing import Any

OWN = ("SEED", "BATCH", "EPOCHS", "PATIENCE", "WORLD")  # of every script, which the plan is read from


def plainly(tree: ast.Module) -> ast.Module:
    """The tree with its settings as constants: `CONFIG.batch` of a dataclass `Config` becomes `BATCH`."""
    classes = {one.name: one for one in tree.body if isinstance(one, ast.ClassDef) and _holds_values(one)}
    made: dict[str, ast.ClassDef] = {}
    for one in tree.body:
        match one:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=kind), args=[], keywords=[])
            ) if kind in classes:
                made[name] = classes[kind]
    if not made:
        return tree
    body: list[ast.stmt] = []
    for one in tree.body:
        if isinstance(one, ast.ClassDef) and one in made.values():
            for field in one.body:
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and field.value:
                    target = ast.Name(field.target.id.upper(), ast.Store())
                    body.append(ast.copy_location(ast.Assign([target], field.value), field))
        elif not (isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) in made):
            body.append(one)
    found = _Named(made.keys()).visit(ast.Module(body, tree.type_ignores))
    assert isinstance(found, ast.Module)
    return ast.fix_missing_locations(found)


def _holds_values(one: ast.ClassDef) -> bool:
    """Whether a class is a dataclass of nothing but fields with values."""
    marked = any("dataclass" in ast.unparse(mark) for mark in one.decorator_list)
    return marked and all(isinstance(field, ast.AnnAssign) and field.value for field in one.body)


class _Named(ast.NodeTransformer):
    """Fields of settings by the names of constants."""

    def __init__(self, settings: Collection[str]) -> None:
        self.settings = settings

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id in self.settings:
            return ast.copy_location(ast.Name(node.attr.upper(), node.ctx), node)
        return node


def put_in(tree: ast.Module, constants: Mapping[str, ast.expr], but: Collection[str] = OWN) -> ast.Module:
    """The tree with the file's own numbers and texts in the place of their names, `but` some of them."""
    plain = {name: value for name, value in constants.items() if name not in but and _is_plain(value)}
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
