"""Python expressions built from real objects, never from text.

`nn.Conv2d(1, 32, kernel_size=3)` written with the roots below is not a layer but the *expression* of one:
an `Expr` around an `ast` tree. Node types build these, the emitter prints them and the shape pass runs them.
Because a value can only enter as a literal and a name only as an identifier, no text of a project file
can become code. Nothing here imports torch: a root is imported when an expression is evaluated.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import keyword
import math as _math
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from engine.errors import EmitError

ROOTS = {
    "torch": "torch",
    "nn": "torch.nn",
    "F": "torch.nn.functional",
    "np": "numpy",
    "math": "math",
}


class Expr:
    """One Python expression; calling, indexing, attributes and + - * / ** @ build larger ones."""

    __slots__ = ("carries", "tree")
    # Python would otherwise iterate through __getitem__, which never ends.
    __iter__ = None
    __contains__ = None

    def __init__(self, tree: ast.expr, carries: frozenset[Any] = frozenset()) -> None:
        self.tree = tree
        self.carries = carries  # functions and classes of ours whose source an export must hold

    def __call__(self, *args: Any, **kwargs: Any) -> Expr:
        lifted = [lift(value) for value in args]
        named = {name: lift(value) for name, value in kwargs.items()}
        tree = ast.Call(
            func=self.tree,
            args=[value.tree for value in lifted],
            keywords=[ast.keyword(arg=name, value=value.tree) for name, value in named.items()],
        )
        return Expr(tree, _carried(self, *lifted, *named.values()))

    def __getattr__(self, name: str) -> Expr:
        if name.startswith("__"):
            raise AttributeError(name)
        return Expr(ast.Attribute(self.tree, _identifier(name), ast.Load()), self.carries)

    def __getitem__(self, index: Any) -> Expr:
        at = lift(index)
        return Expr(ast.Subscript(self.tree, at.tree, ast.Load()), _carried(self, at))

    def __add__(self, other: Any) -> Expr:
        return _binary(self, ast.Add(), other)

    def __radd__(self, other: Any) -> Expr:
        return _binary(lift(other), ast.Add(), self)

    def __sub__(self, other: Any) -> Expr:
        return _binary(self, ast.Sub(), other)

    def __rsub__(self, other: Any) -> Expr:
        return _binary(lift(other), ast.Sub(), self)

    def __mul__(self, other: Any) -> Expr:
        return _binary(self, ast.Mult(), other)

    def __rmul__(self, other: Any) -> Expr:
        return _binary(lift(other), ast.Mult(), self)

    def __truediv__(self, other: Any) -> Expr:
        return _binary(self, ast.Div(), other)

    def __rtruediv__(self, other: Any) -> Expr:
        return _binary(lift(other), ast.Div(), self)

    def __pow__(self, other: Any) -> Expr:
        return _binary(self, ast.Pow(), other)

    def __neg__(self) -> Expr:
        return Expr(ast.UnaryOp(ast.USub(), self.tree), self.carries)

    def __matmul__(self, other: Any) -> Expr:
        return _binary(self, ast.MatMult(), other)

    def __str__(self) -> str:
        return ast.unparse(self.tree)

    def __repr__(self) -> str:
        return f"Expr({self})"


def equal(left: Any, right: Any) -> Expr:
    """`left == right`, elementwise for tensors."""
    a, b = lift(left), lift(right)
    return Expr(ast.Compare(a.tree, [ast.Eq()], [b.tree]), _carried(a, b))


def name(identifier: str) -> Expr:
    """A local variable."""
    return Expr(ast.Name(_identifier(identifier), ast.Load()))


def carried(thing: Callable[..., Any]) -> Expr:
    """A function or class of ours, called by its own name; an export carries its source."""
    return Expr(ast.Name(thing.__name__, ast.Load()), frozenset({thing}))


def many_of(made: Expr, times: int) -> Expr:
    """`*[made for _ in range(times)]`, as an argument of a call."""
    each = ast.comprehension(ast.Name("_", ast.Store()), name("range")(times).tree, [], 0)
    return Expr(ast.Starred(ast.ListComp(made.tree, [each]), ast.Load()), made.carries)


def starred(items: Expr) -> Expr:
    """`*items`, as the arguments of a call."""
    return Expr(ast.Starred(items.tree, ast.Load()), items.carries)


def listing(items: Iterable[Any]) -> Expr:
    """A list display: `[a, b]`."""
    lifted = [lift(item) for item in items]
    return Expr(ast.List([item.tree for item in lifted], ast.Load()), _carried(*lifted))


def mapping(items: Mapping[str, Any]) -> Expr:
    """A dict display with text keys: `{"loss": loss}`."""
    lifted = {key: lift(value) for key, value in items.items()}
    keys: list[ast.expr | None] = [ast.Constant(key) for key in lifted]
    return Expr(ast.Dict(keys, [value.tree for value in lifted.values()]), _carried(*lifted.values()))


def lift(value: Any) -> Expr:
    """A literal (None, bool, int, float, text, tuples and lists of these) or an expression as it is.

    Errors: `EmitError` for any other object.
    """
    if isinstance(value, Expr):
        return value
    if value is None or isinstance(value, bool):
        return Expr(ast.Constant(value))
    if isinstance(value, str):
        return Expr(ast.Constant(str.__str__(value)))
    if isinstance(value, (int, float)):
        # numpy's numbers and enums are subclasses whose repr is no literal
        number = int(value) if isinstance(value, int) else float(value)
        if isinstance(number, float) and not _math.isfinite(number):
            return name("float")(str(number))
        negative = number < 0 or (number == 0 and str(number).startswith("-"))
        return -Expr(ast.Constant(-number)) if negative else Expr(ast.Constant(number))
    if isinstance(value, tuple):
        lifted = [lift(item) for item in value]
        return Expr(ast.Tuple([item.tree for item in lifted], ast.Load()), _carried(*lifted))
    if isinstance(value, list):
        return listing(value)
    if isinstance(value, slice):
        parts = [None if part is None else lift(part).tree for part in (value.start, value.stop, value.step)]
        return Expr(ast.Slice(*parts))
    raise EmitError(f"A value of type {type(value).__name__} cannot be written as Python.")


def without_defaults(call: Expr) -> Expr:
    """The same call with the keyword arguments left out that equal the callable's own defaults."""
    tree = call.tree
    if not isinstance(tree, ast.Call) or not tree.keywords:
        return call
    func = ast.unparse(tree.func)
    ours = next((thing for thing in call.carries if thing.__name__ == func), None)
    defaults = _defaults(func) if ours is None else _defaults_of(ours)
    kept = [
        word
        for word in tree.keywords
        if word.arg not in defaults or not _same(word.value, lift(defaults[word.arg]).tree)
    ]
    return Expr(ast.Call(func=tree.func, args=tree.args, keywords=kept), call.carries)


