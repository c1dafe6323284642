"""Carried functions of one short expression, in the place of the calls of them in other carried ones."""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterator, Mapping, Sequence, Set

from engine.emit.carried.uses import Carried, Uses

LONGEST = 110  # letters of an expression that stands in the place of a call which is a whole value
LONGEST_INSIDE = 56  # of one within another expression
Arguments = Mapping[str, ast.expr]


def inlined(found: dict[str, Carried], rest: ast.Module, fixed: Set[str]) -> bool:
    """Put a function of one short expression in the place of its calls; whether there was one."""
    uses = Uses(found, rest)
    for name, one in found.items():
        expression, callers = _expression_of(one.tree), uses.callers[name]
        if expression is None or not callers or {"", name} & callers or name in uses.escaped | fixed:
            continue
        assert isinstance(one.tree, ast.FunctionDef)
        bound = {part for owner in callers for part in _bound_in([found[owner].tree])}
        whole = {id(value) for owner in callers for value in _values(found[owner].tree)}
        most = LONGEST if all(id(call) in whole for call in uses.calls[name]) else LONGEST_INSIDE
        places = [_given(one.tree, call) for call in uses.calls[name]]
        if len(ast.unparse(expression)) <= most and all(
            place is not None and _fits(expression, place, bound) for place in places
        ):
            for owner in callers:
                _put_in_place(found[owner].tree, name, one.tree, expression)
                found[owner].changed = True
            del found[name]
            return True
    return False


def _values(tree: ast.AST) -> Iterator[ast.expr]:
    """What statements return or set."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Return | ast.Assign | ast.AnnAssign) and node.value is not None:
            yield node.value


def _expression_of(tree: ast.AST) -> ast.expr | None:
    """What a function returns, where it does nothing else and that is short; None for any other."""
    if not isinstance(tree, ast.FunctionDef) or tree.decorator_list:
        return None
    body = [one for one in tree.body if not _is_text(one)]
    taken = tree.args
    if taken.vararg or taken.kwarg or taken.posonlyargs or len(body) != 1:
        return None
    found = body[0].value if isinstance(body[0], ast.Return) else None
    if found is None:
        return None
    return None if any(isinstance(one, ast.Lambda | ast.NamedExpr) for one in ast.walk(found)) else found


def _given(tree: ast.FunctionDef, call: ast.Call) -> Arguments | None:
    """What a call gives to each parameter; None where that is not written there."""
    if any(word.arg is None for word in call.keywords) or any(
        isinstance(one, ast.Starred) for one in call.args
    ):
        return None
    places = [one.arg for one in tree.args.args]
    defaults = dict(zip(places[len(places) - len(tree.args.defaults) :], tree.args.defaults, strict=True))
    only = zip(tree.args.kwonlyargs, tree.args.kw_defaults, strict=True)
    defaults |= {one.arg: value for one, value in only if value is not None}
    found = {**defaults, **dict(zip(places, call.args, strict=False))}
    found |= {str(word.arg): word.value for word in call.keywords}
    names = [*places, *(one.arg for one in tree.args.kwonlyargs)]
    return found if found.keys() == set(names) else None


def _fits(expression: ast.expr, arguments: Arguments, bound: Collection[str]) -> bool:
    """Whether an expression computes the same in the place of a call; `bound` are the caller's variables.

    Each argument that is more than a name is computed once, as before, and there is one of them at most.
    """
    own = {one.id for one in ast.walk(expression) if isinstance(one, ast.Name)} - arguments.keys()
    inner = {
        one.id for one in ast.walk(expression) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }
    said = {one.id for value in arguments.values() for one in ast.walk(value) if isinstance(one, ast.Name)}
    if inner & said or (own - inner) & set(bound):
        return False
    computed = [name for name, value in arguments.items() if not isinstance(value, ast.Name | ast.Constant)]
    once = [*_computed_once(expression)]
    return len(computed) <= 1 and all(
        once.count(name) == 1 and _times(expression, name) == 1 for name in computed
    )


def _put_in_place(tree: ast.AST, name: str, function: ast.FunctionDef, expression: ast.expr) -> None:
    """Put the expression in the place of each call of a function."""
    _Put(name, function, expression).visit(tree)


class _Put(ast.NodeTransformer):
    def __init__(self, name: str, function: ast.FunctionDef, expression: ast.expr) -> None:
        self.name, self.function, self.expression = name, function, expression

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not (isinstance(node.func, ast.Name) and node.func.id == self.name):
            return node
        arguments = _given(self.function, node)
        assert arguments is not None
        made = _With(arguments).visit(copy.deepcopy(self.expression))
        assert isinstance(made, ast.expr)
        return made


class _With(ast.NodeTransformer):
    def __init__(self, arguments: Arguments) -> None:
        self.arguments = arguments

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self.arguments.get(node.id, node))


def _bound_in(body: Sequence[ast.AST]) -> set[str]:
    """The names that something in a definition binds."""
    nodes = [node for part in body for node in ast.walk(part)]
    stored = {one.id for one in nodes if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)}
    return stored | {one.arg for one in nodes if isinstance(one, ast.arg)}


def _computed_once(node: ast.AST) -> Iterator[str]:
    """The names that are read whenever an expression is computed, once."""
    if isinstance(node, ast.Name):
        yield node.id
        return
    if isinstance(node, ast.DictComp | ast.ListComp | ast.SetComp | ast.GeneratorExp):
        parts: list[ast.AST] = [node.generators[0].iter]
    elif isinstance(node, ast.IfExp):
        parts = [node.test]
    elif isinstance(node, ast.BoolOp):
        parts = [node.values[0]]
    else:
        parts = list(ast.iter_child_nodes(node))
    for one in parts:
        yield from _computed_once(one)


def _times(tree: ast.AST, name: str) -> int:
    return sum(isinstance(one, ast.Name) and one.id == name for one in ast.walk(tree))


def _is_text(one: ast.stmt) -> bool:
    return isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
