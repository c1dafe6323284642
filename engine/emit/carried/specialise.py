"""Carried functions as this script needs them: without parameters that always have one value, and without
what those values rule out.

A number that is given stays a parameter, for it may be wanted otherwise; a switch, a name of a function and
what nobody gives do not.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, lru_cache

from engine.emit.carried.folding import DISPLAYS, Folding, is_constant, is_pure
from engine.emit.carried.inlining import inlined
from engine.emit.carried.reprint import reprinted, with_short_docs
from engine.emit.carried.uses import Carried, Uses, reached

Function = ast.FunctionDef
COLUMN = "Lazy"
CALLED_BY_LOOPS = frozenset({"read_on"})  # methods of layers that a loop alone calls
KEPT_DECORATORS = ("torch.no_grad()", "torch.inference_mode()")


@dataclass(frozen=True)
class Cut:
    """Parameters that a function has lost, of those it `named`; `order` are the ones that places give.

    With `rest`, it takes no keywords any more but those that it names.
    """

    order: tuple[str, ...]
    named: frozenset[str]
    lost: frozenset[str]
    rest: bool = False

    def applied(self, call: ast.Call) -> None:
        """Take out of a call what the function does not take any more."""
        places = [*self.order, *[""] * len(call.args)]
        call.args = [one for one, name in zip(call.args, places, strict=False) if name not in self.lost]
        call.keywords = [word for word in call.keywords if word.arg is None or self._stays(word.arg)]

    def _stays(self, name: str) -> bool:
        return name not in self.lost and not (self.rest and name not in self.named)


@dataclass(frozen=True)
class Specialised:
    """The texts of what is left of carried definitions, and how calls of them in the script change."""

    texts: tuple[str, ...]
    calls: Mapping[str, tuple[Cut, ...]]


def specialised(texts: Sequence[str], rest: ast.Module, fixed: Set[str] = frozenset()) -> Specialised:
    """The definitions `texts` as the `rest` of a script and they themselves use them.

    Those that are `fixed`, for something sets or calls them by name, stay and are called by that name.
    """
    names = {name for text in texts for name in defined(text)}
    asked = _Asked(names)
    asked.visit(rest)
    read = {node.attr for node in ast.walk(rest) if isinstance(node, ast.Attribute)}
    methods = {part for text in texts if defined(text) == (COLUMN,) for part in _methods(text)}
    given = "\n".join(asked.lines), frozenset(fixed & names), frozenset(read & methods)
    return _specialised(tuple(texts), *given)


@lru_cache(maxsize=256)
def _specialised(
    texts: tuple[str, ...], asked: str, fixed: frozenset[str], read: frozenset[str]
) -> Specialised:
    found = {}
    for text in texts:
        [tree] = ast.parse(text).body
        assert isinstance(tree, (ast.FunctionDef, ast.ClassDef)), text[:60]
        found[tree.name] = Carried(text, tree)
    rest = ast.parse(asked)
    cuts: dict[str, list[Cut]] = {}
    while _round(found, rest, cuts, fixed) or inlined(found, rest, fixed):
        pass  # each has less to fold than the one before
    used = reached(found, rest)
    found = {name: one for name, one in found.items() if name in used}
    for name, one in found.items():
        if isinstance(one.tree, ast.ClassDef) and name not in fixed:
            _without_methods(one, found, read)
    used = reached(found, rest)  # less than before: some were called by those methods alone
    left = [one for name, one in found.items() if name in used]
    for one in left:
        one.changed |= with_short_docs(one.tree)
    made = tuple(reprinted(one.text, one.tree) if one.changed else one.text for one in left)
    return Specialised(made, {name: tuple(one) for name, one in cuts.items()})


@cache
def defined(text: str) -> tuple[str, ...]:
    """The names of the functions and classes that a text defines."""
    parts = ast.parse(text).body
    return tuple(one.name for one in parts if isinstance(one, (ast.FunctionDef, ast.ClassDef)))


class _Asked(ast.NodeVisitor):
    """What a script asks of definitions, a line each: its calls of them, and where it only names them."""

    def __init__(self, names: Collection[str]) -> None:
        self.names = names
        self.lines: dict[str, None] = {}

    def visit_Call(self, node: ast.Call) -> None:
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in self.names:
                self.lines[ast.unparse(node)] = None
            case _:
                self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in self.names:
            self.lines[node.id] = None


# -- one round


def _round(found: dict[str, Carried], rest: ast.Module, cuts: dict[str, list[Cut]], fixed: Set[str]) -> bool:
    """Fold what is known now; whether anything changed."""
    used = reached(found, rest)
    for name in [name for name in found if name not in used]:
        del found[name]
    uses = Uses(found, rest)
    known = found.keys() - fixed
    for name, one in found.items():
        if not isinstance(one.tree, ast.FunctionDef) or name in uses.escaped or name in fixed:
            if uses.never and _without_instances(one, known, uses.never):
                return True
            continue
        before, body = ast.dump(one.tree), one.tree.body
        cut = _specialise(one.tree, uses.calls[name], known, uses.never)
        if ast.dump(one.tree) == before:
            one.tree.body = body  # in which the calls of others were found
            continue
        one.changed = True
        if cut is not None:
            for call in uses.calls[name]:
                cut.applied(call)
            cuts.setdefault(name, []).append(cut)
            for owner in uses.callers[name] & found.keys():
                found[owner].changed = True
        return True  # the calls that were found may stand in it no more
    return False


@cache
def _methods(text: str) -> tuple[str, ...]:
    """The names of the methods of a class."""
    [tree] = ast.parse(text).body
    assert isinstance(tree, ast.ClassDef)
    return tuple(part.name for part in tree.body if isinstance(part, ast.FunctionDef))


def _without_methods(one: Carried, found: Mapping[str, Carried], read: Set[str]) -> None:
    """A class without what nobody asks for: what columns and tensors both have, and what only loops call."""
    assert isinstance(one.tree, ast.ClassDef)
    column = one.tree.name == COLUMN
    trees = [other.tree for other in found.values()]
    inside = {node.attr for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    kept = [
        part
        for part in one.tree.body
        if not isinstance(part, ast.FunctionDef)
        or part.name in read | inside
        or (part.name.startswith("__") if column else part.name not in CALLED_BY_LOOPS)
    ]
    one.changed |= len(kept) < len(one.tree.body)
    one.tree.body = kept


def _without_instances(one: Carried, known: Collection[str], never: Collection[str]) -> bool:
    before = ast.dump(one.tree)
    one.tree.body = Folding({}, known, never).body(one.tree.body)
    changed = ast.dump(one.tree) != before
    one.changed |= changed
    return changed


# -- one function


def _specialise(
    tree: Function, calls: Sequence[ast.Call], known: Collection[str], never: Collection[str]
) -> Cut | None:
    """Fold a function by what all its calls give; the parameters that are gone, None where it keeps all."""
    arguments = tree.args
    plain = all(ast.unparse(one) in KEPT_DECORATORS for one in tree.decorator_list)
    if not calls or arguments.vararg or arguments.posonlyargs or not plain:
        return None
    constants = _constants(tree, calls, known)
    rest = _rest_of(tree, calls, known)
    if rest is not None and arguments.kwarg is not None:
        constants[arguments.kwarg.arg] = rest
    bound = _bound_inside(tree)
    constants = {name: one for name, one in constants.items() if name not in bound}
    constants = _folded(tree, constants, known, never)
    lost = set(constants)
    rested = arguments.kwarg is not None and arguments.kwarg.arg in lost
    if rested and arguments.kwarg is not None:
        lost.remove(arguments.kwarg.arg)
        arguments.kwarg = None
    read = {node.id for part in tree.body for node in ast.walk(part) if isinstance(node, ast.Name)}
    for one in _parameters(tree):
        given = [_given(tree, one.arg, call) for call in calls]
        if one.arg not in read and all(value is None or is_pure(value) for value in given):
            lost.add(one.arg)
    if not lost and not rested:
        return None
    order = tuple(one.arg for one in arguments.args)
    named = frozenset(one.arg for one in _parameters(tree))
    _drop(tree, lost)
    return Cut(order, named, frozenset(lost), rested)


def _folded(
    tree: Function, constants: dict[str, ast.expr], known: Collection[str], never: Collection[str]
) -> dict[str, ast.expr]:
    """Fold the body by `constants`, and by what variables are then; those that are not needed any more.

    A display that would be written out more than once stays a parameter.
    """
    written, body = tree.body, tree.body
    while True:
        body = Folding(constants, known, never).body(copy.deepcopy(written))
        often = _often(body, constants)
        if not often:
            break
        constants = {name: one for name, one in constants.items() if name not in often}
    kept: set[str] = set()
    while True:
        found = {one: value for one, value in _settled(body, known).items() if one not in kept}
        if not found:
            break
        made = Folding(found, known, never).body(copy.deepcopy([_without(found, one) for one in body]))
        often = _often(made, found, 0)
        if often:
            kept |= often
            continue
        body = made
    tree.body = tidied(body)
    return constants


def _often(body: Iterable[ast.stmt], constants: Mapping[str, ast.expr], most: int = 1) -> set[str]:
    """The displays among the constants that stand in a body more than `most` times, or are changed there."""
    counts: dict[str, int] = {}
    for part in body:
        for node in ast.walk(part):
            for below in ast.iter_child_nodes(node):
                name = getattr(below, "stands_for", "")
                if isinstance(below, DISPLAYS) and name in constants:
                    changed = isinstance(node, (ast.Attribute, ast.Subscript))
                    counts[name] = counts.get(name, 0) + (most + 1 if changed else 1)
    return {name for name, count in counts.items() if count > most}


def _settled(body: Sequence[ast.stmt], known: Collection[str]) -> dict[str, ast.expr]:
    """The variables of a function that have one constant value, which is no number."""
    stored: dict[str, int] = {}
    for part in body:
        for node in ast.walk(part):
            if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
                stored[node.id] = stored.get(node.id, 0) + 1
            elif isinstance(node, ast.arg):
                stored[node.arg] = stored.get(node.arg, 0) + 1
            elif isinstance(node, (ast.Global, ast.Nonlocal)):
                stored |= dict.fromkeys(node.names, 2)
    found = {}
    for part in body:
        match part:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                if stored[name] == 1 and is_constant(value, known) and not _number(value):
                    found[name] = value
    return found


def _without(found: Mapping[str, ast.expr], one: ast.stmt) -> ast.stmt:
    """A statement, or nothing in the place of one that sets a variable among those `found`."""
    match one:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            if name in found:
                return ast.Pass()
    return one


def tidied(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """A body without what sets variables that nobody reads, and without empty statements."""
    read = {
        node.id
        for part in body
        for node in ast.walk(part)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    found: list[ast.stmt] = []
    for one in body:
        match one:
            case ast.Pass():
                continue
            case ast.AnnAssign(target=ast.Name(id=name), value=None) if name not in read:
                continue
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in read and is_pure(value):
                continue
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in read:
                one = ast.copy_location(ast.Expr(value), one)  # it may draw numbers, or fail
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                one = _fewer(one, list(zip(names, values, strict=False)), read)
        found.append(one)
    left = [one for one in found if not isinstance(one, ast.Pass)]
    return (left if len(left) == len(body) else tidied(left)) or [ast.Pass()]


def _fewer(one: ast.Assign, pairs: Sequence[tuple[ast.expr, ast.expr]], read: Collection[str]) -> ast.stmt:
    """`a, b = 1, 2` without those that nobody reads; what must be computed all the same goes to `_`."""
    names: list[ast.expr] = []
    values: list[ast.expr] = []
    for name, value in pairs:
        unread = isinstance(name, ast.Name) and name.id not in read
        if not (unread and is_pure(value)):
            names.append(ast.Name("_", ast.Store()) if unread else name)
            values.append(value)
    if not values:
        return ast.Pass()
    if len(values) > 1:
        made = ast.Assign([ast.Tuple(names, ast.Store())], ast.Tuple(values, ast.Load()))
    else:
        made = ast.Assign(names, values[0])
    return ast.fix_missing_locations(ast.copy_location(made, one))


def _constants(tree: Function, calls: Sequence[ast.Call], known: Collection[str]) -> dict[str, ast.expr]:
    """The parameters that have one value whoever calls, but for numbers that are given."""
    found = {}
    for one in _parameters(tree):
        default = _default(tree, one.arg)
        given = [_given(tree, one.arg, call) for call in calls]
        if any(value is None and _open(call) for value, call in zip(given, calls, strict=True)):
            continue  # it may be among the keywords that a call hands on
        values = [default if value is None else value for value in given]
        first = values[0]
        if first is None or not all(value is not None and _same(value, first) for value in values):
            continue
        if not is_constant(first, known):
            continue
        if any(value is not None for value in given) and _number(first):
            continue
        found[one.arg] = first
    return found


def _rest_of(tree: Function, calls: Sequence[ast.Call], known: Collection[str]) -> ast.Dict | None:
    """What `**rest` is whoever calls; None where that is not one constant."""
    if tree.args.kwarg is None or any(_open(call) for call in calls):
        return None
    named = {one.arg for one in _parameters(tree)}
    found = []
    for call in calls:
        words = [word for word in call.keywords if word.arg not in named]
        found.append(ast.Dict([ast.Constant(word.arg) for word in words], [word.value for word in words]))
    same = all(_same(one, found[0]) for one in found)
    return found[0] if same and is_constant(found[0], known) else None


def _number(node: ast.expr) -> bool:
    """Whether a constant is a number, or a row of numbers."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case ast.UnaryOp():
            return True
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return bool(parts) and all(_number(one) for one in parts)
    return False


