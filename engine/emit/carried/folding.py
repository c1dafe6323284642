"""Python whose constants are known, without the branches that they rule out.

Constants are literals, displays of them, and names of functions and classes. Only what has the same value
whenever it runs is folded; whatever is not understood stays as it is.
"""

from __future__ import annotations

import ast
import copy
import operator
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

BUILTIN: dict[str, Callable[..., Any]] = {
    "len": len,
    "any": any,
    "all": all,
    "bool": bool,
    "dict": dict,
    "tuple": tuple,
    "list": list,
    "sorted": sorted,
}
METHODS = ("get", "items", "keys", "values")
COMPUTING = (
    *(
        "abs",
        "clamp",
        "clamp_min",
        "exp",
        "log",
        "max",
        "mean",
        "min",
        "norm",
        "prod",
        "sin",
        "square",
        "sum",
    ),
    *("where", "cpu", "dim", "double", "flatten", "float", "long", "numpy", "reshape", "tolist", "unsqueeze"),
)
DRAWING = ("bernoulli", "manual_seed", "multinomial", "normal", "poisson", "rand", "seed", "set_")
COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda one, many: one in many,
    ast.NotIn: lambda one, many: one not in many,
}
JUMPS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
DISPLAYS = (ast.Tuple, ast.List, ast.Set, ast.Dict)
COMPREHENSIONS = (ast.DictComp, ast.ListComp, ast.SetComp, ast.GeneratorExp)


@dataclass(frozen=True)
class Named:
    """The value of a name of a function or class: nothing is known but that it is one."""

    name: str


class Unknown(Exception):
    """An expression has no value that is known beforehand."""


def is_constant(node: ast.expr, known: Collection[str]) -> bool:
    """Whether an expression is a literal, a name that is `known`, or a display of such."""
    match node:
        case ast.Constant():
            return True
        case ast.Name(id=name):
            return name in known
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            return True
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return all(is_constant(one, known) for one in parts)
        case ast.Dict(keys=keys, values=values):
            return all(one is not None and is_constant(one, known) for one in (*keys, *values))
    return False


def is_pure(node: ast.AST) -> bool:
    """Whether an expression only looks things up and computes, so that nobody misses it."""
    plain = (
        *(ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.expr_context, *DISPLAYS),
        *(ast.BoolOp, ast.boolop, ast.UnaryOp, ast.unaryop, ast.Compare, ast.cmpop, ast.IfExp),
        *(ast.BinOp, ast.operator, ast.Starred, ast.comprehension, *COMPREHENSIONS),
    )
    return all(isinstance(part, plain) or _computes(part) for part in ast.walk(node))


