"""Sets that come with the program or are generated: their loader's own lines, with the values put in.

What the application reads by a function with many parameters, a script says in the lines of that function
which count for its values. Functions that are called once stand where they are called.
"""

from __future__ import annotations

import ast
import copy
import inspect
import io
import textwrap
import tokenize
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from engine.data import splits
from engine.data.portable import portable_things
from engine.emit.carried.folding import Folding, Named, Unknown, value_of, written
from engine.emit.carried.reprint import SOURCE
from engine.emit.carried.specialise import tidied
from engine.emit.sources.straight import Function, Reading, Straight
from engine.emit.statements import BLANK, Statement, under
from engine.shapes.folding import Prepared

SETS = "engine.data.sets."
KEPT = tuple(
    one for one in vars(splits) if one.startswith(("split_", "stratified_"))
)  # which say what they do
AS_DRAWN = "so that what is drawn next stays the same"
Values = Mapping[str, ast.expr]


def is_unrolled(loader: Function) -> bool:
    """Whether the lines of a loader can stand in a script."""
    return loader.__module__.startswith(SETS)


def unrolled_carry(loader: Function) -> tuple[Function, ...]:
    """All functions that the lines of a loader may call."""
    return tuple(one for one in portable_things([loader]) if one is not loader)


def write_unrolled(loader: Function, reading: Reading) -> Straight | None:
    """The lines of a loader; None where it is to be carried."""
    ours = {one.__name__: one for one in portable_things([loader])}
    try:
        given = {name: written(_named(value)) for name, value in reading.options.items()}
    except Unknown:
        return None
    body = _bound(_definition(loader), given, ours)
    while body is not None and (made := _with_one_call(body, ours)) is not None:
        body = made
    if body is None:
        return None
    body = _gathered(_without_unread(_Wanted(reading).body(_plainly(body))))
    last = body[-1]
    if not isinstance(last, ast.Return) or last.value is None or not _has_columns(body, reading):
        return None
    said = {node.id for one in body for node in ast.walk(one) if isinstance(node, ast.Name)}
    carries = [one for name, one in ours.items() if name in said and one is not loader]
    first = next((at for at, one in enumerate(body) if not isinstance(one, ast.ImportFrom)), 0)
    lines = [*_statements(body[:first]), *([BLANK] if first else []), *_source(loader)]
    return Straight([*lines, *_statements(body[first:-1])], ast.unparse(last.value), carries)


def _source(loader: Function) -> list[Statement]:
    """Where a set comes from, as a comment."""
    said = SOURCE.search(" ".join((loader.__doc__ or "").split()))
    return [Statement(f"# {said.group()}")] if said else []


def _named(value: Any) -> Any:
    return Named(value.__name__) if callable(value) else value


# -- a function with its values


def _bound(tree: ast.FunctionDef, given: Values, ours: Collection[str]) -> list[ast.stmt] | None:
    """The body of a function for what its parameters are; None where it cannot stand in another.

    Texts and switches decide what is left of it. A number stands where it is used, or before all where that
    is more than once; other expressions stand before all.
    """
    values = _arguments(tree, given)
    body = [one for one in copy.deepcopy(tree.body) if not _is_text(one)]
    if values is None or not body:
        return None
    stored = _stored(body)
    fixed = {name: one for name, one in values.items() if name not in stored and _is_known(one, ours)}
    deciding = {name: one for name, one in fixed.items() if not _is_number(one)}
    body = _Deciding(deciding, ours, fixed).body(body)
    if [*_returns(body)] != body[-1:]:
        return None
    used = [node.id for one in body for node in ast.walk(one) if isinstance(node, ast.Name)]
    put, before = {}, {}
    for name, value in values.items():
        alone = isinstance(value, ast.Name) or (_is_number(value) and used.count(name) == 1)
        if used.count(name) and name not in stored and alone:
            put[name] = value
        elif used.count(name) and not (isinstance(value, ast.Name) and value.id == name):
            before[name] = value
    body = [_Put(put).visit(one) for one in body]
    first = next(at for at, one in enumerate(body) if not isinstance(one, ast.Try | ast.ImportFrom))
    return [*body[:first], *_set(before), *body[first:]]


def _arguments(tree: ast.FunctionDef, given: Values) -> Values | None:
    """What each parameter is; the folder and the device stay what they are. None where one is missing."""
    taken = tree.args
    names = [one.arg for one in taken.args]
    found: dict[str, ast.expr] = {
        one: ast.Name(one, ast.Load()) for one in ("folder", "device") if one in names
    }
    found |= dict(zip(names[len(names) - len(taken.defaults) :], taken.defaults, strict=True))
    only = zip(taken.kwonlyargs, taken.kw_defaults, strict=True)
    found |= {one.arg: value for one, value in only if value is not None}
    names += [one.arg for one in taken.kwonlyargs]
    found |= {name: value for name, value in given.items() if name in names}
    rest = {name: value for name, value in given.items() if name not in names}
    if taken.kwarg is not None:
        found[taken.kwarg.arg] = ast.Dict([ast.Constant(name) for name in rest], [*rest.values()])
    elif rest:
        return None
    return found if set(names) <= found.keys() and taken.vararg is None else None


