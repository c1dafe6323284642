"""Runs the lines of a function in mind: what each variable is, as a tree of values that are known."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from engine.importers.findings import quoted_code
from engine.importers.functional import as_function
from engine.importers.matching import SELF
from engine.importers.patterns import parts_of
from engine.importers.reader import Reader
from engine.importers.spelling import Spelling, dotted_name, spelled

ANY = ("x", "_")  # names of variables that say nothing
Call = Callable[[ast.Call], list[ast.expr] | None]  # what a call of the model gives, where it is one


@dataclass
class Lines:
    """The variables of a function as it is read; `call` reads calls of the whole model, `column` columns."""

    reader: Reader
    names: dict[str, ast.expr] = field(default_factory=dict)
    call: Call | None = None
    column: Callable[[str, ast.AST], ast.expr | None] | None = None

    def run(self, body: Sequence[ast.stmt]) -> ast.expr | None:
        """What the lines return, with their values known."""
        for one in body:
            self.reader.line = one
            if isinstance(one, ast.Return):
                return None if one.value is None else self.tree(one.value)
            if isinstance(one, ast.With):
                self.run(one.body)
            elif isinstance(one, ast.Assign) and len(one.targets) == 1:
                self.assign(one.targets[0], self.tree(one.value))
            elif isinstance(one, ast.AnnAssign) and one.value is not None:
                self.assign(one.target, self.tree(one.value))
            elif isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name):
                left = ast.Name(one.target.id, ast.Load())
                self.assign(one.target, self.tree(ast.BinOp(left, one.op, one.value)))
            elif not _says_nothing(one):
                self.reader.shared.findings.add(one, f"{quoted_code(one)} has no node here.")
        return None

    def tree(self, node: ast.expr) -> ast.expr:
        """An expression in one spelling, with what its variables are."""
        reader = self.reader
        spelling = Spelling(reader.shared.aliases, self.names, reader.shared.defined.signatures)
        made = _Parts(self).visit(_Settle(self).visit(spelled(node, spelling)))
        assert isinstance(made, ast.expr)
        return made

    def assign(self, target: ast.expr, tree: ast.expr) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            if isinstance(tree, ast.Tuple | ast.List):
                for one, value in zip(target.elts, tree.elts, strict=False):
                    self.assign(one, value)
            elif any(isinstance(one, ast.Name) for one in ast.walk(target)):
                self.names.update(parts_of(_pattern(target), tree))
            return
        if not isinstance(target, ast.Name):
            self.reader.shared.findings.add(target, f"{quoted_code(target)} is set, which has no node here.")
            return
        self.names[target.id] = self.value(tree, target.id)

    def value(self, tree: ast.expr, name: str = "") -> ast.expr:
        """A tree as a value of the graph; numbers and sizes stay as they are."""
        if not _holds_values(tree, self.reader.places) or _of_sizes(tree):
            return tree
        return self.reader.value(tree, "" if name in ANY else name)


class _Settle(ast.NodeTransformer):
    """Puts in what only this file knows: calls of the model, columns of a batch, layers as functions."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        lines, func = self.lines, node.func
        if isinstance(func, ast.Name) and func.id == SELF and lines.call is not None:
            found = lines.call(node)
            if found is not None:
                return found[0] if len(found) == 1 else ast.Tuple([*found], ast.Load())
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == SELF:
            return self._layer(func.attr, node)
        return node

    def _layer(self, attribute: str, node: ast.Call) -> ast.AST:
        """A call of a layer; those that are a function, or several in a row, as what they are."""
        made = self.lines.reader.made
        if attribute in made.chains:
            given = list(node.args)
            for one in made.chains[attribute]:
                call = ast.Call(ast.Attribute(ast.Name(SELF, ast.Load()), one, ast.Load()), given, [])
                given = [self.lines.value(_as_expr(self._layer(one, call)))]
            return given[0]
        constructor = made.layers.get(attribute)
        if constructor is None or attribute in made.blocks:
            return node
        called = dotted_name(constructor.func) if isinstance(constructor, ast.Call) else None
        if called is None or self.lines.reader.shared.likely.calls_it(called):
            return node
        found = as_function(constructor, node.args)
        if found is not None:
            made.functions.add(attribute)
        return found or node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id == SELF:
            return self.lines.reader.made.values.get(node.attr, node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        lines = self.lines
        if lines.column is not None and isinstance(node.value, ast.Name) and node.value.id == "batch":
            key = node.slice
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                return lines.column(key.value, node) or node
        return node


class _Parts(ast.NodeTransformer):
    """Reads parts of what a layer gives, such as the last state: as large a part as a node gives."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        chain, inner = [node], node.value
        while isinstance(inner, ast.Subscript):
            chain.append(inner)
            inner = inner.value
        if not _calls_layer(inner):
            return self.generic_visit(node)
        reader = self.lines.reader
        for one in chain:
            if reader.gives(one):
                return _within(node, one, reader.value(one))
        return node


def _calls_layer(node: ast.AST) -> bool:
    """Whether a call is one of a layer, or of a function that is given a layer or what one gives."""
    if not isinstance(node, ast.Call):
        return False
    given = [*node.args, *(one.value for one in node.keywords)]
    if isinstance(node.func, ast.Attribute):
        return _is_layer(node.func)
    return isinstance(node.func, ast.Name) and any(_is_layer(one) or _calls_layer(one) for one in given)


def _is_layer(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == SELF


def _within(node: ast.expr, part: ast.expr, value: ast.expr) -> ast.expr:
    """The expression with a value in the place of its part."""
    if node is part:
        return value
    assert isinstance(node, ast.Subscript)
    return ast.Subscript(_within(node.value, part, value), node.slice, node.ctx)


def _as_expr(node: ast.AST) -> ast.expr:
    assert isinstance(node, ast.expr)
    return node


def _pattern(target: ast.expr) -> object:
    if isinstance(target, ast.Tuple | ast.List):
        return tuple(_pattern(one) for one in target.elts)
    return target.id if isinstance(target, ast.Name) else "_"


def _holds_values(tree: ast.AST, places: Mapping[str, object]) -> bool:
    return any(isinstance(one, ast.Name) and (one.id in places or one.id == SELF) for one in ast.walk(tree))


def _of_sizes(tree: ast.expr) -> bool:
    """Whether an expression is about the sizes of a tensor, or where it lies, alone."""
    while isinstance(tree, ast.Subscript | ast.Attribute | ast.Call):
        if isinstance(tree, ast.Attribute) and tree.attr in ("shape", "device", "dtype", "size"):
            return True
        if isinstance(tree, ast.Call):
            if isinstance(tree.func, ast.Name) and tree.func.id == "len":
                return True
            tree = tree.func
        else:
            tree = tree.value
    return False


def _says_nothing(one: ast.stmt) -> bool:
    return isinstance(one, ast.Pass) or (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