def _computes(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name in BUILTIN or name in ("zip", "range", "enumerate", "set", "str", "Path")
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np" | "math"))):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr=name)):
            return not name.startswith(DRAWING) and not name.endswith("_")
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in METHODS or name in COMPUTING
    return isinstance(node, ast.keyword)


def value_of(node: ast.expr, known: Collection[str]) -> Any:
    """The value of a constant expression. Errors: `Unknown`."""
    if not is_constant(node, known):
        raise Unknown
    match node:
        case ast.Name(id=name):
            return Named(name)
        case ast.Tuple(elts=parts):
            return tuple(value_of(one, known) for one in parts)
        case ast.List(elts=parts):
            return [value_of(one, known) for one in parts]
        case ast.Set(elts=parts):
            return {value_of(one, known) for one in parts}
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return {value_of(key, known): value_of(one, known) for key, one in pairs if key is not None}
    return ast.literal_eval(node)


def written(value: Any) -> ast.expr:
    """An expression of a value. Errors: `Unknown` for one that has no literal."""
    match value:
        case Named(name=name):
            return ast.Name(name, ast.Load())
        case tuple():
            return ast.Tuple([written(one) for one in value], ast.Load())
        case list():
            return ast.List([written(one) for one in value], ast.Load())
        case dict():
            return ast.Dict([written(key) for key in value], [written(one) for one in value.values()])
        case None | bool() | int() | float() | str() | bytes():
            return ast.Constant(value)
    raise Unknown


class Folding(ast.NodeTransformer):
    """Folds what hangs on `constants` by name; `known` are names of functions and classes.

    Of the classes `never` there is no instance. What stands for a constant carries its name as `stands_for`.
    """

    def __init__(
        self, constants: Mapping[str, ast.expr], known: Collection[str], never: Collection[str] = ()
    ) -> None:
        self.constants, self.known, self.never = constants, known, never

    # -- what has a value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not isinstance(node.ctx, ast.Load) or node.id not in self.constants:
            return node
        found = copy.deepcopy(self.constants[node.id])
        vars(found)["stands_for"] = node.id
        return found

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Not):
            return node
        try:
            return ast.Constant(not self._truth(node.operand))
        except Unknown:
            return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        ends = isinstance(node.op, ast.Or)
        left: list[ast.expr] = []
        for at, one in enumerate(node.values):
            try:
                truth = self._truth(one)
            except Unknown:
                left.append(one)
                continue
            if truth == ends:
                left.append(one)
                break
            if at == len(node.values) - 1:
                left.append(one)
        return left[0] if len(left) == 1 else ast.BoolOp(node.op, left)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) != 1:
            return node
        try:
            left, right = self._value(node.left), self._value(node.comparators[0])
            return ast.Constant(bool(COMPARED[type(node.ops[0])](left, right)))
        except (Unknown, TypeError):
            return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.BinOp(
                left=ast.Constant(value=int() | float() as one),
                op=ast.Add() | ast.Sub() | ast.Mult() as op,
                right=ast.Constant(value=int() | float() as other),
            ):
                if not (hasattr(node.left, "stands_for") or hasattr(node.right, "stands_for")):
                    return node  # as somebody wrote it
                sign = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}[type(op)]
                return ast.Constant(sign(one, other))
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        self.generic_visit(node)
        parts: list[ast.expr] = []
        for one in node.values:
            match one:
                case ast.FormattedValue(value=ast.Constant() as part, conversion=-1, format_spec=None):
                    one = part if isinstance(part.value, str) else one
            match parts, one:
                case [*_, ast.Constant(value=before)], ast.Constant(value=behind):
                    parts[-1] = ast.Constant(str(before) + str(behind))
                case _:
                    parts.append(one)
        match parts:
            case [ast.Constant() as text]:
                return text
        return ast.JoinedStr(parts)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        node.value = self.visit(node.value)
        if node.format_spec is not None:
            self.generic_visit(node.format_spec)  # which stays one, also where it is a constant
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        node.test = _asked(node.test)
        try:
            return node.body if self._truth(node.test) else node.orelse
        except Unknown:
            return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        try:
            return written(self._value(node.value)[self._value(node.slice)])
        except (Unknown, LookupError, TypeError):
            return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        self._spread(node)
        match node:
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, ast.Name(id=name)]) if name in self.never:
                return ast.Constant(False)
            case ast.Call(func=ast.Name(id="callable"), args=[one], keywords=[]):
                try:
                    return ast.Constant(isinstance(self._value(one), Named))
                except Unknown:
                    return node
        return self._called(node)

    def _called(self, node: ast.Call) -> ast.expr:
        """A call of a function or a method that only computes, done."""
        if node.keywords:
            return node
        try:
            given = [self._value(one) for one in node.args]
            match node.func:
                case ast.Name(id=name) if name in BUILTIN:
                    return written(BUILTIN[name](*given))
                case ast.Attribute(value=ast.Dict() as display, attr=name) if name in METHODS:
                    found = getattr(self._value(display), name)(*given)
                    return written(found if name == "get" else list(found))
        except (Unknown, TypeError, ValueError):
            pass
        return node

    def _spread(self, node: ast.Call) -> None:
        """`**{"a": 1}` as keywords, `*(1, 2)` as arguments."""
        args: list[ast.expr] = []
        for one in node.args:
            match one:
                case ast.Starred(value=ast.Tuple(elts=parts) | ast.List(elts=parts)):
                    args += parts
                case _:
                    args.append(one)
        keywords: list[ast.keyword] = []
        for word in node.keywords:
            display = word.value if word.arg is None and isinstance(word.value, ast.Dict) else None
            names = [one.value for one in display.keys if isinstance(one, ast.Constant)] if display else []
            if display is None or len(names) < len(display.keys):
                keywords.append(word)
            else:
                pairs = zip(names, display.values, strict=True)
                keywords += [ast.keyword(str(name), value) for name, value in pairs]
        node.args, node.keywords = args, keywords

    def _comprehended(self, node: ast.expr) -> ast.expr:
        self.generic_visit(node)
        names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        bound = {
            one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
        }
        if not names <= bound | set(self.known) | set(BUILTIN):
            return node
        try:
            return written(_computed(node, names - bound - set(BUILTIN)))
        except Unknown:
            return node

    def visit_DictComp(self, node: ast.DictComp) -> ast.expr:
        return self._comprehended(node)

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        return self._comprehended(node)

    # -- statements

    def visit_If(self, node: ast.If) -> ast.stmt | list[ast.stmt]:
        node.test = _asked(self.visit(node.test))
        try:
            taken = node.body if self._truth(node.test) else node.orelse
        except Unknown:
            node.body, node.orelse = self._block(node.body), self._block(node.orelse)
            if not node.body and not node.orelse and is_pure(node.test):
                return []
            node.body = node.body or [ast.Pass()]
            return node
        return self._block(taken)

    def visit_Assert(self, node: ast.Assert) -> ast.stmt | list[ast.stmt]:
        self.generic_visit(node)
        try:
            return [] if self._truth(node.test) else node
        except Unknown:
            return node

    def body(self, statements: Iterable[ast.stmt]) -> list[ast.stmt]:
        """The body of a function, folded; never empty."""
        return self._block(statements) or [ast.Pass()]

    def _block(self, statements: Iterable[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for one in statements:
            made = self.visit(one)
            found += made if isinstance(made, list) else [made]
            if found and isinstance(found[-1], JUMPS):
                break
        return found

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for name, old in ast.iter_fields(node):
            if isinstance(old, ast.AST):
                setattr(node, name, self.visit(old))
            elif isinstance(old, list) and old and isinstance(old[0], ast.stmt):
                made = self._block(old)
                setattr(node, name, made or ([ast.Pass()] if name == "body" else []))
            elif isinstance(old, list):
                old[:] = [self.visit(one) if isinstance(one, ast.AST) else one for one in old]
        return node

    def _value(self, node: ast.expr) -> Any:
        return value_of(node, self.known)

    def _truth(self, node: ast.expr) -> bool:
        return bool(self._value(node))


def _asked(test: ast.expr) -> ast.expr:
    """A condition without the constants behind its last `or` and `and` that change nothing."""
    match test:
        case ast.BoolOp(op=op, values=[*most, ast.Constant(value=bool(last)) as end]):
            if last == isinstance(op, ast.And):
                return most[0] if len(most) == 1 else ast.BoolOp(op, most)
            if all(is_pure(one) for one in most):
                return end
    return test


def _computed(node: ast.expr, symbols: Iterable[str]) -> Any:
    """The value of a comprehension over constants. Errors: `Unknown`."""
    allowed = (
        *COMPREHENSIONS,
        *DISPLAYS,
        *(ast.comprehension, ast.Name, ast.Constant, ast.Compare, ast.cmpop, ast.expr_context, ast.BoolOp),
        *(ast.boolop, ast.UnaryOp, ast.unaryop, ast.IfExp, ast.Subscript),
    )
    if not all(isinstance(part, allowed) for part in ast.walk(node)):
        raise Unknown
    tree = ast.fix_missing_locations(ast.Expression(copy.deepcopy(node)))
    try:
        return eval(compile(tree, "<constants>", "eval"), {one: Named(one) for one in symbols})
    except (TypeError, ValueError, LookupError, NameError) as error:
        raise Unknown from error