class _Deciding(Folding):
    """Folds by texts and switches, and takes the branches that all that is `fixed` decides."""

    def __init__(self, constants: Values, known: Collection[str], fixed: Values) -> None:
        super().__init__(constants, known)
        self.fixed = fixed

    def visit_If(self, node: ast.If) -> ast.stmt | list[ast.stmt]:
        taken = self._taken(node.test)
        if taken is None:
            return super().visit_If(node)
        return self._block(node.body if taken else node.orelse)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        taken = self._taken(node.test)
        if taken is None:
            return super().visit_IfExp(node)
        found = self.visit(node.body if taken else node.orelse)
        assert isinstance(found, ast.expr)
        return found

    def _taken(self, test: ast.expr) -> bool | None:
        made = Folding(self.fixed, self.known).visit(copy.deepcopy(test))
        try:
            return bool(value_of(made, self.known))
        except Unknown:
            return None


class _Put(ast.NodeTransformer):
    def __init__(self, values: Values) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self.values.get(node.id, node))


def _set(values: Values) -> list[ast.stmt]:
    """Statements that set variables: numbers in one line."""
    numbers = {name: one for name, one in values.items() if isinstance(one, ast.Constant)}
    together: list[list[tuple[str, ast.expr]]] = [[*numbers.items()]] if numbers else []
    rest = [[(name, one)] for name, one in values.items() if name not in numbers]
    return [_assigned(pairs) for pairs in (*together, *rest)]


def _assigned(pairs: Sequence[tuple[str, ast.expr]]) -> ast.stmt:
    """`a = 1`, or `a, b = 1, 2`."""
    names: list[ast.expr] = [ast.Name(name, ast.Store()) for name, _ in pairs]
    values = [value for _, value in pairs]
    if len(pairs) == 1:
        return ast.Assign(names, values[0])
    return ast.Assign([ast.Tuple(names, ast.Store())], ast.Tuple(values, ast.Load()))


# -- functions that are called once


def _with_one_call(body: Sequence[ast.stmt], ours: Mapping[str, Function]) -> list[ast.stmt] | None:
    """The body with one function of ours in the place of its only call; None where there is none left."""
    names = [node.id for one in body for node in ast.walk(one) if isinstance(node, ast.Name)]
    for at, one in enumerate(body):
        call = one.value if isinstance(one, ast.Return | ast.Assign) else None
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
            continue
        name = call.func.id
        if name not in ours or name in KEPT or inspect.isclass(ours[name]) or names.count(name) > 1:
            continue
        tree = _definition(ours[name])
        given = _given(tree, call)
        made = None if given is None else _bound(tree, given, ours)
        if made is None or not isinstance(made[-1], ast.Return) or made[-1].value is None:
            continue
        targets = {node.id for node in ast.walk(one) if isinstance(node, ast.Name)} - {name}
        if (_stored(made) & set(names)) - (targets - _read_behind(body[:at], targets)):
            continue
        return [*body[:at], *made[:-1], *_received(one, made[-1].value), *body[at + 1 :]]
    return None


def _read_behind(body: Sequence[ast.stmt], names: Collection[str]) -> set[str]:
    """Those of the names that stand in what comes before."""
    return {node.id for one in body for node in ast.walk(one) if isinstance(node, ast.Name)} & set(names)


def _given(tree: ast.FunctionDef, call: ast.Call) -> Values | None:
    if any(isinstance(one, ast.Starred) for one in call.args) or any(w.arg is None for w in call.keywords):
        return None
    places = [one.arg for one in tree.args.args]
    found = dict(zip(places, call.args, strict=False))
    return {**found, **{str(word.arg): word.value for word in call.keywords}}