def evaluate(made: Expr, variables: Mapping[str, Any]) -> Any:
    """The value of an expression: it sees `variables`, the roots, what it carries, no builtin but `float`."""
    code = compile(ast.fix_missing_locations(ast.Expression(made.tree)), "<node>", "eval")
    ours = {thing.__name__: thing for thing in made.carries}
    return eval(code, {"__builtins__": {"float": float}, **roots(), **ours, **variables})


@cache
def roots() -> dict[str, Any]:
    """The modules that emitted code may name, imported."""
    return {short: importlib.import_module(full) for short, full in ROOTS.items()}


def resolved(dotted: str) -> Any:
    """What a name such as `nn.Linear` stands for. Errors: `EmitError` where it begins at no root."""
    first, *rest = dotted.split(".")
    if first not in ROOTS:
        raise EmitError(f"{dotted} is none of torch's names.")
    found: Any = roots()[first]
    for part in rest:
        found = getattr(found, part)
    return found


@cache
def _defaults(dotted: str) -> dict[str, Any]:
    try:
        found = resolved(dotted)
    except EmitError:
        return {}
    return _defaults_of(found)


@cache
def _defaults_of(found: Callable[..., Any]) -> dict[str, Any]:
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return {}
    plain = (bool, int, float, str, tuple, type(None))
    return {
        key: parameter.default
        for key, parameter in signature.parameters.items()
        if parameter.default is not inspect.Parameter.empty and isinstance(parameter.default, plain)
    }


def _same(left: ast.expr, right: ast.expr) -> bool:
    try:
        one, other = ast.literal_eval(left), ast.literal_eval(right)
    except ValueError:
        return ast.dump(left) == ast.dump(right)
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def _carried(*parts: Expr) -> frozenset[Any]:
    found: frozenset[Any] = frozenset()
    for part in parts:
        if part.carries:
            found |= part.carries
    return found


def _binary(left: Expr, operator: ast.operator, right: Any) -> Expr:
    other = lift(right)
    return Expr(ast.BinOp(left.tree, operator, other.tree), _carried(left, other))


def _identifier(text: str) -> str:
    if not text.isidentifier() or keyword.iskeyword(text):
        raise EmitError(f"{text!r} is not a Python name.")
    return text


torch, nn, F, np, math = (name(root) for root in ROOTS)
