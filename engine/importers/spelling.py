"""One spelling for what may be written in several ways, so that two lines that mean the same are equal trees.

Names of modules are short (`nn.Linear`), arguments have their names, those that equal a default are left out,
methods and functions of tensors are one. Nothing is evaluated: signatures are looked up in torch.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from functools import cache
from typing import Any

from engine.catalogue.symbols import ROOTS, lift, resolved
from engine.errors import EmitError, NeuroloomError

SHORT = {full: short for short, full in ROOTS.items()}
EMPTY = inspect.Parameter.empty
METHODS_OF = ("torch", "F")  # functions of these that tensors have, too


def aliases_of(tree: ast.Module) -> dict[str, str]:
    """What the names that a file imports stand for, as dotted names."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                found[one.asname or one.name.split(".")[0]] = (
                    one.name if one.asname else one.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.update({one.asname or one.name: f"{node.module}.{one.name}" for one in node.names})
    return found


class Spelling(ast.NodeTransformer):
    """Spells expressions alike; `aliases` are what names stand for, `names` trees to put in their place.

    With `ours`, calls of these functions and classes have their arguments by name, too.
    """

    def __init__(
        self,
        aliases: Mapping[str, str] | None = None,
        names: Mapping[str, ast.expr] | None = None,
        ours: Mapping[str, inspect.Signature] | None = None,
    ) -> None:
        self.aliases = aliases or {}
        self.names = names or {}
        self.ours = ours or {}

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.names:
            return self.names[node.id]
        dotted = self.aliases.get(node.id)
        if dotted is None or not dotted.startswith(("torch", "numpy", "math")):
            return ast.Name(node.id, ast.Load())
        return _path(dotted)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        dotted = _dotted(node)
        if dotted is not None:
            first, _, rest = dotted.partition(".")
            if first not in self.names and first in self.aliases:
                return _path(f"{self.aliases[first]}.{rest}")
        return ast.Attribute(self.visit(node.value), node.attr, ast.Load())

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        operand = self.visit(node.operand)
        return ast.UnaryOp(node.op, operand)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        func = self.visit(node.func)
        args = [self.visit(one) for one in node.args]
        words = [ast.keyword(one.arg, self.visit(one.value)) for one in node.keywords]
        return self._call(func, args, words)

    def _call(self, func: ast.expr, args: list[ast.expr], words: list[ast.keyword]) -> ast.expr:
        dotted = _dotted(func)
        if dotted is not None:
            root, _, last = dotted.rpartition(".")
            if root in METHODS_OF and args and _is_method(last):
                told = _signature(dotted)
                known = {} if told is None else {key: one.default for key, one in told.parameters.items()}
                words = [one for one in words if not _is_default(one.value, known.get(str(one.arg), EMPTY))]
                return self._call(ast.Attribute(args[0], last, ast.Load()), args[1:], words)
            given = _signature(dotted) if root.split(".")[0] in ROOTS else None
            if given is None and dotted in self.ours:
                given = self.ours[dotted]
            if given is not None:
                return _named(func, args, words, given)
        if words and isinstance(func, ast.Attribute):
            order = _order(func.attr)
            if order:
                return _placed(func, args, words, order)
        return ast.Call(func, args, words)


def spelled(tree: ast.expr, spelling: Spelling | None = None) -> ast.expr:
    """A tree in one spelling; the given one stays as it is."""
    made = (spelling or PLAIN).visit(deepcopy(tree))
    assert isinstance(made, ast.expr)
    return made


def _path(dotted: str) -> ast.expr:
    """A dotted name with its module short: `torch.nn.Linear` as `nn.Linear`."""
    best = max(
        (full for full in SHORT if dotted == full or dotted.startswith(f"{full}.")), key=len, default=""
    )
    short = SHORT[best] + dotted[len(best) :] if best else dotted
    first, *rest = short.split(".")
    made: ast.expr = ast.Name(first, ast.Load())
    for part in rest:
        made = ast.Attribute(made, part, ast.Load())
    return _shortened(made)


def _shortened(made: ast.expr) -> ast.expr:
    dotted = _dotted(made) or ""
    if dotted.startswith("torch.nn.functional."):
        return _path(dotted)
    return made


def _dotted(node: ast.expr) -> str | None:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


dotted_name = _dotted


@cache
def _is_method(name: str) -> bool:
    import torch

    return hasattr(torch.Tensor, name) and not name.startswith("_")


@cache
def _signature(dotted: str) -> inspect.Signature | None:
    try:
        found = resolved(dotted)
    except (EmitError, AttributeError, NeuroloomError):
        return None
    return signature_of(found)


def signature_of(found: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(found)
    except (TypeError, ValueError):
        return None


@cache
def _order(name: str) -> tuple[str, ...]:
    """The arguments of a tensor's method, in order, where a function of the same name tells them."""
    module = importlib.import_module("torch.nn.functional")
    found = getattr(module, name, None)
    given = signature_of(found) if found is not None else None
    if given is None:
        return {"flatten": ("start_dim", "end_dim")}.get(name, ("dim", "keepdim"))
    return tuple(given.parameters)[1:]


def _placed(
    func: ast.expr, args: list[ast.expr], words: list[ast.keyword], order: tuple[str, ...]
) -> ast.expr:
    """A call of a method with its arguments at their places, as far as no place is left out."""
    args, left = list(args), {one.arg: one for one in words}
    while len(args) < len(order) and order[len(args)] in left:
        args.append(left.pop(order[len(args)]).value)
    return ast.Call(func, args, list(left.values()))


def _named(
    func: ast.expr, args: list[ast.expr], words: list[ast.keyword], given: inspect.Signature
) -> ast.expr:
    """A call with its arguments by name, in the order of the signature, without those that are defaults."""
    if any(isinstance(one, ast.Starred) for one in args) or any(one.arg is None for one in words):
        return ast.Call(func, args, words)
    try:
        bound = given.bind(*args, **{str(one.arg): one.value for one in words})
    except TypeError:
        return ast.Call(func, args, words)
    rest: list[ast.expr] = []
    named: list[ast.keyword] = []
    for name, value in bound.arguments.items():
        parameter = given.parameters[name]
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            rest += value
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            named += [ast.keyword(key, one) for key, one in sorted(value.items())]
        elif not _is_default(value, parameter.default):
            named.append(ast.keyword(name, value))
    return ast.Call(func, rest, named)


def _is_default(value: ast.expr, default: object) -> bool:
    if default is inspect.Parameter.empty or not isinstance(default, bool | int | float | str | tuple | None):
        return False
    try:
        return ast.dump(value) == ast.dump(lift(default).tree)
    except NeuroloomError:
        return False


PLAIN = Spelling()
named_call = _named


def constants_in(trees: Iterable[ast.AST]) -> list[Any]:
    """The literals in trees, numbers with their signs, tuples of them and runs of arguments as tuples."""
    found: list[Any] = []
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant):
                found.append(node.value)
            elif isinstance(node, ast.UnaryOp | ast.Tuple | ast.List):
                try:
                    value = ast.literal_eval(node)
                except (ValueError, TypeError):
                    continue
                found.append(tuple(value) if isinstance(value, list) else value)
            elif isinstance(node, ast.Call):
                run = [one.value for one in node.args if isinstance(one, ast.Constant)]
                found += [
                    tuple(run[start:end])
                    for start in range(len(run))
                    for end in range(start + 1, len(run) + 1)
                ]
    unique: dict[str, Any] = {repr(one): one for one in found}
    return list(unique.values())