def _received(one: ast.stmt, value: ast.expr) -> list[ast.stmt]:
    """The statement that called a function, with what it returns; nothing where names stay what they are."""
    if isinstance(one, ast.Return):
        return [ast.Return(value)]
    assert isinstance(one, ast.Assign)
    pairs = [(one.targets[0], value)]
    if isinstance(one.targets[0], ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = list(zip(one.targets[0].elts, value.elts, strict=True))
    pairs = [(to, made) for to, made in pairs if ast.unparse(to) != ast.unparse(made)]
    if len(pairs) < 2:
        return [ast.Assign([to], made) for to, made in pairs]
    targets, values = zip(*pairs, strict=True)
    return [ast.Assign([ast.Tuple([*targets], ast.Store())], ast.Tuple([*values], ast.Load()))]


# -- what is left


def _without_brackets(part: ast.expr) -> str:
    return ", ".join(map(ast.unparse, part.elts if isinstance(part, ast.Tuple) else [part]))


def _plainly(body: Iterable[ast.stmt]) -> list[ast.stmt]:
    """Statements without what only explains that a package is missing."""
    found: list[ast.stmt] = []
    for one in body:
        match one:
            case ast.Try(body=inside, handlers=[ast.ExceptHandler(type=ast.Name(id="ImportError"))]):
                found += inside
            case _:
                found.append(one)
    return found


def _without_unread(body: list[ast.stmt]) -> list[ast.stmt]:
    """A body without what sets variables that nobody reads."""
    while True:
        made = tidied(body)
        if [*map(ast.dump, made)] == [*map(ast.dump, body)]:
            return made
        body = made


def _gathered(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Statements whose first ones set numbers, all of them in one line."""
    first = next((at for at, one in enumerate(body) if not isinstance(one, ast.ImportFrom)), 0)
    pairs: list[tuple[str, ast.expr]] = []
    for one in body[first:]:
        match one:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant() as value):
                pairs.append((name, value))
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if all(
                isinstance(value, ast.Constant) for value in values
            ):
                pairs += zip(map(ast.unparse, names), values, strict=True)
            case _:
                break
        body = [*body[:first], *body[first + 1 :]]
    return [*body[:first], *([_assigned(pairs)] if pairs else []), *body[first:]]


class _Wanted(Folding):
    """Leaves of the columns those that a script uses; `getattr(x, "name")` is written plainly."""

    def __init__(self, reading: Reading) -> None:
        super().__init__({}, ())
        self.wanted, self.names = reading.wanted, _columns(reading)

    def visit_Dict(self, node: ast.Dict) -> ast.Dict:
        self.generic_visit(node)
        if _keys(node) == self.names:
            pairs = zip(_keys(node), node.values, strict=True)
            kept = [(name, value) for name, value in pairs if name in self.wanted]
            return ast.Dict([ast.Constant(name) for name, _ in kept], [value for _, value in kept])
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        match found := super().visit_Call(node):
            case ast.Call(func=ast.Name(id="getattr"), args=[value, ast.Constant(value=str() as name)]):
                return ast.Attribute(value, name, ast.Load())
        return found


def _columns(reading: Reading) -> list[str]:
    data = reading.data.data if isinstance(reading.data, Prepared) else reading.data
    return [one.name for one in data.columns()]


def _has_columns(body: Sequence[ast.stmt], reading: Reading) -> bool:
    """Whether the columns that are asked for stand in the lines, and no others."""
    if [*reading.wanted] == _columns(reading):
        return True
    displays = [node for one in body for node in ast.walk(one) if isinstance(node, ast.Dict)]
    return any(_keys(one) == [*reading.wanted] for one in displays)


def _keys(node: ast.Dict) -> list[Any]:
    return [key.value if isinstance(key, ast.Constant) else None for key in node.keys]


def _statements(body: Iterable[ast.stmt]) -> Iterator[Statement]:
    """Statements of a script, with the comments that stood behind them."""
    for one in body:
        comment = getattr(one, "said", "")
        inside = getattr(one, "body", None)
        if not inside:
            text = ast.unparse(ast.fix_missing_locations(one))
            if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Tuple):
                text = " = ".join(_without_brackets(part) for part in (one.targets[0], one.value))
            elif isinstance(one, ast.Expr):
                comment = comment or AS_DRAWN
            yield Statement(text, comment=comment)
            continue
        rest = getattr(one, "orelse", [])
        bare = copy.copy(one)
        vars(bare).update(body=[ast.Pass()], orelse=[])
        head = ast.unparse(ast.fix_missing_locations(bare)).rsplit("\n", 1)[0]
        yield under(head, _statements(inside), comment)
        if rest:
            yield under("else:", _statements(rest))


@cache
def _definition(function: Function) -> ast.FunctionDef:
    """The definition of a function; each statement keeps as `said` the comment behind it."""
    text = textwrap.dedent(inspect.getsource(function))
    [tree] = ast.parse(text).body
    assert isinstance(tree, ast.FunctionDef), function
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = {one.start[0]: one.string.lstrip("# ") for one in tokens if one.type == tokenize.COMMENT}
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            compound = hasattr(node, "body")
            at = node.lineno if compound else node.end_lineno
            vars(node)["said"] = comments.get(at or 0, "")
    return tree


def _stored(body: Iterable[ast.stmt]) -> set[str]:
    nodes = [node for one in body for node in ast.walk(one)]
    names = {one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    inside = {
        part.id
        for one in nodes
        if isinstance(one, ast.comprehension)
        for part in ast.walk(one.target)
        if isinstance(part, ast.Name)
    }
    return names - inside


def _returns(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    for one in body:
        for node in ast.walk(one):
            if isinstance(node, ast.Return | ast.Yield | ast.FunctionDef):
                yield node if isinstance(node, ast.stmt) else one


def _is_known(value: ast.expr, ours: Collection[str]) -> bool:
    try:
        value_of(value, ours)
    except Unknown:
        return False
    return True


def _is_number(value: ast.expr) -> bool:
    """Whether a value says how much: a number, or a row of them."""
    match value:
        case ast.Constant(value=bool()):
            return False
        case ast.Constant(value=int() | float()) | ast.UnaryOp():
            return True
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return bool(parts) and all(_is_number(one) for one in parts)
    return False


def _is_text(one: ast.stmt) -> bool:
    return isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