def _same(one: ast.expr, other: ast.expr) -> bool:
    return ast.dump(one) == ast.dump(other)


def _open(call: ast.Call) -> bool:
    """Whether a call hands on keywords that are not written here."""
    return any(word.arg is None for word in call.keywords)


def _parameters(tree: Function) -> list[ast.arg]:
    return [*tree.args.args, *tree.args.kwonlyargs]


def _default(tree: Function, name: str) -> ast.expr | None:
    args, defaults = tree.args.args, tree.args.defaults
    for one, value in zip(args[len(args) - len(defaults) :], defaults, strict=True):
        if one.arg == name:
            return value
    for one, only in zip(tree.args.kwonlyargs, tree.args.kw_defaults, strict=True):
        if one.arg == name:
            return only
    return None


def _given(tree: Function, name: str, call: ast.Call) -> ast.expr | None:
    """What a call gives to a parameter; None where it leaves it at its default."""
    for word in call.keywords:
        if word.arg == name:
            return word.value
    places = [one.arg for one in tree.args.args]
    if name in places and places.index(name) < len(call.args):
        return call.args[places.index(name)]
    return None


def _bound_inside(tree: Function) -> set[str]:
    """The names that something in a function binds: variables, and parameters of functions in it."""
    found: set[str] = set()
    for part in tree.body:
        for node in ast.walk(part):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                found.add(node.id)
            elif isinstance(node, ast.arg):
                found.add(node.arg)
    return found


def _drop(tree: Function, names: Collection[str]) -> None:
    """Take parameters out of a signature."""
    args, defaults = tree.args.args, tree.args.defaults
    first = len(args) - len(defaults)
    kept = [(one, defaults[at - first] if at >= first else None) for at, one in enumerate(args)]
    kept = [(one, value) for one, value in kept if one.arg not in names]
    tree.args.args = [one for one, _ in kept]
    tree.args.defaults = [value for _, value in kept if value is not None]
    only = zip(tree.args.kwonlyargs, tree.args.kw_defaults, strict=True)
    left = [(one, value) for one, value in only if one.arg not in names]
    tree.args.kwonlyargs = [one for one, _ in left]
    tree.args.kw_defaults = [value for _, value in left]
